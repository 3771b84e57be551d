"""Tests of the script: what a user types, and what is then on the disk."""

import gzip
import json
import shutil

import numpy as np
import pytest

# What each golden case says beside --version_2_with_negative.
CASES = {
    "v1": {"doc_stride": 16},
    "v1_short": {"doc_stride": 7, "max_answer_length": 3, "n_best_size": 5},
    "v2": {"doc_stride": 16},
    "v2_short": {"doc_stride": 7, "max_answer_length": 6},
    "v2_thresh": {"doc_stride": 16, "null_score_diff_threshold": -2.5},
}
FILES = ("predictions", "nbest_predictions", "null_odds")


@pytest.fixture
def run(run_script):
    def run(*words, **options):
        return run_script("run_squad.py", *words, **options)

    return run


@pytest.fixture
def words(golden, tmp_path):
    """Gives the words of 2018's run on a golden file; changes by name."""
    tasks = golden / "tasks"

    def words(version="v1", **changes):
        values = {
            "predict_file": tasks / "squad" / f"dev-{version}.json",
            "vocab_file": tasks / "vocab.txt",
            "bert_config_file": tasks / "bert_config.json",
            "init_checkpoint": tasks / "squad" / "squad.ckpt",
            "max_seq_length": 48,
            "max_query_length": 12,
            "version_2_with_negative": version == "v2",
            "output_dir": tmp_path / "out",
            **changes,
        }
        return [f"--{k}={v}" for k, v in values.items() if v is not None]

    return words


def results_of(folder):
    lines = (folder / "eval_results.txt").read_text().splitlines()
    return {k: float(v) for k, v in (line.split(" = ") for line in lines)}


def assert_alike(made, expected):
    """Texts, keys and their order are equal; numbers to 1e-4, as logits are."""
    assert type(made) is type(expected)
    if isinstance(expected, dict):
        assert list(made) == list(expected)
        made, expected = list(made.values()), list(expected.values())
    if isinstance(expected, list):
        assert len(made) == len(expected)
        for one, other in zip(made, expected):
            assert_alike(one, other)
    elif isinstance(expected, float):
        assert made == pytest.approx(expected, abs=1e-4)
    else:
        assert made == expected


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_2018_s_answers(run, words, golden, tmp_path, case):
    result = run(*words(case[:2], **CASES[case]), "--do_predict=True")
    assert result.returncode == 0, result.stderr
    for name in FILES:
        path = golden / "tasks" / "squad" / f"{case}.{name}.json.gz"
        made = tmp_path / "out" / f"{name}.json"
        assert made.exists() == path.exists()
        if path.exists():
            expected = json.loads(gzip.decompress(path.read_bytes()))
            assert_alike(json.loads(made.read_text()), expected)
    for line in result.stderr.splitlines():
        assert line[2] == line[5] == ":", f"not a line of ours: {line}"


@pytest.mark.slow
def test_from_training_to_answers(run, words, golden, tmp_path):
    flags = words(
        "v2",
        train_file=golden / "tasks" / "squad" / "train-v2.json",
        init_checkpoint=None,
        train_batch_size=4,
        num_train_epochs=2,
        eval_steps=4,
        null_score_diff_threshold="auto",
        seed=1,
    )
    result = run(
        *flags, "--do_train", "--do_predict", "--output_answer_offsets"
    )
    assert result.returncode == 0, result.stderr
    out = tmp_path / "out"
    # 18 examples, 4 at a time, twice.
    assert (out / "model.ckpt-9.index").exists()
    assert "Weights: the best ones" in result.stderr
    results = results_of(out)
    assert results["f1"] == pytest.approx(results["best_f1"])
    answers = json.loads((out / "answers.json").read_text())
    predictions = json.loads((out / "predictions.json").read_text())
    assert {k: a["text"] for k, a in answers.items()} == predictions
    # The folder alone is enough for another one to predict.
    said_by_the_folder = ("--vocab_file", "--bert_config", "--init", "--output")
    flags = [f for f in flags if not f.startswith(said_by_the_folder)]
    again = tmp_path / "again"
    result = run(
        *[f for f in flags if not f.startswith(("--train_file", "--eval_s"))],
        f"--init_checkpoint={out / 'best'}",
        f"--output_dir={again}",
        "--do_predict",
    )
    assert result.returncode == 0, result.stderr
    assert (again / "predictions.json").read_bytes() == (
        out / "predictions.json"
    ).read_bytes()


@pytest.mark.slow
def test_a_run_goes_on_from_its_checkpoint(run, words, golden, tmp_path):
    flags = words(
        train_file=golden / "tasks" / "squad" / "train-v1.json",
        train_batch_size=4,
        save_checkpoints_steps=2,
        seed=3,
    )
    result = run(*flags, "--do_train", "--num_train_epochs=1")
    assert result.returncode == 0, result.stderr
    assert "q1-011: its answer" in result.stderr
    result = run(*flags, "--do_train", "--num_train_epochs=1")
    assert result.returncode == 1
    assert "--num_train_epochs" in result.stderr
    result = run(*flags, "--do_train", "--num_train_epochs=2")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "out" / "model.ckpt-10.index").exists()


