"""Logits to answers inside a graph, exactly as in 2018.

B questions · W windows of them all · S max_seq_length · K n_best_size (or S if
that is less) · C candidates of all questions: spans of pieces · U texts
"""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

# How many candidates of a question are looked at in a round. Mostly one round
# is enough, since few texts occur twice.
_BLOCK = 48

# What 2018 answers where no span can be an answer.
NO_CANDIDATE = "empty"


class Candidates(NamedTuple):
    """Spans that may be answers, those of a question together, best first.

    `questions`: int32 [C]. `first_pieces`, `last_pieces`: int32 [C], among the
    pieces of all contexts. `start_logits`, `end_logits`: float64 [C].
    """

    questions: tf.Tensor
    first_pieces: tf.Tensor
    last_pieces: tf.Tensor
    start_logits: tf.Tensor
    end_logits: tf.Tensor


class Texts(NamedTuple):
    """Texts that may be answers, each once a question, best first in it.

    `questions`: int32 [U]. `texts`: string [U]. `start_chars`, `end_chars`:
    int32 [U], see graph_spans.Places. `start_logits`, `end_logits`: float64
    [U].
    """

    questions: tf.Tensor
    texts: tf.Tensor
    start_chars: tf.Tensor
    end_chars: tf.Tensor
    start_logits: tf.Tensor
    end_logits: tf.Tensor


def _take(columns, at):
    """Returns a tuple of tensors with just the rows `at` of each."""
    return type(columns)(*(tf.gather(column, at) for column in columns))


def choose(
    windows, start_logits, end_logits, *, n_best_size, max_answer_length
):
    """Chooses and sorts the Candidates, as squad.candidates does.

    Equally good ones of a question stand in the order of the windows, then of
    the starts' ranks, then of the ends'. `windows`: graph_windows.Windows.
    `start_logits`, `end_logits`: float32 [W, S].

    Source: `write_predictions` in run_squad.py (2018).
    """
    num_best = tf.minimum(n_best_size, tf.shape(start_logits)[1])
    best_starts = tf.math.top_k(start_logits, num_best)  # [W, K]
    best_ends = tf.math.top_k(end_logits, num_best)
    starts, ends = best_starts.indices, best_ends.indices
    may_start = tf.gather(windows.may_start, starts, batch_dims=1)
    may_end = tf.gather(windows.may_end, ends, batch_dims=1)
    more = ends[:, tf.newaxis, :] - starts[:, :, tf.newaxis]  # [W, K, K]
    fits = (more >= 0) & (more < max_answer_length)
    fits &= may_start[:, :, tf.newaxis] & may_end[:, tf.newaxis, :]
    window, start_rank, end_rank = tf.unstack(tf.where(fits), axis=1)  # [C]
    start_at = tf.stack([window, start_rank], axis=1)
    end_at = tf.stack([window, end_rank], axis=1)
    shift = tf.gather(windows.first_pieces - windows.offsets, window)
    candidates = Candidates(
        questions=tf.gather(windows.questions, window),
        first_pieces=tf.gather_nd(starts, start_at) + shift,
        last_pieces=tf.gather_nd(ends, end_at) + shift,
        # 2018 added and compared in float64.
        start_logits=tf.cast(
            tf.gather_nd(best_starts.values, start_at), tf.float64
        ),
        end_logits=tf.cast(tf.gather_nd(best_ends.values, end_at), tf.float64),
    )
    scores = candidates.start_logits + candidates.end_logits
    order = tf.argsort(scores, direction="DESCENDING", stable=True)
    return _by_question(_take(candidates, order))


def _by_question(columns):
    return _take(columns, tf.argsort(columns.questions, stable=True))


def _count(questions, num_questions):
    """Returns int32 [B], how often each stands in `questions` (int32)."""
    return tf.math.bincount(questions, minlength=num_questions)


def _ranks(questions, num_questions):
    """Returns int32 like `questions`, which is sorted: 0, 1, ... in each."""
    before = tf.cumsum(_count(questions, num_questions), exclusive=True)
    return tf.range(tf.size(questions)) - tf.gather(before, questions)


def find_texts(candidates, spans, num_questions, n_best_size):
    """Finds the best Texts of each question, as squad.answers.n_best does.

    They are found in rounds: each looks at the next candidates of the questions
    that have fewer than `n_best_size` texts. So there may be more in the end.
    `spans`: graph_spans.Spans. `num_questions`: int32 [], B.

    Source: `write_predictions` in run_squad.py (2018).
    """
    ranks = _ranks(candidates.questions, num_questions)

    def wanted(begin, found):
        """Marks candidates not yet looked at, of questions that want more."""
        lacks = _count(found.questions, num_questions) < n_best_size
        return (ranks >= begin) & tf.gather(lacks, candidates.questions)

    def look(begin, found):
        is_next = wanted(begin, found) & (ranks < begin + _BLOCK)
        some = _take(candidates, tf.where(is_next)[:, 0])
        places = spans.find(some.first_pieces, some.last_pieces)
        more = Texts(
            questions=some.questions,
            texts=spans.texts(places),
            start_chars=places.start_chars,
            end_chars=places.end_chars,
            start_logits=some.start_logits,
            end_logits=some.end_logits,
        )
        both = Texts(*(tf.concat(pair, axis=0) for pair in zip(found, more)))
        return begin + _BLOCK, _take(both, _first_of_each(both))

    kinds = (tf.int32, tf.string, tf.int32, tf.int32, tf.float64, tf.float64)
    nothing = Texts(*(tf.zeros([0], kind) for kind in kinds))
    _, found = tf.while_loop(
        lambda begin, found: tf.reduce_any(wanted(begin, found)),
        look,
        (0, nothing),
        shape_invariants=(
            tf.TensorShape([]),
            Texts(*[tf.TensorShape([None])] * len(kinds)),
        ),
    )
    return _by_question(found)


