"""Tests of the script: what a user types, and what is then on the disk."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from bert_tf.serving.predictor import Predictor

# Of fewer pieces than the vocabulary of the tests has.
TINY = str(
    Path(__file__).parent / "testdata/golden/model/gelu/bert_config.json"
)
TINY_TABLE = "text\tlabel\nthe cat\tyes\na dog\tno\nthe dog\tno\na cat\tyes\n"


@pytest.fixture
def run(run_script):
    def run(*words, **options):
        return run_script("run_classifier.py", *words, **options)

    return run


@pytest.fixture
def words(golden, tmp_path):
    """Gives the words of 2018's run on a golden task; changes by name."""
    tasks = golden / "tasks"

    def words(task="MRPC", checkpoint="two_labels.ckpt", **changes):
        values = {
            "task_name": task,
            "data_dir": tasks / "classifier" / task,
            "vocab_file": tasks / "vocab.txt",
            "bert_config_file": tasks / "bert_config.json",
            "init_checkpoint": tasks / "classifier" / checkpoint,
            "max_seq_length": 40,
            "output_dir": tmp_path / "out",
            **changes,
        }
        return [f"--{k}={v}" for k, v in values.items() if v is not None]

    return words


@pytest.fixture
def table(golden, tmp_path):
    """Makes the folder of a table of one's own; gives its flags."""

    def make(text=TINY_TABLE, **changes):
        folder = tmp_path / "table"
        folder.mkdir()
        for name in ("train", "dev"):
            (folder / f"{name}.tsv").write_text(text)
        (folder / "test.tsv").write_text("text\nthe cat\na dog\none\n")
        values = {
            "task_name": "tsv",
            "data_dir": folder,
            "text_a_column": "text",
            "label_column": "label",
            "vocab_file": golden / "tasks" / "vocab.txt",
            "bert_config_file": golden / "tasks" / "bert_config.json",
            "max_seq_length": 16,
            "train_batch_size": 2,
            "output_dir": tmp_path / "out",
            "seed": 1,
            **changes,
        }
        return [f"--{k}={v}" for k, v in values.items() if v is not None]

    return make


def results_of(folder):
    lines = (folder / "eval_results.txt").read_text().splitlines()
    return {k: float(v) for k, v in (line.split(" = ") for line in lines)}


@pytest.mark.slow
def test_2018_s_evaluation_and_predictions(run, words, golden, tmp_path):
    result = run(*words(), "--do_eval=true", "--do_predict=true")
    assert result.returncode == 0, result.stderr
    folder = golden / "tasks" / "classifier" / "MRPC"
    results, expected = results_of(tmp_path / "out"), results_of(folder)
    assert results.keys() - expected.keys() == {"f1"}
    for key, value in expected.items():
        assert results[key] == pytest.approx(value, abs=1e-5), key
    np.testing.assert_allclose(
        np.loadtxt(tmp_path / "out" / "test_results.tsv"),
        np.loadtxt(folder / "test_results.tsv"),
        atol=1e-5,
    )
    assert "Columns of the predictions: 0, 1." in result.stderr
    for line in result.stderr.splitlines():
        assert line[2] == line[5] == ":", f"not a line of ours: {line}"


@pytest.mark.slow
def test_a_table_from_training_to_predictions(run, table, tmp_path):
    flags = table(eval_steps=2, early_stopping_patience=5)
    result = run(*flags, "--do_train", "--do_eval", "--num_train_epochs=3")
    assert result.returncode == 0, result.stderr
    out = tmp_path / "out"
    assert (out / "labels.txt").read_text() == "no\nyes\n"
    assert (out / "model.ckpt-6.index").exists()
    assert "Weights: the best ones" in result.stderr
    # The folder alone is enough for another one to predict, without labels.
    flags = [f for f in flags if not f.startswith(SAID_BY_THE_FOLDER)]
    result = run(
        *flags,
        f"--init_checkpoint={out / 'best'}",
        f"--output_dir={tmp_path / 'predictions'}",
        "--do_predict",
        "--predictions_with_labels",
    )
    assert result.returncode == 0, result.stderr
    rows = (tmp_path / "predictions" / "test_predictions.tsv").read_text()
    assert rows.startswith("id\tprediction\tno\tyes\n0\t")
    assert len(rows.splitlines()) == 4


