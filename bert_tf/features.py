"""What a record is: the name, shape and dtype of everything in it.

One table a kind of record serves the writer and the reader.

B batch, S max_seq_length, P max_predictions_per_seq
"""

import dataclasses

# What the encoder takes of a record.
INPUT_KEYS = ("input_ids", "input_mask", "segment_ids")


@dataclasses.dataclass(frozen=True)
class Feature:
    """One entry of a record."""

    name: str
    shape: tuple  # Without the batch.
    # Or "float32": tf.train.Example stores no other numbers.
    dtype: str = "int64"
    length_flag: str | None = None  # The flag that gives its length.


def encoder_features(max_seq_length):
    """Lists (tuple of Feature) what every record has: what the encoder takes.

    `max_seq_length`: int, S.
    """
    return tuple(
        Feature(name, (max_seq_length,), length_flag="max_seq_length")
        for name in INPUT_KEYS
    )


def pretraining_features(max_seq_length, max_predictions_per_seq):
    """Lists (tuple of Feature) what a pre-training record has.

    `max_seq_length`: int, S. `max_predictions_per_seq`: int, P.

    Source: `write_instance_to_example_files` in create_pretraining_data.py and
      `input_fn_builder` in run_pretraining.py (2018).
    """
    p, p_flag = (max_predictions_per_seq,), "max_predictions_per_seq"
    return (
        *encoder_features(max_seq_length),
        Feature("masked_lm_positions", p, length_flag=p_flag),
        Feature("masked_lm_ids", p, length_flag=p_flag),
        Feature("masked_lm_weights", p, "float32", p_flag),
        Feature("next_sentence_labels", (1,)),
    )


def classifier_features(max_seq_length, *, label_length=1, label_dtype="int64"):
    """Lists (tuple of Feature) what a record to classify has.

    Args:
      max_seq_length: int, S.
      label_length: int, how many numbers its label is.
      label_dtype: str, their type: "int64", or "float32" for a regression.

    Source: `file_based_input_fn_builder` in run_classifier.py (2018), where the
      label was one int64.
    """
    return (
        *encoder_features(max_seq_length),
        Feature("label_ids", (label_length,), label_dtype),
        Feature("is_real_example", (1,)),
    )


def squad_features(max_seq_length, *, is_training):
    """Lists (tuple of Feature) what a record of a question and a window has.

    `max_seq_length`: int, S. `is_training`: bool, whether the answer is in it.

    Source: `FeatureWriter` and `input_fn_builder` in run_squad.py (2018).
    """
    read = (Feature("unique_ids", (1,)), *encoder_features(max_seq_length))
    if not is_training:
        return read
    names = ("start_positions", "end_positions", "is_impossible")
    return read + tuple(Feature(name, (1,)) for name in names)


def parse_spec(features):
    """Returns the dict by which `tf.io.parse_example` reads such records."""
    import tensorflow as tf  # Deferred: writers of records do without it.

    return {
        feature.name: tf.io.FixedLenFeature(
            feature.shape, tf.as_dtype(feature.dtype)
        )
        for feature in features
    }
