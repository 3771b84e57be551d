"""The script: the 2018 runs, what it says, and how it fails."""

import functools
import json
import shutil

import numpy as np
import pytest
import tensorflow as tf


@pytest.fixture
def run(run_script):
    """Runs the script; returns the completed process."""
    return functools.partial(run_script, "run_pretraining.py")


@pytest.fixture
def words(golden, tmp_path):
    """Makes the golden training run's flags, with some replaced or dropped."""
    folder = golden / "run_pretraining"
    recorded = json.loads((folder / "flags.json").read_text())["train"]
    del recorded["result"]

    def make(**changes):
        values = {
            **recorded,
            "input_file": folder / recorded["input_file"],
            "bert_config_file": folder / "bert_config.json",
            "init_checkpoint": folder / "bert_model.ckpt",
            "output_dir": tmp_path / "out",
            "do_train": "true",
            **changes,
        }
        return [f"--{k}={v}" for k, v in values.items() if v is not None]

    return make


def assert_same_checkpoint(path, golden_path):
    ours = tf.train.load_checkpoint(str(path))
    theirs = tf.train.load_checkpoint(str(golden_path))
    shapes = theirs.get_variable_to_shape_map()
    assert ours.get_variable_to_shape_map() == shapes
    dtypes = theirs.get_variable_to_dtype_map()
    assert ours.get_variable_to_dtype_map() == dtypes
    for name in shapes:
        # 1e-4: the contract's; float32 rounding adds up over the steps.
        np.testing.assert_allclose(
            ours.get_tensor(name),
            theirs.get_tensor(name),
            rtol=0,
            atol=1e-4,
            err_msg=name,
        )


@pytest.mark.slow
def test_the_2018_run_is_reproduced(run, words, golden, tmp_path):
    result = run(*words())
    assert result.returncode == 0, result.stderr
    for step in (4, 12):
        assert_same_checkpoint(
            tmp_path / "out" / f"model.ckpt-{step}",
            golden / "run_pretraining" / f"model.ckpt-{step}",
        )
    # Nothing but our lines: each begins with the time.
    for line in result.stderr.splitlines():
        assert line[2] == line[5] == ":", line
    assert "62 variables" in result.stderr
    assert "step 12/12 | loss" in result.stderr
    assert result.stdout == ""

    # The same command again: nothing to do, and it says so (F37).
    again = run(*words())
    assert again.returncode == 1
    assert (
        "is at step 12 and --num_train_steps ends the run at step 12"
        in again.stderr
    )
    assert "Traceback" not in again.stderr


@pytest.mark.slow
def test_a_2018_run_is_continued(run, words, golden, tmp_path):
    (tmp_path / "out").mkdir()
    for path in (golden / "run_pretraining").glob("model.ckpt-4.*"):
        shutil.copy(path, tmp_path / "out")
    (tmp_path / "out" / "checkpoint").write_text(
        'model_checkpoint_path: "model.ckpt-4"\n'
        'all_model_checkpoint_paths: "model.ckpt-4"\n'
    )
    result = run(*words(keep_checkpoint_max=2))
    assert result.returncode == 0, result.stderr
    assert_same_checkpoint(
        tmp_path / "out" / "model.ckpt-12",
        golden / "run_pretraining" / "model.ckpt-12",
    )
    left = {path.name for path in (tmp_path / "out").glob("*.index")}
    assert left == {"model.ckpt-8.index", "model.ckpt-12.index"}


@pytest.mark.slow
def test_the_2018_evaluation_is_reproduced(run, words, golden, tmp_path):
    folder = golden / "run_pretraining"
    result = run(
        *words(
            do_train=None,
            do_eval="true",
            input_file=folder / "all_instances.tfrecord",
            eval_batch_size=5,
            max_eval_steps=1,
            # The suffix is understood (F39).
            init_checkpoint=folder / "bert_model.ckpt.index",
        )
    )
    assert result.returncode == 0, result.stderr
    ours = read_results(tmp_path / "out" / "eval_results.txt")
    theirs = read_results(folder / "eval_results.txt")
    assert list(ours) == list(theirs)
    for key, value in theirs.items():
        # 1e-4: the contract's.
        assert ours[key] == pytest.approx(value, abs=1e-4), key


def read_results(path):
    lines = path.read_text().splitlines()
    pairs = (line.split(" = ") for line in lines)
    return {key: float(value) for key, value in pairs}


def test_help_needs_no_tensorflow(run):
    result = run("--help", with_tensorflow=False)
    assert "--num_warmup_steps" in result.stdout
    assert "default: '10000'" in result.stdout


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"do_train": None}, "Give at least one of --do_train, --do_eval"),
        ({"do_export": "true"}, "--do_export needs --export_dir"),
        (
            {"do_export": "true", "export_dir": "out"},
            "--vocab_file must be given",
        ),
        ({"vocab_file": "v.txt"}, "--vocab_file does nothing without"),
        ({"bert_config_file": "no.json"}, "--bert_config_file=no.json: there"),
        ({"input_file": "no*.tfrecord"}, "--input_file: no file matches 'no*"),
        ({"init_checkpoint": "no/b.ckpt"}, "--init_checkpoint=no/b.ckpt"),
        ({"max_seq_length": 25}, "--max_seq_length=25 is larger than"),
        ({"use_tpu": "true"}, "--use_tpu needs --tpu_name"),
        ({"num_train_steps": 0}, "num_train_steps"),
        ({"learning_rate": -1}, "learning_rate"),
        ({"learning_rate": "nan"}, "--learning_rate=nan: It must be a fini"),
        ({"output_dir": None}, "--output_dir must have a value"),
        ({"seed": "x"}, "flag --seed=x"),
        ({"do_trian": "true"}, "Unknown command line flag 'do_trian'"),
    ],
)
def test_a_wrong_flag_is_told_before_tensorflow_starts(
    run, words, changes, message
):
    result = run(*words(**changes), with_tensorflow=False)
    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_left_over_words_are_an_error(run, words):
    result = run(*words(), "--do_eval", "True", "\\", with_tensorflow=False)
    assert result.returncode == 1
    assert "belong to no flag: 'True' '\\\\'" in result.stderr


@pytest.mark.slow
def test_what_only_the_files_tell_ends_without_a_traceback(
    run, words, golden, tmp_path
):
    # Records of another length (F31).
    result = run(*words(max_seq_length=16))
    assert result.returncode == 1
    assert "20 entries, but --max_seq_length is 16" in result.stderr
    # A model of another size (F41).
    config = json.loads(
        (golden / "run_pretraining" / "bert_config.json").read_text()
    )
    (tmp_path / "wide.json").write_text(
        json.dumps({**config, "hidden_size": 36})
    )
    result = run(*words(bert_config_file=tmp_path / "wide.json"))
    assert result.returncode == 1
    assert "float32 [24, 32] in the file" in result.stderr
    assert "float32 [24, 36] here" in result.stderr
    assert "Traceback" not in result.stderr
    assert not list((tmp_path / "out").glob("model.ckpt*"))
