"""Tests of bert_tf.cli.export_flags."""

import pytest

from bert_tf.cli import export_flags
from bert_tf.errors import UserError


@pytest.mark.parametrize(
    ("do_export", "export_dir", "message"),
    [
        (True, None, "--do_export needs --export_dir"),
        (False, "out", "--export_dir does nothing without --do_export"),
        (True, "gs://bucket/out", "name a folder on this machine"),
    ],
)
def test_check_refuses(do_export, export_dir, message):
    with pytest.raises(UserError, match=message):
        export_flags.check(do_export, export_dir)


@pytest.mark.parametrize(
    ("do_export", "export_dir"), [(True, "x"), (False, None)]
)
def test_check_takes_both_or_none(do_export, export_dir):
    export_flags.check(do_export, export_dir)


def test_check_wants_a_place_to_write(tmp_path):
    """Before anything is computed; nothing is made yet."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="is there already, and is no folder"):
        export_flags.check(True, str(tmp_path / "file" / "out"))
    export_flags.check(True, str(tmp_path / "new" / "out"))
    assert not (tmp_path / "new").exists()


def test_check_wants_a_place_that_takes_files(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(UserError, match="nothing can be written in"):
        export_flags.check(True, str(tmp_path / "out"))
