"""Tests of what --init_checkpoint may name. No TensorFlow needed."""

import json
import logging

import pytest

from bert_tf import checkpoint_files, model_folder
from bert_tf.config import BertConfig
from bert_tf.errors import UserError

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


# The weights.


@pytest.mark.parametrize("name", ["bert_model.ckpt", "model.ckpt-1000000"])
def test_a_release_s_folder_holds_one_checkpoint(tmp_path, name):
    prefix = make_checkpoint(tmp_path, name)
    assert model_folder.resolve(tmp_path) == prefix
    assert model_folder.resolve(prefix) == prefix
    assert model_folder.resolve(prefix + DATA) == prefix


def test_a_training_folder_s_newest_checkpoint_comes_first(tmp_path):
    make_checkpoint(tmp_path, "bert_model.ckpt")
    make_checkpoint(tmp_path, "model.ckpt-2")
    newest = make_checkpoint(tmp_path, "model.ckpt-1")
    checkpoint_files.write_state(str(tmp_path), [newest])
    assert model_folder.resolve(tmp_path) == newest


@pytest.mark.parametrize(
    "name", ["model.safetensors", "model.safetensors.index.json"]
)
def test_a_hugging_face_folder_and_its_file(tmp_path, name):
    path = make_hugging_face(tmp_path, name)
    assert model_folder.resolve(tmp_path) == path
    assert model_folder.resolve(path) == path
    assert model_folder.is_safetensors(path)


def test_a_2018_checkpoint_comes_before_safetensors(tmp_path):
    make_hugging_face(tmp_path)
    prefix = make_checkpoint(tmp_path, "bert_model.ckpt")
    assert model_folder.resolve(tmp_path) == prefix
    assert not model_folder.is_safetensors(prefix)


def test_of_several_checkpoints_one_must_be_named(tmp_path):
    make_checkpoint(tmp_path, "a.ckpt")
    make_checkpoint(tmp_path, "b.ckpt")
    with pytest.raises(UserError, match=r"Name one.*: a\.ckpt, b\.ckpt\."):
        model_folder.resolve(tmp_path)


@pytest.mark.parametrize("by", ["folder", "file"])
def test_a_pickle_is_refused_with_the_way_out(tmp_path, by):
    path = tmp_path / "pytorch_model.bin"
    path.write_text("some bytes")
    with pytest.raises(UserError, match="pytorch_model.bin is a pickle.*torch"):
        model_folder.resolve(tmp_path if by == "folder" else path)


@pytest.mark.parametrize("by", ["folder", "file"])
def test_another_form_of_weights_is_named(tmp_path, by):
    path = tmp_path / "tf_model.h5"
    path.write_text("some bytes")
    with pytest.raises(UserError, match="in the form of tf_model.h5 are not"):
        model_folder.resolve(tmp_path if by == "folder" else path)


@pytest.mark.parametrize("path", ["", None])
def test_nothing_is_an_error(path):
    with pytest.raises(UserError, match="--input must name a checkpoint"):
        model_folder.resolve(path, "input")


def test_a_wrong_name_is_an_error(tmp_path):
    with pytest.raises(UserError, match="there is no such checkpoint"):
        model_folder.resolve(tmp_path / "no")


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
