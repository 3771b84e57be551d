"""Tests of finding checkpoints and of the state file. No TensorFlow needed,
but for the test that it reads the state file as we do."""

import pytest

from bert_tf.checkpoints import checkpoint_files
from bert_tf.errors import UserError

DATA = ".data-00000-of-00001"


def make_checkpoint(folder, name="model.ckpt-3", suffixes=(".index", DATA)):
    for suffix in suffixes:
        (folder / f"{name}{suffix}").write_text("some bytes")
    return str(folder / name)


# Resolving.


@pytest.mark.parametrize("suffix", ["", ".index", DATA, ".meta"])
def test_resolve_takes_the_prefix_or_one_of_its_files(tmp_path, suffix):
    prefix = make_checkpoint(tmp_path)
    assert checkpoint_files.resolve_checkpoint(prefix + suffix) == prefix


def test_resolve_takes_path_objects(tmp_path):
    prefix = make_checkpoint(tmp_path)
    found = checkpoint_files.resolve_checkpoint(tmp_path / "model.ckpt-3")
    assert found == prefix


def test_resolve_takes_a_folder_with_a_state_file(tmp_path):
    make_checkpoint(tmp_path, "model.ckpt-4")
    prefix = make_checkpoint(tmp_path, "model.ckpt-3")
    checkpoint_files.write_state(str(tmp_path), [prefix])
    assert checkpoint_files.resolve_checkpoint(tmp_path) == prefix


def test_resolve_takes_several_data_files(tmp_path):
    suffixes = [".index", ".data-00000-of-00002", ".data-00001-of-00002"]
    prefix = make_checkpoint(tmp_path, suffixes=suffixes)
    assert checkpoint_files.resolve_checkpoint(prefix) == prefix


@pytest.mark.parametrize("path", ["", None])
def test_resolve_of_nothing_is_an_error(path):
    with pytest.raises(UserError, match="--some_flag must name a checkpoint"):
        checkpoint_files.resolve_checkpoint(path, "some_flag")


@pytest.mark.parametrize("name", ["model.ckpt", "model.ckpt-4.index"])
def test_resolve_of_a_wrong_name_lists_what_is_there(tmp_path, name):
    make_checkpoint(tmp_path)
    with pytest.raises(
        UserError,
        match=rf"--init_checkpoint=.*{name}: there is no such checkpoint.*"
        r": model\.ckpt-3\.$",
    ):
        checkpoint_files.resolve_checkpoint(tmp_path / name)


def test_resolve_in_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(UserError, match="no such checkpoint"):
        checkpoint_files.resolve_checkpoint(tmp_path / "no" / "model.ckpt")


def test_resolve_of_a_folder_without_state_file_lists_what_is_there(tmp_path):
    make_checkpoint(tmp_path, "bert_model.ckpt")
    with pytest.raises(
        UserError, match=r"has no state file.*: bert_model\.ckpt\.$"
    ):
        checkpoint_files.resolve_checkpoint(tmp_path)


@pytest.mark.parametrize(
    "suffixes",
    [[".index"], [".index", ".data-00000-of-00002"]],
    ids=["none", "one of two"],
)
def test_resolve_without_all_data_files_is_an_error(tmp_path, suffixes):
    prefix = make_checkpoint(tmp_path, suffixes=suffixes)
    with pytest.raises(UserError, match=r"model\.ckpt-3 is incomplete"):
        checkpoint_files.resolve_checkpoint(prefix)


def test_resolve_does_not_take_another_checkpoints_data(tmp_path):
    make_checkpoint(tmp_path, "model.ckpt-31")
    prefix = make_checkpoint(tmp_path, "model.ckpt-3", [".index"])
    with pytest.raises(UserError, match=r"model\.ckpt-3 is incomplete"):
        checkpoint_files.resolve_checkpoint(prefix)


def test_resolve_with_an_empty_index_is_an_error(tmp_path):
    prefix = make_checkpoint(tmp_path)
    (tmp_path / "model.ckpt-3.index").write_text("")
    with pytest.raises(UserError, match=r"model\.ckpt-3\.index is empty"):
        checkpoint_files.resolve_checkpoint(prefix)


# The state file.


