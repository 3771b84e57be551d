"""Tests of checkpoints whose writing is interrupted, or not possible."""

import errno
import os
import subprocess

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.checkpoints import checkpoint_keeper
from bert_tf.errors import UserError
from tests.checkpoints.small_checkpoints import DATA, make_run, values_of


def assert_latest_is(folder, step, values):
    latest = checkpoint_keeper.CheckpointKeeper(folder, {}).latest()
    assert latest == tf.train.latest_checkpoint(str(folder))
    reader = tf.train.load_checkpoint(latest)
    assert reader.get_tensor("global_step") == step
    for name, value in values.items():
        np.testing.assert_array_equal(reader.get_tensor(name), value)


class Killed(BaseException):
    """Stands for the end of the process: nothing of ours handles it."""


class Interruptions:
    """Ends the process before the n-th change of the file system."""

    changes = (
        (tf.raw_ops, "SaveV2"),
        (tf.io.gfile, "rename"),
        (tf.io.gfile, "copy"),
        (tf.io.gfile, "remove"),
        (os, "replace"),
        (os, "fsync"),
    )

    def __init__(self, monkeypatch, before):
        self.left = before
        for owner, name in self.changes:
            monkeypatch.setattr(
                owner, name, self.interrupting(getattr(owner, name))
            )

    def interrupting(self, change):
        def interrupted(*args, **kwargs):
            self.left -= 1
            if self.left < 0:
                raise Killed
            return change(*args, **kwargs)

        return interrupted


def interrupted_save(keeper, step, before):
    """Saves; returns whether it came to its end."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        Interruptions(monkeypatch, before)
        try:
            keeper.save(step, {"epoch": step})
        except Killed:
            return False
    return True


@pytest.mark.parametrize("step", [5, 4], ids=["a new step", "the same again"])
def test_a_kill_at_any_moment_leaves_a_whole_latest(tmp_path, step):
    variables = make_run(1)
    steps_seen = set()
    for before in range(100):
        folder = tmp_path / str(before)
        keeper = checkpoint_keeper.CheckpointKeeper(folder, variables, 1)
        variables["global_step"].assign(4)
        keeper.save(4, {"epoch": 4})
        variables["global_step"].assign(50)
        finished = interrupted_save(keeper, step, before)
        reader = tf.train.load_checkpoint(keeper.latest())
        # Either the former one or the new one, whole.
        steps_seen.add(int(reader.get_tensor("global_step")))
        assert steps_seen <= {4, 50}
        for name in variables:
            reader.get_tensor(name)
        assert "epoch" in keeper.read_companion(keeper.latest())
        keeper.save(6)
        # The next run clears up all but files of 4 or 5 that the state file
        # had no more, or not yet, named; 2018 left these as well.
        unnamed = ("model.ckpt-4.", "model.ckpt-5.")
        assert {
            name
            for name in os.listdir(folder)
            if step == 4 or finished or not name.startswith(unnamed)
        } == {"checkpoint", f"model.ckpt-6{DATA}", "model.ckpt-6.index"}
        assert not [n for n in os.listdir(folder) if "former" in n]
        if finished:
            break
    assert finished
    assert before >= 8
    assert steps_seen == {4, 50}


def raise_no_space(*args, **kwargs):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("owner", "name"), [(os, "fsync"), (os, "replace"), (tf.raw_ops, "SaveV2")]
)
def test_no_space_in_any_stage_leaves_the_former_one(
    tmp_path, monkeypatch, owner, name
):
    variables = make_run(1)
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, variables)
    keeper.save(3)
    saved = values_of(variables)
    before = sorted(os.listdir(tmp_path))
    variables["global_step"].assign(4)
    monkeypatch.setattr(owner, name, raise_no_space)
    with pytest.raises(UserError, match="ckpt-4 could not .*: no space left"):
        keeper.save(4)
    monkeypatch.undo()
    assert_latest_is(tmp_path, 3, saved)
    if owner is not os or name == "fsync":
        assert sorted(os.listdir(tmp_path)) == before
    keeper.save(4)
    assert_latest_is(tmp_path, 4, {})


def test_a_full_disk_leaves_the_former_one(tmp_path):
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("no right to mount a small file system")
    try:
        small = {"global_step": tf.Variable(3, dtype=tf.int64)}
        checkpoint_keeper.CheckpointKeeper(tmp_path, small).save(3)
        before = sorted(os.listdir(tmp_path))
        large = {**small, "w": tf.Variable(tf.zeros([100_000]))}
        keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, large)
        with pytest.raises(UserError, match="no space left"):
            keeper.save(4)
        assert sorted(os.listdir(tmp_path)) == before
        assert_latest_is(tmp_path, 3, {})
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise tf.errors.PermissionDeniedError(None, None, "not yours")

    monkeypatch.setattr(tf.raw_ops, "SaveV2", refuse)
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, make_run(1))
    with pytest.raises(UserError, match="could not be written: not yours"):
        keeper.save(4)