def _first_of_each(found):
    """Returns int32: where each text of a question first stands in Texts."""
    numbers = tf.strings.as_string(found.questions)
    keys = tf.strings.join([numbers, found.texts], separator=" ")
    unique = tf.unique(keys)
    return tf.math.unsorted_segment_min(
        tf.range(tf.size(keys)), unique.idx, tf.size(unique.y)
    )


def null_scores(windows, start_logits, end_logits, num_questions):
    """Returns each question's least score of no answer, at [CLS]: float64 [B].

    It is 0 for a question without a window.
    """
    scores = tf.cast(start_logits[:, 0], tf.float64)
    scores += tf.cast(end_logits[:, 0], tf.float64)
    least = tf.math.unsorted_segment_min(
        scores, windows.questions, num_questions
    )
    counts = _count(windows.questions, num_questions)
    return tf.where(counts > 0, least, 0.0)


def best_answers(
    found, num_questions, n_best_size, *, null_scores=None, threshold=0.0
):
    """Picks the answers.

    Args:
      found: Texts, at least `n_best_size` a question, or all there are.
      num_questions: int32 [], B.
      n_best_size: int, at least 1.
      null_scores: float64 [B], see `null_scores`, for SQuAD 2.0; None for 1.1,
        where there always is an answer.
      threshold: float; there is no answer where its score is higher by more.

    Returns:
      dict: `answer`, string [B]; `start_char`, `end_char`, int32 [B];
      `probability`, `null_probability`, float32 [B], as in answers.json. No
      answer is "", from 0 to 0, with its own probability. For SQuAD 1.1 every
      `null_probability` is 0; a question without any text has NO_CANDIDATE,
      from 0 to 0, with probability 1.

    Source: `write_predictions` in run_squad.py (2018).
    """
    counts = _count(found.questions, num_questions)
    is_version_1 = null_scores is None
    if is_version_1:
        # No answer is then never among the best. It has all of the probability
        # where there is no text.
        never = tf.constant(-np.inf, tf.float64)
        null_scores = tf.where(counts > 0, never, 0.0)
    kept = _take(found, _among_the_best(found, n_best_size, null_scores))
    probabilities, null_probabilities = _softmax(kept, null_scores)
    counts = _count(kept.questions, num_questions)
    first = tf.cumsum(counts, exclusive=True)
    best = Texts(*(tf.gather(_padded(column), first) for column in kept))
    odds = null_scores - best.start_logits - best.end_logits
    has_text = (counts > 0) & (odds <= threshold)
    probability = tf.where(
        has_text, tf.gather(_padded(probabilities), first), null_probabilities
    )
    if is_version_1:
        null_probabilities = tf.zeros_like(null_probabilities)
    no_answer = NO_CANDIDATE if is_version_1 else ""
    return {
        "answer": tf.where(has_text, best.texts, no_answer),
        "start_char": tf.where(has_text, best.start_chars, 0),
        "end_char": tf.where(has_text, best.end_chars, 0),
        "probability": tf.cast(probability, tf.float32),
        "null_probability": tf.cast(null_probabilities, tf.float32),
    }


def _among_the_best(found, n_best_size, null_scores):
    """Returns int64, which of Texts are among the n best of their question."""
    num_questions = tf.size(null_scores)
    ranks = _ranks(found.questions, num_questions)
    # If no answer is among the n best, it takes the place of the last of them;
    # otherwise it is one more.
    scores = found.start_logits + found.end_logits
    is_before = scores >= tf.gather(null_scores, found.questions)
    is_before &= ranks < n_best_size
    num_before = tf.math.unsorted_segment_sum(
        tf.cast(is_before, tf.int32), found.questions, num_questions
    )
    sizes = tf.where(num_before < n_best_size, n_best_size - 1, n_best_size)
    return tf.where(ranks < tf.gather(sizes, found.questions))[:, 0]


def _padded(column):
    """Adds a row, for questions that have none of their own."""
    return tf.concat([column, tf.zeros([1], column.dtype)], axis=0)


def _softmax(kept, null_scores):
    """Makes probabilities of each question's scores and that of no answer.

    Returns a pair of float64: [U], of Texts; and [B], of `null_scores`.
    """
    questions, num_questions = kept.questions, tf.size(null_scores)
    scores = kept.start_logits + kept.end_logits
    greatest = tf.math.unsorted_segment_max(scores, questions, num_questions)
    greatest = tf.maximum(greatest, null_scores)
    powers = tf.exp(scores - tf.gather(greatest, questions))
    null_powers = tf.exp(null_scores - greatest)
    totals = null_powers + tf.math.unsorted_segment_sum(
        powers, questions, num_questions
    )
    return powers / tf.gather(totals, questions), null_powers / totals
