"""What a record is: the name, shape and dtype of everything in it.

One table serves the writer and the reader of each kind of record; nobody else
spells these names.

B batch, S max_seq_length, P max_predictions_per_seq
"""

import dataclasses

import tensorflow as tf

# What the encoder takes of a record.
INPUT_KEYS = ("input_ids", "input_mask", "segment_ids")


@dataclasses.dataclass(frozen=True)
class Feature:
    """One entry of a record: its name, its shape without the batch, its dtype.

    `dtype` is the record's: tf.int64 or tf.float32, all that tf.train.Example
    stores for numbers. `length_flag` is the flag that gives its length, if one
    does.
    """

    name: str
    shape: tuple
    dtype: tf.DType
    length_flag: str | None = None


def encoder_features(max_seq_length):
    """Lists the features that every record has: what the encoder takes.

    Args:
      max_seq_length: int, S.

    Returns:
      tuple of Feature.
    """
    return tuple(
        Feature(name, (max_seq_length,), tf.int64, "max_seq_length")
        for name in ("input_ids", "input_mask", "segment_ids")
    )


def pretraining_features(max_seq_length, max_predictions_per_seq):
    """Lists the features of a pre-training record.

    Args:
      max_seq_length: int, S.
      max_predictions_per_seq: int, P.

    Returns:
      tuple of Feature.

    Source: `write_instance_to_example_files` in create_pretraining_data.py and
      `input_fn_builder` in run_pretraining.py (2018).
    """
    p, p_flag = (max_predictions_per_seq,), "max_predictions_per_seq"
    return (
        *encoder_features(max_seq_length),
        Feature("masked_lm_positions", p, tf.int64, p_flag),
        Feature("masked_lm_ids", p, tf.int64, p_flag),
        Feature("masked_lm_weights", p, tf.float32, p_flag),
        Feature("next_sentence_labels", (1,), tf.int64),
    )


def classifier_features(max_seq_length, *, label_length=1, label_dtype="int64"):
    """Lists the features of a record to classify.

    Args:
      max_seq_length: int, S.
      label_length: int, how many numbers its label is.
      label_dtype: str, their type: "int64", or "float32" for a regression.

    Returns:
      tuple of Feature.

    Source: `file_based_input_fn_builder` in run_classifier.py (2018), where the
      label was one int64.
    """
    return (
        *encoder_features(max_seq_length),
        Feature("label_ids", (label_length,), tf.as_dtype(label_dtype)),
        Feature("is_real_example", (1,), tf.int64),
    )


def squad_features(max_seq_length, *, is_training):
    """Lists the features of a record of a question and a window of its context.

    Args:
      max_seq_length: int, S.
      is_training: bool, whether the answer is in it.

    Returns:
      tuple of Feature.

    Source: `FeatureWriter` and `input_fn_builder` in run_squad.py (2018).
    """
    read = (
        Feature("unique_ids", (1,), tf.int64),
        *encoder_features(max_seq_length),
    )
    if not is_training:
        return read
    names = ("start_positions", "end_positions", "is_impossible")
    return read + tuple(Feature(name, (1,), tf.int64) for name in names)


def parse_spec(features):
    """Returns the dict by which `tf.io.parse_example` reads such records."""
    return {
        feature.name: tf.io.FixedLenFeature(feature.shape, feature.dtype)
        for feature in features
    }


class ExampleSerializer:
    """Makes records of one kind, by the thousand.

    One tf.train.Example is filled again and again, which takes half the time of
    making one for each record.
    """

    def __init__(self, features):
        """Prepares the Example.

        Args:
          features: tuple of Feature, the record's kind.
        """
        self._example = tf.train.Example()
        self._entries = {}
        for feature in features:
            entry = self._example.features.feature[feature.name]
            numbers = (
                entry.int64_list
                if feature.dtype == tf.int64
                else entry.float_list
            )
            self._entries[feature.name] = numbers.value

    def serialize(self, values):
        """Makes one record.

        Args:
          values: dict, feature name -> sequence of numbers as long as its
            shape says; an entry for each feature.

        Returns:
          bytes, a serialized tf.train.Example.
        """
        for name, entry in self._entries.items():
            entry[:] = values[name]
        return self._example.SerializeToString()


def serialize_example(features, values):
    """Makes one record.

    Args:
      features: tuple of Feature, the record's kind.
      values: dict, feature name -> sequence of numbers as long as its shape
        says.

    Returns:
      bytes, a serialized tf.train.Example.
    """
    return ExampleSerializer(features).serialize(values)
