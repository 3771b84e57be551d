"""Tests of making a folder all or nothing."""

import os
import pathlib
import subprocess
import sys

import pytest

from bert_tf.errors import UserError
from bert_tf.storage import new_folder


def test_a_folder_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "out"
    with new_folder.making_folder(str(path), "output") as beside:
        with open(os.path.join(beside, "a"), "w") as stream:
            stream.write("text")
        assert not path.exists()
    assert (path / "a").read_text() == "text"
    assert os.listdir(tmp_path / "new") == ["out"]


def test_a_failure_leaves_nothing(tmp_path):
    def fail():
        with new_folder.making_folder(str(tmp_path / "out"), "output"):
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail()
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_an_error(tmp_path):
    def fail():
        with new_folder.making_folder(str(tmp_path / "out"), "output"):
            raise OSError(28, "No space left on device")

    with pytest.raises(UserError, match="out cannot be written: No space left"):
        fail()


@pytest.mark.parametrize("there", ["folder", "file", "link"])
def test_what_is_there_already_is_refused(tmp_path, there):
    path = tmp_path / "out"
    if there == "folder":
        path.mkdir()
    elif there == "file":
        path.write_text("mine")
    else:
        path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(UserError, match="--output=.*out is there already"):
        new_folder.require_new_folder(str(path), "output")


def test_a_remote_folder_is_refused():
    with pytest.raises(UserError, match="a folder on this machine"):
        new_folder.require_new_folder("gs://bucket/out", "output")


def test_what_a_killed_process_left_is_removed_and_a_live_one_s_is_not(
    tmp_path,
):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f".out.{ended.pid}.incomplete"
    # Process 1 is always there.
    alive = tmp_path / ".out.1.incomplete"
    other = tmp_path / ".outer.x.incomplete"
    for path in (left, alive, other):
        path.mkdir()
    with new_folder.making_folder(str(tmp_path / "out"), "output"):
        pass
    assert not left.exists()
    assert alive.exists()
    assert other.exists()


def test_a_numbered_folder_gets_the_next_number(tmp_path):
    for name in ("2", "9", "10", "notes"):
        (tmp_path / name).mkdir()
    with new_folder.making_numbered_folder(str(tmp_path), "out") as made:
        (pathlib.Path(made[0]) / "a").write_text("x")
    assert made == [str(tmp_path / "11")]
    assert (tmp_path / "11" / "a").read_text() == "x"


def test_a_number_taken_meanwhile_is_passed_over(tmp_path):
    """Another process makes 1 while this one fills its own."""
    with new_folder.making_numbered_folder(str(tmp_path), "out") as made:
        (pathlib.Path(made[0]) / "a").write_text("x")
        (tmp_path / "1").mkdir()
        (tmp_path / "1" / "b").write_text("y")
    assert made == [str(tmp_path / "2")]


def test_of_a_numbered_folder_that_failed_nothing_is_left(tmp_path):
    parent = str(tmp_path / "new")

    def fail():
        with new_folder.making_numbered_folder(parent, "out") as made:
            (pathlib.Path(made[0]) / "a").write_text("x")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert os.listdir(parent) == []
