"""Pieces to [CLS] A [SEP] B [SEP] inside a graph, exactly as in 2018.

B texts · S sequence length
"""

import tensorflow as tf

from bert_tf.features import INPUT_KEYS


def truncated_lengths(lengths_a, lengths_b, most):
    """Does what `packing.truncated_lengths` does, for each pair; all int [B].

    `most`, how many pieces both may have together, may also be int [].
    """
    excess = tf.maximum(lengths_a + lengths_b - most, 0)
    # The longer one gives down to the other's length, then both by turns.
    surplus_a = tf.maximum(lengths_a - lengths_b, 0)
    surplus_b = tf.maximum(lengths_b - lengths_a, 0)
    by_turns = tf.maximum(excess - surplus_a - surplus_b, 0)
    cut_a = tf.minimum(excess, surplus_a) + by_turns // 2
    cut_b = tf.minimum(excess, surplus_b) + (by_turns + 1) // 2
    return lengths_a - cut_a, lengths_b - cut_b


def keep_first(pieces, lengths):
    """Keeps the first `lengths` (int [B]) pieces of rows [B, (pieces)]."""
    places = tf.ragged.range(pieces.row_lengths()).values
    kept = places < tf.repeat(tf.cast(lengths, tf.int64), pieces.row_lengths())
    return tf.ragged.boolean_mask(pieces, pieces.with_values(kept))


def pack(pieces_a, pieces_b, *, max_seq_length, special_ids, length=None):
    """Puts the pieces of one or two texts together.

    Args:
      pieces_a: int32 [B, (pieces)].
      pieces_b: the same, or None for single texts; a row without pieces makes
        a single text of its pair.
      max_seq_length: int or int [], at least 3; what is longer is cut off.
      special_ids: pair of int, the ids of [CLS] and [SEP].
      length: int, int [] or None: S. None: that of the longest row.

    Returns:
      dict of input_ids, input_mask and segment_ids, int32 [B, S], padded with
      0.

    Source: `convert_single_example` in run_classifier.py (2018).
    """
    lengths_a = pieces_a.row_lengths()
    max_seq_length = tf.cast(max_seq_length, tf.int64)
    tf.debugging.assert_greater(
        max_seq_length,
        tf.constant(2, tf.int64),
        "The length must be 3 or more: [CLS] and two [SEP].",
    )
    if pieces_b is None:
        lengths_a = tf.minimum(lengths_a, max_seq_length - 2)
        lengths_b = tf.zeros_like(lengths_a)
    else:
        lengths_b = pieces_b.row_lengths()
        tf.debugging.assert_equal(
            tf.size(lengths_a),
            tf.size(lengths_b),
            "There must be as many second texts as first ones.",
        )
        num_special = 2 + tf.cast(lengths_b > 0, tf.int64)
        lengths_a, lengths_b = truncated_lengths(
            lengths_a, lengths_b, max_seq_length - num_special
        )
    cls_id, sep_id = special_ids
    ones = tf.ones_like(lengths_a)
    parts = [
        _repeated(cls_id, ones),
        keep_first(pieces_a, lengths_a),
        _repeated(sep_id, ones),
    ]
    if pieces_b is not None:
        # As in 2018 a text of which nothing is left has no [SEP] either.
        has_b = tf.minimum(lengths_b, 1)
        parts += [keep_first(pieces_b, lengths_b), _repeated(sep_id, has_b)]
    input_ids = tf.concat(parts, axis=1)
    first = lengths_a + 2
    second = input_ids.row_lengths() - first
    segment_ids = tf.concat([_repeated(0, first), _repeated(1, second)], axis=1)
    values = (input_ids, tf.ones_like(input_ids), segment_ids)
    shape = [None, length]
    if tf.is_tensor(length):
        shape = tf.stack([-1, length])  # The same, where it is not yet known.
    return {
        name: value.to_tensor(0, shape=shape)
        for name, value in zip(INPUT_KEYS, values, strict=True)
    }


def _repeated(value, counts):
    """Returns int32 [B, (counts)] full of `value`."""
    return tf.RaggedTensor.from_row_lengths(
        tf.fill([tf.reduce_sum(counts)], value), counts
    )
