"""Tests of reading, comparing and writing one checkpoint."""

import os

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.checkpoints import checkpoint_io
from bert_tf.errors import UserError

DATA = ".data-00000-of-00001"


def write(folder, variables, companion=None):
    prefix = str(folder / "model.ckpt-3")
    tensors = {k: tf.convert_to_tensor(v) for k, v in variables.items()}
    checkpoint_io.write(prefix, tensors, companion)
    return prefix


def test_reader_describes_what_is_stored(tmp_path):
    prefix = write(
        tmp_path,
        {
            "b": tf.zeros([2, 3]),
            "a": tf.zeros([5], tf.int64),
            "global_step": tf.constant(7, tf.int64),
        },
    )
    stored = checkpoint_io.CheckpointReader(prefix).stored
    assert {name: str(entry) for name, entry in stored.items()} == {
        "a": "int64 [5]",
        "b": "float32 [2, 3]",
        "global_step": "int64 []",
    }
    assert stored["b"].shape == (2, 3)


def test_slots_are_what_lies_below_a_variable(tmp_path):
    names = ["w", "w/adam_m", "w/Adam_1", "v/w", "beta1_power", "global_step"]
    prefix = write(tmp_path, dict.fromkeys(names, 1.0))
    assert list(checkpoint_io.CheckpointReader(prefix).slots()) == [
        "beta1_power",
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
        r"here\)\. Not in the file: x, y\. Not in the model: z\. Use the conf",
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


def test_parts_are_one_checkpoint(tmp_path, monkeypatch):
    # 40 bytes each: three fit into a part, so that there are three parts.
    monkeypatch.setattr(checkpoint_io, "_PART_BYTES", 120)
    values = {f"v{i}": np.full([10], i, np.float32) for i in range(7)}
    values["text"] = b"some bytes"
    prefix = str(tmp_path / "m.ckpt")
    checkpoint_io.write_in_parts(prefix, values, values.__getitem__)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *(f"m.ckpt.data-0000{i}-of-00003" for i in range(3)),
        "m.ckpt.index",
    ]
    reader = checkpoint_io.CheckpointReader(prefix)
    assert list(reader.stored) == sorted(values)
    for name, value in values.items():
        np.testing.assert_array_equal(reader.read(name), value)


def test_one_part_is_what_a_saver_writes_byte_for_byte(tmp_path):
    values = {"b": np.float32([1, 2]), "a": np.int64(3)}
    checkpoint_io.write_in_parts(
        str(tmp_path / "parts"), values, values.__getitem__
    )
    checkpoint_io.write(str(tmp_path / "whole"), values)
    for suffix in (".index", ".data-00000-of-00001"):
        parts = (tmp_path / f"parts{suffix}").read_bytes()
        assert parts == (tmp_path / f"whole{suffix}").read_bytes()
