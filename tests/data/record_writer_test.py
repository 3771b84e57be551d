"""Records as bytes, equal to what TensorFlow writes; and files of them."""

import os

import numpy as np
import pytest
import tensorflow as tf

from bert_tf import features
from bert_tf.data import record_writer
from bert_tf.errors import UserError

_S = 300


def _record(ids, num_first, label, **label_kind):
    kind = features.classifier_features(_S, **label_kind)
    values = {
        **record_writer.text_values(ids, num_first, _S),
        "label_ids": label,
        "is_real_example": [1 if ids else 0],
    }
    return record_writer.ExampleSerializer(kind).serialize(values)


def _parse(record, **label_kind):
    spec = features.parse_spec(features.classifier_features(_S, **label_kind))
    parsed = tf.io.parse_single_example(record, spec)
    return {name: value.numpy().tolist() for name, value in parsed.items()}


@pytest.mark.parametrize(
    ("num_ids", "num_first"), [(0, 0), (2, 2), (129, 7), (300, 150), (300, 300)]
)
def test_a_record_is_what_tensorflow_writes(num_ids, num_first):
    # Ids of one to three bytes.
    ids = [101, *np.geomspace(1, 119546, 299).astype(int).tolist()][:num_ids]
    record = _record(ids, num_first, [2])
    padding = [0] * (_S - num_ids)
    expected = {
        "input_ids": ids + padding,
        "input_mask": [1] * num_ids + padding,
        "segment_ids": [0] * num_first + [1] * (num_ids - num_first) + padding,
        "label_ids": [2],
        "is_real_example": [1 if num_ids else 0],
    }
    assert _parse(record) == expected
    written = tf.train.Example()
    for name, numbers in expected.items():
        written.features.feature[name].int64_list.value[:] = numbers
    # The order of a map's entries is free, so messages are compared.
    assert tf.train.Example.FromString(record) == written
    assert len(record) == written.ByteSize()


def test_the_label_of_a_regression_is_a_float():
    record = _record([5], 1, [-2.5], label_dtype="float32")
    assert _parse(record, label_dtype="float32")["label_ids"] == [-2.5]


def test_several_labels_are_as_many_numbers():
    record = _record([5], 1, [0, 1, 1], label_length=3)
    assert _parse(record, label_length=3)["label_ids"] == [0, 1, 1]


def test_large_numbers_are_encoded_as_protocol_buffers_do():
    # 300 is 0b10_0101100: the low seven bits with the eighth set, then 2.
    record = _record([300, 0, 127, 1 << 21], 4, [1])
    assert b"\xac\x02\0\x7f\x80\x80\x80\x01" in record


def test_a_number_of_any_name_and_size():
    kind = (features.Feature("unique_ids", (1,)),)
    record = record_writer.ExampleSerializer(kind).serialize(
        {"unique_ids": [1_000_000_000]}
    )
    stored = tf.train.Example.FromString(record).features.feature
    assert list(stored) == ["unique_ids"]
    assert stored["unique_ids"].int64_list.value == [1_000_000_000]


def test_a_serializer_forgets_the_record_before():
    kind = features.encoder_features(7)
    serializer = record_writer.ExampleSerializer(kind)
    serializer.serialize(record_writer.text_values([9] * 7, 3, 7))
    values = record_writer.text_values([4, 8], 1, 7)
    again = record_writer.ExampleSerializer(kind).serialize(values)
    assert serializer.serialize(values) == again


def test_records_stand_in_order(tmp_path):
    path = str(tmp_path / "some.tf_record")
    record_writer.write(path, [[b"one"], [], [b"two", b"three"]])
    written = [record.numpy() for record in tf.data.TFRecordDataset(path)]
    assert written == [b"one", b"two", b"three"]


def test_a_file_that_is_not_complete_does_not_appear(tmp_path):
    path = tmp_path / "some.tf_record"
    path.write_bytes(b"before")

    def batches():
        yield [b"one"]
        raise UserError("the second cannot be made")

    with pytest.raises(UserError, match="the second cannot be made"):
        record_writer.write(str(path), batches())
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["some.tf_record"]


def test_a_folder_that_is_not_there(tmp_path):
    path = str(tmp_path / "nowhere" / "some.tf_record")
    with pytest.raises(UserError, match="some.tf_record cannot be written"):
        record_writer.write(path, [[b"one"]])