def write_squad(path, *qas, context="the river"):
    paragraph = {"context": context, "qas": list(qas)}
    path.write_text(json.dumps({"data": [{"paragraphs": [paragraph]}]}))
    return path


def question(qas_id, *texts):
    answers = [{"text": text, "answer_start": 0} for text in texts]
    return {"id": qas_id, "question": "what", "answers": answers}


@pytest.mark.slow
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_context_without_a_word(run, words, tmp_path, version):
    # F81: 2018 crashed on version 2.
    path = write_squad(
        tmp_path / "blank.json", question("q", "river"), context=" "
    )
    result = run(*words(version, predict_file=path), "--do_predict")
    assert result.returncode == 0, result.stderr
    predictions = json.loads((tmp_path / "out/predictions.json").read_text())
    assert predictions == {"q": "empty" if version == "v1" else ""}


def test_predictions_are_scored_without_a_model(run, tmp_path):
    path = write_squad(
        tmp_path / "dev.json", question("a", "the river"), question("b", "cat")
    )
    (tmp_path / "predictions.json").write_text('{"a": "River.", "b": "a dog"}')
    result = run(
        "--do_eval",
        f"--predict_file={path}",
        f"--predictions_file={tmp_path / 'predictions.json'}",
    )
    assert result.returncode == 0, result.stderr
    assert results_of(tmp_path) == {"exact_match": 50.0, "f1": 50.0}


def test_google_s_predictions_get_google_s_scores(run, shared_file, tmp_path):
    for name in ("dev-v1.1", "predictions-v1.1-BERT-ensemble-Google"):
        packed = shared_file(f"data/squad/{name}.json.gz")
        with (
            gzip.open(packed) as source,
            open(tmp_path / f"{name}.json", "wb") as target,
        ):
            shutil.copyfileobj(source, target)
    result = run(
        "--do_eval",
        f"--predict_file={tmp_path / 'dev-v1.1.json'}",
        f"--predictions_file={tmp_path / name}.json",
        f"--output_dir={tmp_path / 'out'}",
    )
    assert result.returncode == 0, result.stderr
    results = results_of(tmp_path / "out")
    # As data/squad/SOURCE.txt has them, to its four decimals.
    np.testing.assert_allclose(
        [results["exact_match"], results["f1"]], [86.2062, 92.1956], atol=5e-5
    )


@pytest.mark.parametrize(
    ("changes", "more", "message"),
    [
        (
            {},
            [],
            "at least one of --do_train, --do_predict, --do_eval and --do_exp",
        ),
        ({"predict_file": None}, ["--do_predict"], "needs --predict_file"),
        ({}, ["--do_train"], "--do_train needs --train_file"),
        ({"output_dir": None}, ["--do_predict"], "needs --output_dir"),
        ({"output_dir": None}, ["--do_eval"], "needs --output_dir"),
        (
            {"max_query_length": 45},
            ["--do_predict"],
            "--max_seq_length=48 leaves no room for the context",
        ),
        ({"doc_stride": 0}, ["--do_predict"], "doc_stride"),
        ({"max_seq_length": 65}, ["--do_predict"], "max_position_embeddings"),
        (
            {"null_score_diff_threshold": "auto"},
            ["--do_predict"],
            "--null_score_diff_threshold=auto.*--version_2_with_negative",
        ),
        (
            {"null_score_diff_threshold": "high"},
            ["--do_predict"],
            "--null_score_diff_threshold=high",
        ),
        (
            {"null_score_diff_threshold": "nan"},
            ["--do_predict"],
            "--null_score_diff_threshold=nan",
        ),
        (
            {"predictions_file": "p.json"},
            ["--do_predict"],
            "--predictions_file does nothing without --do_eval",
        ),
        (
            {"predictions_file": "p.json"},
            ["--do_predict", "--do_eval"],
            "without a model: drop --do_predict",
        ),
        ({"eval_steps": 2}, ["--do_predict"], "nothing without --do_train"),
        ({}, ["--do_export"], "--do_export needs --export_dir"),
        (
            {
                "export_dir": "x",
                "null_score_diff_threshold": "auto",
                "version_2_with_negative": True,
            },
            ["--do_export"],
            "=auto with --do_export needs --do_predict",
        ),
    ],
)
def test_wrong_flags_are_told_before_tensorflow_starts(
    run, words, changes, more, message
):
    import re

    result = run(*words(**changes), *more, with_tensorflow=False)
    assert result.returncode == 1
    assert re.search(message, result.stderr), result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("more", ["--do_eval", "--eval_steps=2"])
def test_scores_need_answers(run, words, golden, tmp_path, more):
    path = write_squad(tmp_path / "test.json", {"id": "q", "question": "what"})
    flags = words(
        predict_file=path,
        train_file=golden / "tasks" / "squad" / "train-v1.json",
    )
    result = run(*flags, "--do_train", more, with_tensorflow=False)
    assert result.returncode == 1
    assert "needs answers to compare with" in result.stderr


def test_a_checkpoint_without_the_head_cannot_predict(run, words, golden):
    checkpoint = golden / "tasks" / "classifier" / "two_labels.ckpt"
    result = run(*words(init_checkpoint=checkpoint), "--do_predict")
    assert result.returncode == 1
    assert "cls/squad" in result.stderr
    assert str(checkpoint) in result.stderr
