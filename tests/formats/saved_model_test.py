"""Tests of SavedModels; whole exports: serving/hub_encoder_test."""

import json
import os

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_hub

from bert_tf.checkpoints.checkpoint_io import CheckpointReader
from bert_tf.checkpoints.weight_reader import Stored
from bert_tf.errors import UserError
from bert_tf.formats import saved_model
from bert_tf.formats.object_graph import ObjectGraph
from bert_tf.formats.saved_model import SavedVariablesReader
from bert_tf.weights.loading import open_checkpoint

URL = "https://hub.example/bert/1"


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
    assert saved_model.find_prefix(str(tmp_path / "module")) == prefix
    assert saved_model.find_prefix(str(tmp_path)) is None


@pytest.mark.parametrize(
    "lost", ["saved_model.pb", "variables/variables.index"]
)
def test_find_prefix_wants_graph_and_variables(tmp_path, lost):
    make_module(tmp_path / "module")
    (tmp_path / "module" / lost).unlink()
    assert saved_model.find_prefix(str(tmp_path / "module")) is None


def test_assets_of(tmp_path, monkeypatch):
    prefix = make_module(tmp_path / "module")
    assets = str(tmp_path / "module" / "assets")
    assert saved_model.assets_of(prefix) == assets
    assert saved_model.assets_of(f"{prefix}2") is None
    assert saved_model.assets_of(str(tmp_path / "model.ckpt")) is None
    monkeypatch.chdir(tmp_path / "module")
    assert saved_model.assets_of("variables/variables") == "assets"


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
    assert saved_model.find_vocabulary(prefix) == path


def test_find_vocabulary_without_assets(tmp_path):
    prefix = make_module(tmp_path)
    (tmp_path / "assets").rmdir()
    assert saved_model.find_vocabulary(prefix) is None
    assert saved_model.find_vocabulary(str(tmp_path / "other")) is None


@pytest.mark.parametrize("value", [True, False])
def test_stored_lower_case(tmp_path, value):
    """As Model Garden has it: a variable of the module itself."""
    module = tf.Module()
    module.do_lower_case = tf.Variable(value, trainable=False)
    tf.saved_model.save(module, str(tmp_path))
    prefix = saved_model.find_prefix(str(tmp_path))
    assert saved_model.stored_lower_case(prefix) is value


def test_no_stored_lower_case(tmp_path):
    module = tf.Module()
    module.other = tf.Variable(1)
    tf.saved_model.save(module, str(tmp_path))
    prefix = saved_model.find_prefix(str(tmp_path))
    assert saved_model.stored_lower_case(prefix) is None
    other = str(tmp_path / "model.ckpt")
    assert saved_model.stored_lower_case(other) is None


@pytest.fixture
def module(tmp_path):
    """The folder (str) of a SavedModel with one variable, and another."""
    module = tf.Module()
    kernel = tf.Variable(np.arange(6, dtype=np.float32).reshape(2, 3))
    # Found first, it gives the variable its key in the file.
    module.all = [kernel]
    module.bert_variables = {"bert/pooler/dense/kernel": kernel}
    module.do_lower_case = tf.Variable(True)
    tf.saved_model.save(module, str(tmp_path))
    return str(tmp_path)


def test_variables_have_their_2018_names(module):
    reader = open_checkpoint(module)
    assert isinstance(reader, SavedVariablesReader)
    name = "bert/pooler/dense/kernel"
    assert reader.stored == {name: Stored("float32", (2, 3))}
    np.testing.assert_array_equal(reader.read(name), [[0, 1, 2], [3, 4, 5]])


def test_is_exported_tells_it_from_model_garden():
    graph = ObjectGraph()
    graph.make("encoder")
    assert not saved_model.is_exported(graph)
    graph.make("bert_variables")
    assert saved_model.is_exported(graph)


def test_a_variable_that_is_lost_is_told(module):
    graph = ObjectGraph()
    owner = graph.make("bert_variables")
    graph.set_variable(graph.add_child("bert/x", owner), "lost/key", "bert/x")
    checkpoint = CheckpointReader(f"{module}/variables/variables")
    with pytest.raises(UserError, match="lost/key, which is not in it"):
        SavedVariablesReader(checkpoint, graph)


@pytest.fixture
def encoder(tmp_path):
    """The folder (str) of what looks like a SavedModel."""
    folder = tmp_path / "module"
    for name in (
        "saved_model.pb",
        "variables/variables.index",
        "assets/vocab.txt",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("some bytes")
    return str(folder)


def describe(encoder, kind):
    with open(f"{encoder}/assets/export.json", "w", encoding="utf-8") as stream:
        json.dump({"kind": kind}, stream)


def test_one_of_two_flags(encoder):
    choose = saved_model.choose_init_checkpoint
    assert choose(None, None) is None
    assert choose("model.ckpt", None) == "model.ckpt"
    assert choose(None, encoder) == encoder
    describe(encoder, "encoder")
    assert choose(None, encoder) == encoder


def test_both_flags_are_refused(encoder):
    with pytest.raises(UserError, match="give one of them"):
        saved_model.choose_init_checkpoint("model.ckpt", encoder)


def test_no_saved_model_is_refused(tmp_path):
    with pytest.raises(UserError, match="is no SavedModel of an encoder"):
        saved_model.choose_init_checkpoint(None, str(tmp_path))


def test_another_kind_is_refused(encoder):
    describe(encoder, "preprocessor")
    with pytest.raises(UserError, match="of the kind 'preprocessor'"):
        saved_model.choose_init_checkpoint(None, encoder)


def test_a_url_is_fetched(encoder, monkeypatch):
    monkeypatch.setattr(tensorflow_hub, "resolve", {URL: encoder}.get)
    assert saved_model.choose_init_checkpoint(None, URL) == encoder


def test_a_url_that_cannot_be_fetched(monkeypatch):
    def resolve(handle):
        raise OSError(f"no route to {handle}")

    monkeypatch.setattr(tensorflow_hub, "resolve", resolve)
    with pytest.raises(UserError, match="cannot be fetched: no route to http"):
        saved_model.choose_init_checkpoint(None, URL)
