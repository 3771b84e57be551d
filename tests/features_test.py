import pytest
import tensorflow as tf

from bert_tf import features
from bert_tf.data.record_writer import ExampleSerializer

# S=7, P=3
VALUES = {
    "input_ids": [2, 5, 6, 3, 7, 3, 0],
    "input_mask": [1, 1, 1, 1, 1, 1, 0],
    "segment_ids": [0, 0, 0, 0, 1, 1, 0],
    "masked_lm_positions": [2, 4, 0],
    "masked_lm_ids": [9, 8, 0],
    "masked_lm_weights": [1.0, 1.0, 0.0],
    "next_sentence_labels": [1],
}


def serialize_example(kind, values):
    small = {
        name: bytes(values[name])
        for name in ("input_mask", "segment_ids")
        if name in values
    }
    return ExampleSerializer(kind).serialize({**values, **small})


def test_a_pretraining_record_reads_back_as_it_was_written():
    kind = features.pretraining_features(7, 3)
    record = serialize_example(kind, VALUES)
    parsed = tf.io.parse_single_example(record, features.parse_spec(kind))
    assert {k: v.numpy().tolist() for k, v in parsed.items()} == VALUES


def test_a_record_of_another_length_does_not_parse():
    record = serialize_example(features.pretraining_features(7, 3), VALUES)
    spec = features.parse_spec(features.pretraining_features(8, 3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Can't parse"):
        tf.io.parse_single_example(record, spec)


def test_a_label_is_of_the_task_s_length_and_type():
    kinds = {
        "one": features.classifier_features(7),
        "several": features.classifier_features(7, label_length=3),
        "number": features.classifier_features(7, label_dtype="float32"),
    }
    labels = {
        name: next(f for f in kind if f.name == "label_ids")
        for name, kind in kinds.items()
    }
    assert [(f.shape, f.dtype) for f in labels.values()] == [
        ((1,), "int64"),
        ((3,), "int64"),
        ((1,), "float32"),
    ]
    lengths = {f.name: f.shape for f in kinds["one"]}
    assert lengths["input_ids"] == lengths["segment_ids"] == (7,)
    assert lengths["is_real_example"] == (1,)


def test_only_training_has_the_answer_in_a_record():
    asked = features.squad_features(7, is_training=False)
    trained = features.squad_features(7, is_training=True)
    assert trained[: len(asked)] == asked
    assert [(f.name, f.shape) for f in trained[len(asked) :]] == [
        ("start_positions", (1,)),
        ("end_positions", (1,)),
        ("is_impossible", (1,)),
    ]
    assert {f.name: f.shape for f in asked} == {
        "unique_ids": (1,),
        "input_ids": (7,),
        "input_mask": (7,),
        "segment_ids": (7,),
    }