def test_state_is_read_as_it_was_written(tmp_path):
    folder = str(tmp_path)
    # A quote and a letter beyond ASCII are written as octal bytes.
    names = ["model.ckpt-3", 'é "m".ckpt-12']
    prefixes = [str(tmp_path / name) for name in names]
    checkpoint_files.write_state(folder, prefixes)
    assert checkpoint_files.read_state(folder) == prefixes
    assert (tmp_path / "checkpoint").read_text().splitlines()[1:] == [
        'all_model_checkpoint_paths: "model.ckpt-3"',
        r'all_model_checkpoint_paths: "\303\251 \042m\042.ckpt-12"',
    ]


def test_state_is_read_by_tensorflow(tmp_path):
    tf = pytest.importorskip("tensorflow")
    names = ["model.ckpt-3", 'é "m".ckpt-12']
    prefixes = [make_checkpoint(tmp_path, name) for name in names]
    checkpoint_files.write_state(str(tmp_path), prefixes)
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert list(state.all_model_checkpoint_paths) == prefixes
    assert tf.train.latest_checkpoint(str(tmp_path)) == prefixes[-1]


def test_state_with_full_paths_times_and_another_order(tmp_path):
    # As a Saver writes it that was given no relative paths; the latest need
    # not be the last listed.
    (tmp_path / "checkpoint").write_text(
        'model_checkpoint_path: "/old/model.ckpt-4"\n'
        'all_model_checkpoint_paths: "/old/model.ckpt-4"\n'
        'all_model_checkpoint_paths: "model.ckpt-8"\n'
        "all_model_checkpoint_timestamps: 1543500000.25\n"
        "last_preserved_timestamp: 1543400000.5\n"
    )
    assert checkpoint_files.read_state(str(tmp_path)) == [
        str(tmp_path / "model.ckpt-8"),
        "/old/model.ckpt-4",
    ]


def test_no_state_file_means_no_checkpoint(tmp_path):
    assert checkpoint_files.read_state(str(tmp_path)) == []
    assert checkpoint_files.latest_checkpoint(str(tmp_path)) is None


@pytest.mark.parametrize("content", ["", "model_checkpoint_pa", "\0\0\0"])
def test_state_that_names_nothing_is_an_error(tmp_path, content):
    (tmp_path / "checkpoint").write_text(content)
    with pytest.raises(UserError, match="does not name the latest"):
        checkpoint_files.latest_checkpoint(str(tmp_path))


def test_latest_whose_files_are_gone_is_an_error(tmp_path):
    make_checkpoint(tmp_path, "model.ckpt-2")
    checkpoint_files.write_state(
        str(tmp_path), [str(tmp_path / "model.ckpt-3")]
    )
    with pytest.raises(
        UserError,
        match=r"names .*model\.ckpt-3 .*not there.*: model\.ckpt-2\.$",
    ):
        checkpoint_files.latest_checkpoint(str(tmp_path))


def test_files_of_a_checkpoint_are_told_from_others():
    belong = ["m-1.index", "m-1.meta", "m-1.state.json", f"m-1{DATA}"]
    others = ["m-12.index", "m-1", "m-1.txt", "m-1.former.index", "am-1.index"]
    told = [
        entry
        for entry in [*belong, *others]
        if checkpoint_files.is_file_of(entry, "folder/m-1")
    ]
    assert told == belong


def test_checkpoints_without_a_state_file_are_not_passed_over(tmp_path):
    (tmp_path / "model.ckpt-0.index").write_bytes(b"x")
    # Stopped while the first was written: nothing is lost.
    assert checkpoint_files.latest_checkpoint(str(tmp_path)) is None
    (tmp_path / "model.ckpt-40.index").write_bytes(b"x")
    message = r"model.ckpt-40.index\) but no state file 'checkpoint'"
    with pytest.raises(UserError, match=message):
        checkpoint_files.latest_checkpoint(str(tmp_path))


def test_a_state_file_that_is_no_text_names_nothing(tmp_path):
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "\\xzz"\n')
    with pytest.raises(UserError, match="does not name the latest checkpoint"):
        checkpoint_files.latest_checkpoint(str(tmp_path))


def test_a_folder_that_cannot_be_listed_is_told(tmp_path, monkeypatch):
    def refuse(folder):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "model.ckpt-4.index").write_bytes(b"x")
    monkeypatch.setattr(checkpoint_files.os, "listdir", refuse)
    with pytest.raises(UserError, match="cannot be listed: Permission denied"):
        checkpoint_files.resolve_checkpoint(str(tmp_path / "model.ckpt-4"))