SAID_BY_THE_FOLDER = (
    "--vocab_file",
    "--bert_config_file",
    "--label_column",
    "--output_dir",
    "--eval_steps",
    "--early_stopping",
)


@pytest.mark.slow
def test_a_finished_run_says_how_to_go_on(run, table):
    flags = [*table(), "--do_train"]
    assert run(*flags, "--num_train_epochs=1").returncode == 0
    again = run(*flags, "--num_train_epochs=1")
    assert again.returncode == 1
    assert "Raise it to go on" in again.stderr
    assert "--num_train_epochs ends the run at step 2" in again.stderr
    more = run(*flags, "--num_train_epochs=2")
    assert more.returncode == 0
    assert "Training goes on after step 2." in more.stderr


@pytest.mark.parametrize(
    ("changes", "more", "message"),
    [
        ({}, [], "Give at least one of --do_train, --do_eval"),
        ({"task_name": "MRCP"}, ["--do_eval"], "Did you mean MRPC?"),
        ({"data_dir": "no"}, ["--do_eval"], "--data_dir=no"),
        ({"max_seq_length": 99}, ["--do_eval"], "`max_position_embeddings`"),
        ({"max_seq_length": 2}, ["--do_eval"], "--max_seq_length=2"),
        ({"vocab_file": None}, ["--do_eval"], "--vocab_file must be given"),
        ({"init_checkpoint": "no"}, ["--do_eval"], "--init_checkpoint=no"),
        ({"learning_rate": "nan"}, ["--do_train"], "learning_rate"),
        ({"eval_steps": 3}, ["--do_eval"], "--eval_steps does nothing without"),
        ({"train_batch_size": 999}, ["--do_train"], "do not make one step"),
        ({"task_name": "XNLI"}, ["--do_predict"], "xnli.test.tsv"),
        ({}, ["--do_export"], "--do_export needs --export_dir"),
        ({"export_dir": "x"}, ["--do_eval"], "--export_dir does nothing"),
        (
            {"bert_config_file": TINY, "max_seq_length": 20},
            ["--do_eval"],
            "no embedding for the rest",
        ),
        ({"regression": "true"}, ["--do_eval"], "--regression is for"),
        ({"labels": "0,1"}, ["--do_eval"], "--labels is for --task_name=tsv"),
        ({"xnli_language": "zh"}, ["--do_eval"], "--xnli_language is for"),
        ({"text_a_column": None, "task_name": "tsv"}, ["--do_eval"], "needs"),
        ({}, ["--do_eval", "True"], "these words belong to no flag: 'True'"),
    ],
)
def test_wrong_flags_are_told_before_tensorflow(
    run, words, changes, more, message
):
    result = run(*words(**changes), *more, with_tensorflow=False)
    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TINY_TABLE + "\nthe end\tyes\n", "line 6"),
        (TINY_TABLE + "the end\n", "line 6"),
        (TINY_TABLE + "the end\tmaybe\n", "line 6"),
        ("", "train.tsv"),
        ("text\tlabel\n", "train.tsv"),
        (TINY_TABLE.replace("text", "words"), "--text_a_column=text"),
    ],
    ids=["blank", "short", "unknown", "empty", "header alone", "no column"],
)
def test_a_wrong_line_is_told_before_tensorflow(run, table, text, message):
    flags = [*table(text, labels="no,yes"), "--do_train"]
    result = run(*flags, with_tensorflow=False)
    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_other_labels_than_the_folder_s_are_refused(run, table, tmp_path):
    flags = [*table(labels="yes,no"), "--do_train"]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "labels.txt").write_text("no\nyes\n")
    result = run(*flags, with_tensorflow=False)
    assert result.returncode == 1
    assert "knows them by their order" in result.stderr


