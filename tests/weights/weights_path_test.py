"""Tests of what --init_checkpoint may name. No TensorFlow needed."""

import pytest

from bert_tf.checkpoints import checkpoint_files
from bert_tf.errors import UserError
from bert_tf.weights import weights_path

DATA = ".data-00000-of-00001"


def make_checkpoint(folder, name):
    for suffix in (".index", DATA):
        (folder / f"{name}{suffix}").write_text("some bytes")
    return str(folder / name)


def make_file(folder, name):
    (folder / name).write_text("some bytes")
    return str(folder / name)


@pytest.mark.parametrize("name", ["bert_model.ckpt", "model.ckpt-1000000"])
def test_a_release_s_folder_holds_one_checkpoint(tmp_path, name):
    prefix = make_checkpoint(tmp_path, name)
    assert weights_path.resolve(tmp_path) == prefix
    assert weights_path.resolve(prefix) == prefix
    assert weights_path.resolve(prefix + DATA) == prefix


def test_a_training_folder_s_newest_checkpoint_comes_first(tmp_path):
    make_checkpoint(tmp_path, "bert_model.ckpt")
    make_checkpoint(tmp_path, "model.ckpt-2")
    newest = make_checkpoint(tmp_path, "model.ckpt-1")
    checkpoint_files.write_state(str(tmp_path), [newest])
    assert weights_path.resolve(tmp_path) == newest


@pytest.mark.parametrize(
    "name", ["model.safetensors", "model.safetensors.index.json"]
)
def test_a_hugging_face_folder_and_its_file(tmp_path, name):
    path = make_file(tmp_path, name)
    assert weights_path.resolve(tmp_path) == path
    assert weights_path.resolve(path) == path
    assert weights_path.is_safetensors(path)


def test_a_saved_model_s_variables(tmp_path):
    (tmp_path / "variables").mkdir()
    make_file(tmp_path, "saved_model.pb")
    prefix = make_checkpoint(tmp_path / "variables", "variables")
    assert weights_path.resolve(tmp_path) == prefix


def test_a_2018_checkpoint_comes_before_safetensors(tmp_path):
    make_file(tmp_path, "model.safetensors")
    prefix = make_checkpoint(tmp_path, "bert_model.ckpt")
    assert weights_path.resolve(tmp_path) == prefix
    assert not weights_path.is_safetensors(prefix)


def test_of_several_checkpoints_one_must_be_named(tmp_path):
    make_checkpoint(tmp_path, "a.ckpt")
    make_checkpoint(tmp_path, "b.ckpt")
    with pytest.raises(UserError, match=r"Name one.*: a\.ckpt, b\.ckpt\."):
        weights_path.resolve(tmp_path)


@pytest.mark.parametrize("by", ["folder", "file"])
def test_a_pickle_is_refused_with_the_way_out(tmp_path, by):
    path = tmp_path / "pytorch_model.bin"
    path.write_text("some bytes")
    with pytest.raises(UserError, match="pytorch_model.bin is a pickle.*torch"):
        weights_path.resolve(tmp_path if by == "folder" else path)


@pytest.mark.parametrize("by", ["folder", "file"])
def test_another_form_of_weights_is_named(tmp_path, by):
    path = tmp_path / "tf_model.h5"
    path.write_text("some bytes")
    with pytest.raises(UserError, match="in the form of tf_model.h5 are not"):
        weights_path.resolve(tmp_path if by == "folder" else path)


@pytest.mark.parametrize("path", ["", None])
def test_nothing_is_an_error(path):
    with pytest.raises(UserError, match="--input must name a checkpoint"):
        weights_path.resolve(path, "input")


def test_a_wrong_name_is_an_error(tmp_path):
    with pytest.raises(UserError, match="there is no such checkpoint"):
        weights_path.resolve(tmp_path / "no")


def test_a_folder_without_weights_says_so(tmp_path):
    make_file(tmp_path, "model.fp16.safetensors")
    with pytest.raises(UserError, match=r"; name one of model\.fp16\.safeten"):
        weights_path.resolve(tmp_path)


def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.listdir", refuse)
    with pytest.raises(UserError, match="cannot be listed: Permission denied"):
        weights_path.resolve(tmp_path)


def test_a_name_that_tensorflow_takes_for_a_pattern_is_refused(tmp_path):
    folder = tmp_path / "a[b]"
    folder.mkdir()
    prefix = make_checkpoint(folder, "bert_model.ckpt")
    with pytest.raises(UserError, match="for a pattern"):
        weights_path.resolve(prefix)


def test_a_run_begins_with_its_own_weights(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    given = make_checkpoint(tmp_path, "bert_model.ckpt")
    assert weights_path.find_weights(str(folder), None) is None
    assert weights_path.find_weights(str(folder), given) == given
    newest = make_checkpoint(folder, "model.ckpt-3")
    checkpoint_files.write_state(str(folder), [newest])
    assert weights_path.find_weights(str(folder), given) == newest
    # The flag is checked all the same.
    with pytest.raises(UserError, match="--init_checkpoint=no: there is no"):
        weights_path.find_weights(str(folder), "no")
