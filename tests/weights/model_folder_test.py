"""Tests of what lies beside weights: bert_tf.weights.model_folder."""

import json
import logging

import pytest
import tensorflow as tf

from bert_tf.checkpoints import checkpoint_io
from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.weights import model_folder

DATA = ".data-00000-of-00001"


def make_checkpoint(folder, name):
    folder.mkdir(exist_ok=True)
    for suffix in (".index", DATA):
        (folder / f"{name}{suffix}").write_text("some bytes")
    return str(folder / name)


def make_hugging_face(folder, name="model.safetensors", **config):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("some bytes")
    (folder / "config.json").write_text(
        json.dumps({"model_type": "bert", "hidden_act": "gelu", **config})
    )
    return str(folder / name)


# What lies beside them.


def make_release(folder, **values):
    prefix = make_checkpoint(folder, "bert_model.ckpt")
    config = BertConfig(vocab_size=61, **values)
    (folder / "bert_config.json").write_text(config.to_json_string())
    (folder / "vocab.txt").write_text("[PAD]\n")
    return prefix, config


def test_configuration_and_vocabulary_are_taken_from_beside(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    prefix, config = make_release(tmp_path)
    path = str(tmp_path / "bert_config.json")
    assert model_folder.choose_config(None, prefix) == (config, path)
    assert f"--bert_config_file is not given; {path} is used" in caplog.text
    path = str(tmp_path / "vocab.txt")
    assert model_folder.choose_vocabulary(None, prefix) == path
    assert f"--vocab_file is not given; {path} is used" in caplog.text


def test_the_flags_come_first(tmp_path, caplog):
    prefix, _ = make_release(tmp_path / "beside")
    (tmp_path / "given").mkdir()
    _, config = make_release(tmp_path / "given", num_attention_heads=6)
    given = str(tmp_path / "given" / "bert_config.json")
    assert model_folder.choose_config(given, prefix) == (config, given)
    assert "num_attention_heads 6 (there 12)" in caplog.text
    vocabulary = str(tmp_path / "given" / "vocab.txt")
    assert model_folder.choose_vocabulary(vocabulary, prefix) == vocabulary


def test_the_same_file_is_not_warned_of(tmp_path, caplog):
    prefix, _ = make_release(tmp_path, num_attention_heads=6)
    model_folder.choose_config(str(tmp_path / "bert_config.json"), prefix)
    assert caplog.text == ""


def test_a_hugging_face_folder_has_its_own_configuration(tmp_path):
    path = make_hugging_face(tmp_path)
    config, config_file = model_folder.choose_config(None, path)
    assert config.hidden_act == "gelu_erf"
    assert config_file == str(tmp_path / "config.json")


def test_a_2018_checkpoint_takes_no_hugging_face_configuration(tmp_path):
    # Its "gelu" is another function than that of the weights.
    make_hugging_face(tmp_path)
    prefix = make_checkpoint(tmp_path, "bert_model.ckpt")
    with pytest.raises(UserError, match="--bert_config_file must be given"):
        model_folder.choose_config(None, prefix)


@pytest.mark.parametrize(
    ("name", "contents", "activation"),
    [
        ("bert_config.json", {}, "gelu"),
        ("bert_config.json", {"model_type": "bert"}, "gelu_erf"),
        ("bert_config.json", {"pruned_heads": {}}, "gelu_erf"),
        ("config.json", {}, "gelu_erf"),
    ],
)
def test_whose_configuration_a_file_is(tmp_path, name, contents, activation):
    path = tmp_path / name
    path.write_text(
        json.dumps({"vocab_size": 61, "hidden_act": "gelu", **contents})
    )
    config = model_folder.read_config(str(path))
    assert config.hidden_act == activation


@pytest.mark.parametrize("flag", ["bert_config_file", "vocab_file"])
def test_what_is_not_there_must_be_given(tmp_path, flag):
    choose = {
        "bert_config_file": model_folder.choose_config,
        "vocab_file": model_folder.choose_vocabulary,
    }[flag]
    with pytest.raises(UserError, match=f"--{flag} must be given"):
        choose(None, None)
    prefix = make_checkpoint(tmp_path, "bert_model.ckpt")
    with pytest.raises(UserError, match=f"--{flag} must be .*none beside"):
        choose(None, prefix)
    with pytest.raises(UserError, match=f"--{flag}=no: there is no such file"):
        choose("no", prefix)


# Letter case.


@pytest.mark.parametrize(
    ("beside", "value", "is_given", "chosen", "told"),
    [
        (None, True, False, True, ""),
        ({}, True, False, True, ""),
        ({"do_lower_case": "no"}, True, False, True, ""),
        ({"do_lower_case": True}, True, False, True, ""),
        ({"do_lower_case": False}, True, False, False, "says false."),
        # The flag counts more, but is warned of.
        ({"do_lower_case": False}, True, True, True, "--do_lower_case is true"),
    ],
)
def test_letter_case_is_the_flag_s_or_the_model_s(
    tmp_path, caplog, beside, value, is_given, chosen, told
):
    caplog.set_level(logging.INFO)
    if beside is not None:
        path = tmp_path / "tokenizer_config.json"
        path.write_text(json.dumps(beside))
    vocab_file = str(tmp_path / "vocab.txt")
    places = [vocab_file, None]
    found = model_folder.choose_lower_case(value, is_given, places)
    assert found is chosen
    assert told in caplog.text
    assert bool(caplog.text) == bool(told)


def make_saved_model(folder, **assets):
    """Makes a SavedModel without a graph; returns its checkpoint's prefix."""
    (folder / "variables").mkdir()
    (folder / "assets").mkdir()
    (folder / "saved_model.pb").write_text("some bytes")
    for name, text in assets.items():
        (folder / "assets" / name).write_text(text)
    return make_checkpoint(folder / "variables", "variables")


def test_assets_lie_beside_a_saved_model_s_weights(tmp_path):
    config = BertConfig(vocab_size=61)
    files = {
        "bert_config.json": config.to_json_string(),
        "cased_vocab.tsv": "[PAD]\n",
        "export.json": '{"do_lower_case": false}',
    }
    prefix = make_saved_model(tmp_path, **files)
    path = str(tmp_path / "assets" / "bert_config.json")
    assert model_folder.choose_config(None, prefix) == (config, path)
    vocab_file = model_folder.choose_vocabulary(None, prefix)
    assert vocab_file == str(tmp_path / "assets" / "cased_vocab.tsv")
    for place in (prefix, vocab_file):
        assert not model_folder.choose_lower_case(True, False, [place])


def test_the_letter_case_of_a_model_garden_module(tmp_path):
    prefix = make_saved_model(tmp_path)
    name = "do_lower_case/.ATTRIBUTES/VARIABLE_VALUE"
    checkpoint_io.write(prefix, {name: tf.constant(False)})
    places = ["vocab.txt", prefix]
    assert not model_folder.choose_lower_case(True, False, places)


@pytest.mark.parametrize("do_lower_case", [True, False])
def test_what_is_left_with_a_model_is_found_again(tmp_path, do_lower_case):
    source = tmp_path / "pieces.txt"
    source.write_bytes("[PAD]\r\né\n".encode())
    folder = tmp_path / "model"
    folder.mkdir()
    model_folder.write_vocabulary(str(folder), str(source), do_lower_case, 40)
    path = folder / "vocab.txt"
    assert path.read_bytes() == source.read_bytes()
    found = model_folder.choose_lower_case(True, False, [str(path)])
    assert found is do_lower_case
    # A vocabulary from elsewhere says nothing; the weights' folder does.
    places = [str(source), str(folder / "model.ckpt-3")]
    found = model_folder.choose_lower_case(True, False, places)
    assert found is do_lower_case


def test_another_vocabulary_than_the_run_s_is_refused(tmp_path):
    source = tmp_path / "pieces.txt"
    source.write_text("[PAD]\na\n")
    folder = tmp_path / "run"
    folder.mkdir()
    model_folder.require_same_vocabulary(str(folder), str(source))
    model_folder.write_vocabulary(str(folder), str(source), True, 40)
    prefix = str(folder / "model.ckpt")
    assert model_folder.length_beside(prefix) == 40
    assert model_folder.length_beside(str(tmp_path / "none" / "m")) is None
    model_folder.require_same_vocabulary(str(folder), str(source))
    source.write_text("[PAD]\nb\n")
    with pytest.raises(UserError, match="is not the vocabulary that the model"):
        model_folder.require_same_vocabulary(str(folder), str(source))
