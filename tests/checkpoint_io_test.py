"""Tests of reading, comparing and writing one checkpoint."""

import os

import pytest
import tensorflow as tf

from bert_tf import checkpoint_io
from bert_tf.errors import UserError

DATA = ".data-00000-of-00001"


def write(folder, variables, companion=None):
    prefix = str(folder / "model.ckpt-3")
    tensors = {k: tf.convert_to_tensor(v) for k, v in variables.items()}
    checkpoint_io.write(prefix, tensors, companion)
    return prefix


def test_lists_in_messages_are_short():
    names = [f"n{i}" for i in range(12)]
    assert checkpoint_io.listed(names[:2]) == "n0, n1"
    assert checkpoint_io.listed(names[:10]).endswith("n8, n9")
    assert checkpoint_io.listed(names).endswith("n8, n9 and 2 more")


def test_reader_describes_what_is_stored(tmp_path):
    prefix = write(
        tmp_path,
        {
            "b": tf.zeros([2, 3]),
            "a": tf.zeros([5], tf.int64),
            "global_step": tf.constant(7, tf.int64),
        },
    )
    assert checkpoint_io.CheckpointReader(prefix).stored == {
        "a": "int64 [5]",
        "b": "float32 [2, 3]",
        "global_step": "int64 []",
    }


def test_slots_are_what_lies_below_a_variable(tmp_path):
    names = ["w", "w/adam_m", "w/Adam_1", "v/w", "beta1_power", "global_step"]
    prefix = write(tmp_path, dict.fromkeys(names, 1.0))
    assert list(checkpoint_io.CheckpointReader(prefix).slots()) == [
        "global_step",
        "w/Adam_1",
        "w/adam_m",
    ]


def test_a_fit_raises_nothing(tmp_path):
    reader = checkpoint_io.CheckpointReader(
        write(tmp_path, {"w": [1.0, 2.0], "other": 1})
    )
    variables = {"w": tf.Variable([0.0, 0.0]), "new": tf.Variable(3.0)}
    reader.require_fit(variables, missing=[], file_only=[])
    reader.assign({"w": variables["w"]})
    assert variables["w"].numpy().tolist() == [1.0, 2.0]


def test_a_message_holds_every_fault(tmp_path):
    reader = checkpoint_io.CheckpointReader(write(tmp_path, {"w": [1.0, 2.0]}))
    with pytest.raises(
        UserError,
        match=r"Of another shape: w \(float32 \[2\] in the file, float32 \[3\] "
        r"here\)\. Not in the file: x, y\. Not in the model: z\. Use the bert",
    ):
        reader.require_fit(
            {"w": tf.Variable(tf.zeros([3]))},
            missing=["x", "y"],
            file_only=["z"],
        )


def test_a_file_of_something_else_is_an_error(tmp_path):
    (tmp_path / "m.index").write_text("no checkpoint at all" * 100)
    (tmp_path / f"m{DATA}").write_text("")
    with pytest.raises(UserError, match="/m is damaged"):
        checkpoint_io.CheckpointReader(str(tmp_path / "m"))


def test_the_index_gets_its_name_last(tmp_path, monkeypatch):
    names = []
    rename = tf.io.gfile.rename

    def recording(old, new, overwrite):
        names.append((os.path.basename(old), os.path.basename(new)))
        rename(old, new, overwrite)

    monkeypatch.setattr(tf.io.gfile, "rename", recording)
    write(tmp_path, {"w": 1.0}, "{}")
    assert names == [
        (f".model.ckpt-3.incomplete{suffix}", f"model.ckpt-3{suffix}")
        for suffix in (".state.json", DATA, ".index")
    ]


def test_leftovers_are_removed_and_nothing_else(tmp_path):
    left = [
        f".model.ckpt-3.incomplete{DATA}.tempstate1234",
        ".model.ckpt-3.incomplete.index",
        "model.ckpt-3.former.index",
        f"model.ckpt-3.former{DATA}",
    ]
    others = ["model.ckpt-3.index", f"model.ckpt-3{DATA}", "checkpoint", ".x"]
    for name in left + others:
        (tmp_path / name).write_text("")
    checkpoint_io.remove_leftovers(str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == sorted(others)
