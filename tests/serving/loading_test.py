"""Tests of bert_tf.serving.loading; predictor_test.py has it succeed."""

import shutil

import pytest

from bert_tf.errors import UserError
from bert_tf.serving import loading


@pytest.fixture
def folder(golden, tmp_path):
    """2018's classifier, its configuration and vocabulary; no labels."""
    tasks = golden / "tasks"
    for name in ("bert_config.json", "vocab.txt"):
        shutil.copy(tasks / name, tmp_path)
    for path in (tasks / "classifier").glob("two_labels.ckpt*"):
        shutil.copy(path, tmp_path)
    return tmp_path


def test_open_served_wants_the_labels(folder):
    path = str(folder / "two_labels.ckpt")
    with pytest.raises(UserError, match=r"there is no labels\.txt"):
        loading.open_served("classifier", path)


def test_open_served_wants_the_head(folder):
    path = str(folder / "two_labels.ckpt")
    with pytest.raises(UserError, match="lacks cls/predictions"):
        loading.open_served("masked_lm", path)


def test_open_served_wants_a_length_that_the_model_has(folder):
    path = str(folder / "two_labels.ckpt")
    with pytest.raises(UserError, match="--max_seq_length=9999 is larger"):
        loading.open_served("masked_lm", path, max_seq_length=9999)


def test_open_served_wants_a_known_kind(folder):
    with pytest.raises(UserError, match="there are classifier"):
        loading.open_served("parser", str(folder))


@pytest.mark.parametrize("max_seq_length", [-3, 0, 2])
def test_open_served_wants_room(folder, max_seq_length):
    path = str(folder / "two_labels.ckpt")
    with pytest.raises(UserError, match="leaves no room for text"):
        loading.open_served("encoder", path, max_seq_length=max_seq_length)
