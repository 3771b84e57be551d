"""Questions and long contexts to windows inside a graph, exactly as in 2018.

    [CLS] question [SEP] window [SEP]

B questions, each with a context · W windows of them all · S max_seq_length
"""

from typing import NamedTuple

import tensorflow as tf

from bert_tf.features import INPUT_KEYS


class Windows(NamedTuple):
    """Parts of contexts beside their questions.

    `questions`: int32 [W], the question of each, not falling. `inputs`: dict,
    see `graph_packing.pack`, int32 [W, S]. `offsets`: int32 [W], the position
    of a window's first piece in the sequence. `first_pieces`: int32 [W], which
    that is, among the pieces of all contexts, one after the other. `may_start`,
    `may_end`: bool [W, S], whether an answer may begin, and end, there.
    """

    questions: tf.Tensor
    inputs: dict
    offsets: tf.Tensor
    first_pieces: tf.Tensor
    may_start: tf.Tensor
    may_end: tf.Tensor


class Plan(NamedTuple):
    """Which pieces the windows have; all int32 [W].

    `questions`: see Windows. `starts`: a window's first piece, in its own
    context. `lengths`: how many it has.
    """

    questions: tf.Tensor
    starts: tf.Tensor
    lengths: tf.Tensor


def plan(num_pieces, window_lengths, doc_stride):
    """Returns the Plan that cuts contexts, as squad.windows.plan_windows does.

    Args:
      num_pieces: int32 [B], of each context; one without pieces has no window.
      window_lengths: int32 [B], at least 1, the pieces that there is room for.
      doc_stride: int, at least 1.
    """
    steps = tf.minimum(window_lengths, doc_stride)
    beyond = tf.maximum(num_pieces - window_lengths, 0)
    counts = tf.minimum(num_pieces, 1) + (beyond + steps - 1) // steps
    questions = tf.repeat(tf.range(tf.size(counts)), counts)  # [W]
    numbers = tf.ragged.range(counts).values  # 0, 1, ... of each context
    starts = numbers * tf.gather(steps, questions)
    lengths = tf.minimum(
        tf.gather(num_pieces, questions) - starts,
        tf.gather(window_lengths, questions),
    )
    return Plan(questions, starts, lengths)


def cut(
    question_ids,
    context_ids,
    *,
    special_ids,
    max_seq_length,
    max_query_length,
    doc_stride,
):
    """Makes the Windows of contexts.

    Args:
      question_ids, context_ids: int32 [B, (pieces)].
      special_ids: pair of int, the ids of [CLS] and [SEP].
      max_seq_length: int, S, more than `max_query_length` and 3.
      max_query_length: int; the rest of a question is cut off.
      doc_stride: int, at least 1.

    Source: `convert_examples_to_features` in run_squad.py (2018).
    """
    kept = tf.minimum(
        tf.cast(question_ids.row_lengths(), tf.int32), max_query_length
    )
    planned = plan(
        tf.cast(context_ids.row_lengths(), tf.int32),
        max_seq_length - kept - 3,  # [CLS] and two [SEP]
        doc_stride,
    )
    first_pieces = planned.starts + _starts(context_ids, planned.questions)
    offsets = tf.gather(kept, planned.questions) + 2
    positions = tf.range(max_seq_length)
    places = positions - offsets[:, tf.newaxis]  # [W, S]
    is_inside = (places >= 0) & (places < planned.lengths[:, tf.newaxis])
    is_best = _is_max_context(
        planned, places, is_inside, first_pieces, tf.size(context_ids.values)
    )
    question_starts = _starts(question_ids, planned.questions)[:, tf.newaxis]
    is_question = (positions > 0) & (places < -1)
    cls_id, sep_id = special_ids
    special = tf.where(positions == 0, cls_id, sep_id)
    of_question = _look_up(
        question_ids, question_starts + positions - 1, is_question
    )
    of_context = _look_up(
        context_ids, first_pieces[:, tf.newaxis] + places, is_inside
    )
    input_ids = tf.where(is_question, of_question, special)
    input_ids = tf.where(is_inside, of_context, input_ids)
    input_mask = tf.cast(places <= planned.lengths[:, tf.newaxis], tf.int32)
    is_second = tf.cast(places >= 0, tf.int32)
    inputs = (input_ids * input_mask, input_mask, input_mask * is_second)
    return Windows(
        questions=planned.questions,
        inputs=dict(zip(INPUT_KEYS, inputs, strict=True)),
        offsets=offsets,
        first_pieces=first_pieces,
        may_start=is_best,
        may_end=is_inside,
    )


def _starts(rows, questions):
    """Returns int32 [W]: where the row of each window's question begins."""
    return tf.gather(tf.cast(rows.row_starts(), tf.int32), questions)


def _look_up(rows, places, is_there):
    """Returns int32 [W, S], values of a ragged where `is_there`, else any."""
    # Ragged rows may be empty: with this 0 there is always a value to look up.
    values = tf.concat([rows.values, [0]], axis=0)
    return tf.gather(values, tf.where(is_there, places, 0))


def _is_max_context(planned, places, is_inside, first_pieces, num_pieces):
    """Marks where no other window has more context around a piece.

    `places`: int32 [W, S], which of its window's pieces stands there, where
    `is_inside`, bool [W, S]. `num_pieces`: int32 [], of all contexts. Returns
    bool [W, S]; of equally good windows the first counts.

    Source: `_check_is_max_context` in run_squad.py (2018).
    """
    lengths = planned.lengths[:, tf.newaxis]
    around = tf.minimum(places, lengths - 1 - places)
    scores = tf.cast(around, tf.float64)
    # In float64, as in 2018: scores that differ could be equal in float32.
    scores += tf.constant(0.01, tf.float64) * tf.cast(lengths, tf.float64)
    # Positions without a piece get segment -1, which TensorFlow ignores.
    pieces = tf.where(is_inside, places + first_pieces[:, tf.newaxis], -1)
    best = tf.math.unsorted_segment_max(scores, pieces, num_pieces)
    some_piece = tf.maximum(pieces, 0)
    is_best = is_inside & (scores == tf.gather(best, some_piece))
    windows = tf.range(tf.size(planned.starts))[:, tf.newaxis]
    windows = tf.broadcast_to(windows, tf.shape(pieces))
    first = tf.math.unsorted_segment_min(
        windows, tf.where(is_best, pieces, -1), num_pieces
    )
    return is_best & (windows == tf.gather(first, some_piece))
