"""Tests of SavedModels as folders, on files without content."""

import os

import pytest
import tensorflow as tf

from bert_tf.formats import saved_model_folder


def make_module(folder, *assets):
    """Makes what looks like a SavedModel; returns its checkpoint's prefix."""
    for name in ("variables", "assets"):
        (folder / name).mkdir(parents=True)
    for name in (
        "saved_model.pb",
        "variables/variables.index",
        "variables/variables.data-00000-of-00001",
        *(f"assets/{asset}" for asset in assets),
    ):
        (folder / name).write_text("some bytes")
    return str(folder / "variables" / "variables")


def test_find_prefix(tmp_path):
    prefix = make_module(tmp_path / "module")
    assert saved_model_folder.find_prefix(str(tmp_path / "module")) == prefix
    assert saved_model_folder.find_prefix(str(tmp_path)) is None


@pytest.mark.parametrize(
    "lost", ["saved_model.pb", "variables/variables.index"]
)
def test_find_prefix_wants_graph_and_variables(tmp_path, lost):
    make_module(tmp_path / "module")
    (tmp_path / "module" / lost).unlink()
    assert saved_model_folder.find_prefix(str(tmp_path / "module")) is None


def test_assets_of(tmp_path, monkeypatch):
    prefix = make_module(tmp_path / "module")
    assets = str(tmp_path / "module" / "assets")
    assert saved_model_folder.assets_of(prefix) == assets
    assert saved_model_folder.assets_of(f"{prefix}2") is None
    assert saved_model_folder.assets_of(str(tmp_path / "model.ckpt")) is None
    monkeypatch.chdir(tmp_path / "module")
    assert saved_model_folder.assets_of("variables/variables") == "assets"


@pytest.mark.parametrize(
    ("assets", "found"),
    [
        (["my_vocab.tsv", "export.json"], "my_vocab.tsv"),
        (["vocab_a.txt", "vocab_b.txt"], None),
        (["pieces.txt"], None),
    ],
)
def test_find_vocabulary_takes_the_one_that_is_called_so(
    tmp_path, assets, found
):
    prefix = make_module(tmp_path, *assets)
    path = found and os.path.join(tmp_path, "assets", found)
    assert saved_model_folder.find_vocabulary(prefix) == path


def test_find_vocabulary_without_assets(tmp_path):
    prefix = make_module(tmp_path)
    (tmp_path / "assets").rmdir()
    assert saved_model_folder.find_vocabulary(prefix) is None
    assert saved_model_folder.find_vocabulary(str(tmp_path / "other")) is None


@pytest.mark.parametrize("value", [True, False])
def test_stored_lower_case(tmp_path, value):
    """As Model Garden has it: a variable of the module itself."""
    module = tf.Module()
    module.do_lower_case = tf.Variable(value, trainable=False)
    tf.saved_model.save(module, str(tmp_path))
    prefix = saved_model_folder.find_prefix(str(tmp_path))
    assert saved_model_folder.stored_lower_case(prefix) is value


def test_no_stored_lower_case(tmp_path):
    module = tf.Module()
    module.other = tf.Variable(1)
    tf.saved_model.save(module, str(tmp_path))
    prefix = saved_model_folder.find_prefix(str(tmp_path))
    assert saved_model_folder.stored_lower_case(prefix) is None
    other = str(tmp_path / "model.ckpt")
    assert saved_model_folder.stored_lower_case(other) is None
