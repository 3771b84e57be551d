"""Tests of bert_tf.serving.export_folder."""

import pytest

from bert_tf.errors import UserError
from bert_tf.serving.export_folder import find_export


def _make(folder):
    (folder / "assets").mkdir(parents=True)
    (folder / "assets" / "export.json").write_text("{}")
    (folder / "saved_model.pb").write_text("")
    return str(folder)


def test_find_export_takes_a_folder_itself(tmp_path):
    path = _make(tmp_path / "served")
    assert find_export(path) == path


def test_find_export_takes_the_last_number(tmp_path):
    """10 comes after 9; what is no number does not count."""
    for name in ("9", "10", "backup"):
        _make(tmp_path / name)
    assert find_export(str(tmp_path)) == str(tmp_path / "10")


def test_find_export_refuses_what_is_none(tmp_path):
    with pytest.raises(UserError, match="is no SavedModel"):
        find_export(str(tmp_path))
    with pytest.raises(UserError, match="is no SavedModel"):
        find_export(str(tmp_path / "absent"))


def test_find_export_refuses_anothers_model(tmp_path):
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "saved_model.pb").write_text("")
    with pytest.raises(UserError, match=r"has no assets/export\.json"):
        find_export(str(tmp_path))
