"""Tests of writing TFRecord files."""

import os

import pytest
import tensorflow as tf

from bert_tf.data import record_file
from bert_tf.errors import UserError


def test_records_stand_in_order(tmp_path):
    path = str(tmp_path / "some.tf_record")
    record_file.write(path, [[b"one"], [], [b"two", b"three"]])
    written = [record.numpy() for record in tf.data.TFRecordDataset(path)]
    assert written == [b"one", b"two", b"three"]


def test_a_file_that_is_not_complete_does_not_appear(tmp_path):
    path = tmp_path / "some.tf_record"
    path.write_bytes(b"before")

    def batches():
        yield [b"one"]
        raise UserError("the second cannot be made")

    with pytest.raises(UserError, match="the second cannot be made"):
        record_file.write(str(path), batches())
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["some.tf_record"]


def test_a_folder_that_is_not_there(tmp_path):
    path = str(tmp_path / "nowhere" / "some.tf_record")
    with pytest.raises(UserError, match="some.tf_record cannot be written"):
        record_file.write(path, [[b"one"]])
