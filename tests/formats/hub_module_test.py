"""Tests of --bert_hub_module_handle. No TensorFlow needed, but for a URL."""

import json

import pytest
import tensorflow_hub

from bert_tf.errors import UserError
from bert_tf.formats import hub_module

URL = "https://hub.example/bert/1"


@pytest.fixture
def module(tmp_path):
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


def describe(module, kind):
    with open(f"{module}/assets/export.json", "w", encoding="utf-8") as stream:
        json.dump({"kind": kind}, stream)


def test_one_of_two_flags(module):
    choose = hub_module.choose_init_checkpoint
    assert choose(None, None) is None
    assert choose("model.ckpt", None) == "model.ckpt"
    assert choose(None, module) == module
    describe(module, "encoder")
    assert choose(None, module) == module


def test_both_flags_are_refused(module):
    with pytest.raises(UserError, match="give one of them"):
        hub_module.choose_init_checkpoint("model.ckpt", module)


def test_no_saved_model_is_refused(tmp_path):
    with pytest.raises(UserError, match="is no SavedModel of an encoder"):
        hub_module.choose_init_checkpoint(None, str(tmp_path))


def test_another_kind_is_refused(module):
    describe(module, "preprocessor")
    with pytest.raises(UserError, match="of the kind 'preprocessor'"):
        hub_module.choose_init_checkpoint(None, module)


def test_a_url_is_fetched(module, monkeypatch):
    monkeypatch.setattr(tensorflow_hub, "resolve", {URL: module}.get)
    assert hub_module.choose_init_checkpoint(None, URL) == module


def test_a_url_that_cannot_be_fetched(monkeypatch):
    def resolve(handle):
        raise OSError(f"no route to {handle}")

    monkeypatch.setattr(tensorflow_hub, "resolve", resolve)
    with pytest.raises(UserError, match="cannot be fetched: no route to http"):
        hub_module.choose_init_checkpoint(None, URL)
