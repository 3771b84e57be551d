"""Fixtures of all tests."""

import logging
import os
import pathlib
import subprocess
import sys

# Before any test imports TensorFlow: its start-up messages are not ours.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import pytest

TESTDATA = pathlib.Path(__file__).parent / "testdata"
SHARED = pathlib.Path(__file__).parents[2] / "shared"


@pytest.fixture(autouse=True)
def _restored_log_level():
    """Undoes what tf.saved_model.save does: it sets the level of absl's log."""
    logger = logging.getLogger("absl")
    level = logger.level
    yield
    logger.setLevel(level)


@pytest.fixture
def testdata():
    """The folder of small files written for these tests."""
    return TESTDATA


@pytest.fixture
def golden():
    """The folder of what the 2018 code gave, as far as it is copied here."""
    return TESTDATA / "golden"


@pytest.fixture
def shared_file():
    """Finds a file too large, or not free, to be copied here; else skips."""

    def find(path):
        if not (SHARED / path).exists():
            pytest.skip(f"{path} is not on this machine")
        return SHARED / path

    return find


@pytest.fixture
def run_script(tmp_path):
    """Runs a script of the project's folder in an empty one.

    Returns a function of the script's name and its words that gives the
    completed process. With `with_tensorflow=False` whoever imports TensorFlow
    fails, with a traceback.
    """

    def run(script, *words, with_tensorflow=True):
        environment = dict(os.environ)
        # Silence has to be the script's own doing.
        environment.pop("TF_CPP_MIN_LOG_LEVEL", None)
        if not with_tensorflow:
            (tmp_path / "forbidden").mkdir(exist_ok=True)
            (tmp_path / "forbidden" / "tensorflow.py").write_text("1 / 0")
            environment["PYTHONPATH"] = str(tmp_path / "forbidden")
        (tmp_path / "work").mkdir(exist_ok=True)
        return subprocess.run(
            [sys.executable, str(TESTDATA.parents[1] / script), *words],
            capture_output=True,
            text=True,
            cwd=tmp_path / "work",
            env=environment,
            check=False,
        )

    return run


@pytest.fixture
def read_records():
    """Gives a function of a TFRecord file that reads a list of dicts of lists.

    A dict has the features of a record, by name.
    """
    import tensorflow as tf

    def read(path):
        parsed = (
            tf.train.Example.FromString(record.numpy()).features.feature
            for record in tf.data.TFRecordDataset([str(path)])
        )
        return [
            {
                name: list(entry.int64_list.value or entry.float_list.value)
                for name, entry in entries.items()
            }
            for entries in parsed
        ]

    return read
