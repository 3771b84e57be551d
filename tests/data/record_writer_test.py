"""Records as bytes: read by TensorFlow, and equal to what it writes."""

import numpy as np
import pytest
import tensorflow as tf

from bert_tf import features
from bert_tf.data import record_writer

_S = 300


def _parse(record, **label):
    spec = features.parse_spec(features.classifier_features(_S, **label))
    parsed = tf.io.parse_single_example(record, spec)
    return {name: value.numpy().tolist() for name, value in parsed.items()}


@pytest.mark.parametrize(
    ("num_ids", "num_first"), [(0, 0), (2, 2), (129, 7), (300, 150), (300, 300)]
)
def test_a_record_is_what_tensorflow_writes(num_ids, num_first):
    # Ids of one to three bytes.
    ids = [101, *np.geomspace(1, 119546, 299).astype(int).tolist()][:num_ids]
    label = record_writer.encode_label((2,), "int64")
    record = record_writer.encode_record(ids, num_first, _S, label)
    padding = [0] * (_S - num_ids)
    expected = {
        "input_ids": ids + padding,
        "input_mask": [1] * num_ids + padding,
        "segment_ids": [0] * num_first + [1] * (num_ids - num_first) + padding,
        "label_ids": [2],
        "is_real_example": [1 if num_ids else 0],
    }
    assert _parse(record) == expected
    # The order of a map's entries is free, so messages are compared.
    written = features.serialize_example(
        features.classifier_features(_S), expected
    )
    read = tf.train.Example.FromString
    assert read(record) == read(written)
    assert len(record) == len(written)


def test_the_label_of_a_regression_is_a_float():
    label = record_writer.encode_label((-2.5,), "float32")
    record = record_writer.encode_record([5], 1, _S, label)
    assert _parse(record, label_dtype="float32")["label_ids"] == [-2.5]


def test_several_labels_are_as_many_numbers():
    label = record_writer.encode_label((0, 1, 1), "int64")
    record = record_writer.encode_record([5], 1, _S, label)
    assert _parse(record, label_length=3)["label_ids"] == [0, 1, 1]


def test_large_numbers_are_encoded_as_protocol_buffers_do():
    # 300 is 0b10_0101100: the low seven bits with the eighth set, then 2.
    assert record_writer._VARINTS[300] == b"\xac\x02"
    assert record_writer._VARINTS[0] == b"\0"
    assert record_writer._VARINTS[127] == b"\x7f"
    assert record_writer._VARINTS[1 << 21] == b"\x80\x80\x80\x01"


def test_a_number_of_any_name_and_size():
    record = record_writer.encode_example(
        (record_writer.number_entry("unique_ids", 1_000_000_000),)
    )
    stored = tf.train.Example.FromString(record).features.feature
    assert list(stored) == ["unique_ids"]
    assert stored["unique_ids"].int64_list.value == [1_000_000_000]