def test_several_processes_write_the_same_records(run, table, tmp_path):
    # Each imports the script, which must do nothing then.
    flags = [*table(), "--do_train", "--num_train_epochs=1"]
    assert run(*flags).returncode == 0
    path = tmp_path / "out" / "train.tf_record"
    alone = path.read_bytes()
    shutil.rmtree(tmp_path / "out")
    result = run(*flags, "--conversion_processes=2")
    assert result.returncode == 0, result.stderr
    assert path.read_bytes() == alone


@pytest.mark.slow
def test_a_refused_run_leaves_the_folder_as_it_is(run, table, tmp_path):
    flags = [*table(regression="true"), "--do_train", "--num_train_epochs=1"]
    # Numbers for labels: their folder must be good for a second command too.
    for name in ("train", "dev"):
        path = tmp_path / "table" / f"{name}.tsv"
        path.write_text("text\tlabel\nthe cat\t1.5\na dog\t0\n")
    assert run(*flags).returncode == 0
    out = tmp_path / "out"
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    again = run(*flags, "--max_seq_length=8")
    assert again.returncode == 1
    assert "there is nothing to train" in again.stderr
    other = tmp_path / "other.txt"
    pieces = (out / "vocab.txt").read_text().splitlines()
    other.write_text("\n".join([*pieces[:-2], pieces[-1], pieces[-2]]) + "\n")
    more = run(*flags, "--num_train_epochs=2", f"--vocab_file={other}")
    assert more.returncode == 1
    assert "is not the vocabulary that the model was trained" in more.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    predicted = run(
        *(flag for flag in flags if flag != "--do_train"), "--do_predict"
    )
    assert predicted.returncode == 0, predicted.stderr
    assert len((out / "test_results.tsv").read_text().splitlines()) == 3


def test_another_task_is_not_trained_in_the_folder_of_one(run, words, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "task.txt").write_text("RTE\n")
    result = run(*words(), "--do_train", with_tensorflow=False)
    assert result.returncode == 1
    assert "was trained on RTE, and --task_name=MRPC" in result.stderr


@pytest.mark.slow
def test_labels_of_the_weights_are_those_of_the_task(run, table, tmp_path):
    flags = table()
    assert run(*flags, "--do_train", "--num_train_epochs=1").returncode == 0
    flags = [*flags, f"--init_checkpoint={tmp_path / 'out'}"]
    flags = [*flags, f"--output_dir={tmp_path / 'new'}", "--do_eval"]
    swapped = run(*flags, "--labels=yes,no", with_tensorflow=False)
    assert swapped.returncode == 1
    assert "knows them by their order" in swapped.stderr
    several = run(*flags, "--multi_label", with_tensorflow=False)
    assert several.returncode == 1
    assert "was trained for classification" in several.stderr


@pytest.mark.slow
def test_do_export_exports_what_was_trained(run, table, tmp_path):
    """A table of single texts; the export gives what --do_predict wrote."""
    out, exports = tmp_path / "out", tmp_path / "exports"
    flags = table(output_dir=out, max_seq_length=16, seed=1)
    switches = ["--do_train", "--do_predict", "--do_export"]
    result = run(*flags, *switches, f"--export_dir={exports}")
    assert result.returncode == 0, result.stderr
    last = result.stderr.splitlines()[-1]
    assert last.endswith(f"Exported to {exports / '1'}.")
    predictor = Predictor.from_export(str(exports))
    found = predictor.predict(["the cat", "a dog", "one"])
    # float32, batched in another way.
    np.testing.assert_allclose(
        [list(prediction.probabilities.values()) for prediction in found],
        np.loadtxt(out / "test_results.tsv"),
        atol=1e-5,
    )
