"""Questions and long contexts to windows inside a graph, exactly as in 2018.

    [CLS] question [SEP] window [SEP]

B questions, each with a context · W windows of them all · S max_seq_length
"""

from typing import NamedTuple

import tensorflow as tf

from bert_tf import text_packing


class Windows(NamedTuple):
    """Parts of contexts beside their questions.

    `questions`: int32 [W], the question of each, not falling. `inputs`: dict,
    see `text_packing.pack`, int32 [W, S]. `offsets`: int32 [W], the position of
    a window's first piece in the sequence. `first_pieces`: int32 [W], which
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
    """Cuts contexts.

    Args:
      num_pieces: int32 [B], of each context; one without pieces has no window.
      window_lengths: int32 [B], at least 1, the pieces that there is room for.
      doc_stride: int, at least 1.

    Returns:
      Plan.

    Source: `plan_windows` in tasks.squad.windows.
    """
    steps = tf.minimum(window_lengths, doc_stride)
    beyond = tf.maximum(num_pieces - window_lengths, 0)
    counts = tf.minimum(num_pieces, 1) + (beyond + steps - 1) // steps
    questions = tf.repeat(tf.range(tf.size(counts)), counts)  # [W]
    starts = _places(counts) * tf.gather(steps, questions)
    lengths = tf.minimum(
        tf.gather(num_pieces, questions) - starts,
        tf.gather(window_lengths, questions),
    )
    return Plan(questions, starts, lengths)


def _places(counts):
    """Returns int32 [sum(counts)]: 0, 1, ... anew for each of `counts`."""
    return tf.ragged.range(counts).values


def cut(question_ids, context_ids, *, special_ids, max_seq_length, **lengths):
    """Makes windows of contexts.

    Args:
      question_ids: int32 [B, (pieces)].
      context_ids: int32 [B, (pieces)].
      special_ids: pair of int, the ids of [CLS] and [SEP].
      max_seq_length: int, S, more than `max_query_length` and 3.
      lengths: int: `max_query_length`, the rest of a question is cut off;
        `doc_stride`, at least 1.

    Returns:
      Windows.

    Source: `convert_examples_to_features` in run_squad.py (2018).
    """
    kept = tf.minimum(question_ids.row_lengths(), lengths["max_query_length"])
    question_ids = text_packing.keep_first(question_ids, kept)
    kept = tf.cast(kept, tf.int32)
    planned = plan(
        tf.cast(context_ids.row_lengths(), tf.int32),
        max_seq_length - kept - 3,  # [CLS] and two [SEP]
        lengths["doc_stride"],
    )
    contexts_begin = tf.cast(context_ids.row_starts(), tf.int32)
    first_pieces = planned.starts + tf.gather(contexts_begin, planned.questions)
    part = tf.ragged.range(first_pieces, first_pieces + planned.lengths)
    offsets = tf.gather(kept, planned.questions) + 2
    places = tf.range(max_seq_length) - offsets[:, tf.newaxis]  # [W, S]
    is_inside = (places >= 0) & (places < planned.lengths[:, tf.newaxis])
    is_best = _is_max_context(
        planned, places, is_inside, first_pieces, tf.size(context_ids.values)
    )
    return Windows(
        questions=planned.questions,
        inputs=text_packing.pack(
            tf.gather(question_ids, planned.questions),
            part.with_values(tf.gather(context_ids.values, part.values)),
            max_seq_length=max_seq_length,
            special_ids=special_ids,
            length=max_seq_length,
        ),
        offsets=offsets,
        first_pieces=first_pieces,
        may_start=is_best,
        may_end=is_inside,
    )


def _is_max_context(planned, places, is_inside, first_pieces, num_pieces):
    """Marks where no other window has more context around a piece.

    Args:
      planned: Plan.
      places: int32 [W, S], which of its window's pieces stands there.
      is_inside: bool [W, S], whether there is one.
      first_pieces: int32 [W], see Windows.
      num_pieces: int32 [], of all contexts.

    Returns:
      bool [W, S]; of equally good windows the first counts.

    Source: `_check_is_max_context` in run_squad.py (2018).
    """
    lengths = planned.lengths[:, tf.newaxis]
    around = tf.minimum(places, lengths - 1 - places)
    scores = tf.cast(around, tf.float64)
    # In float64, as in 2018: two windows' scores may well be equal.
    scores += tf.constant(0.01, tf.float64) * tf.cast(lengths, tf.float64)
    # What has no piece counts nowhere.
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
