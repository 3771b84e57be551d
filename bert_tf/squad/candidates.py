"""Logits to candidates: the spans of pieces that may be the answer, best first.

Each step is taken for all windows of many questions at once; some hundred
questions at a time are fastest.

Q questions, W windows of them all, S max_seq_length, K n_best_size (or S if
that is less), C candidates of them all
"""

import dataclasses

import numpy as np

from bert_tf.errors import UserError

# A candidate that stands for "no answer" has this piece.
NO_PIECE = -1

# How many candidates of a question are turned into Python numbers at a time.
# Mostly one block is enough for the n best, since few texts occur twice.
_BLOCK = 48


@dataclasses.dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of Q questions.

    `bounds`: list of Q + 1 int; those of question q stand from bounds[q] to
    bounds[q + 1], best first. `start_piece`, `end_piece`: int64 [C], first and
    last piece in the context, NO_PIECE for no answer. `start_logit`,
    `end_logit`: float64 [C]. `null_logits`: list of Q pairs of float, the
    start and end logit of no answer; None for SQuAD 1.1.
    """

    bounds: list
    start_piece: np.ndarray
    end_piece: np.ndarray
    start_logit: np.ndarray
    end_logit: np.ndarray
    null_logits: list | None

    def of(self, question):
        """Yields a question's (int) candidates as tuples, best first."""
        stop = self.bounds[question + 1]
        for begin in range(self.bounds[question], stop, _BLOCK):
            block = slice(begin, min(begin + _BLOCK, stop))
            yield from zip(
                self.start_piece[block].tolist(),
                self.end_piece[block].tolist(),
                self.start_logit[block].tolist(),
                self.end_logit[block].tolist(),
            )


def choose(
    questions,
    start_logits,
    end_logits,
    *,
    n_best_size,
    max_answer_length,
    version_2_with_negative,
):
    """Chooses and sorts the candidates of some questions.

    In each window the `n_best_size` best positions for a start are paired with
    as many for an end. The best are sought among all S positions, padding
    included; pairs that cannot be answers are dropped after that.

    Args:
      questions: sequence of Q windows.Question.
      start_logits, end_logits: float32 [W, S], for the windows of all
        questions in order.
      n_best_size: int, at least 1.
      max_answer_length: int, at least 1, pieces.
      version_2_with_negative: bool, whether "no answer" is a candidate too.

    Returns:
      Candidates. Equally good ones of a question stand in the order of the
      windows, then of the starts' ranks, then of the ends'; no answer is last.

    Raises:
      UserError: a logit is NaN or infinite; names the question.

    Source: `write_predictions` in run_squad.py (2018), which went on with NaN.
    """
    bounds = np.cumsum([0, *(len(question.windows) for question in questions)])
    assert len(start_logits) == len(end_logits) == bounds[-1]
    start_logits = np.ascontiguousarray(start_logits, np.float32)
    end_logits = np.ascontiguousarray(end_logits, np.float32)
    _require_finite(questions, bounds, start_logits, end_logits)
    windows = [window for question in questions for window in question.windows]
    found = _pairs(
        windows, start_logits, end_logits, n_best_size, max_answer_length
    )
    question_of_window = np.repeat(np.arange(len(questions)), np.diff(bounds))
    question_of = question_of_window[found[0]]
    columns, null_logits = found[1:], None
    if version_2_with_negative:
        null_logits = _null_logits(bounds, start_logits, end_logits)
        # A question without windows has no candidate at all.
        with_windows = np.flatnonzero(np.diff(bounds))
        question_of = np.concatenate([question_of, with_windows])
        no_piece = np.full(len(with_windows), NO_PIECE)
        starts, ends = np.reshape(null_logits, [-1, 2])[with_windows].T
        no_answer = no_piece, no_piece, starts, ends
        columns = [np.concatenate(pair) for pair in zip(columns, no_answer)]
    scores = columns[2] + columns[3]
    order = np.lexsort((-scores, question_of))  # Stable.
    counts = np.bincount(question_of, minlength=len(questions))
    return Candidates(
        [0, *np.cumsum(counts).tolist()],
        *(column[order] for column in columns),
        null_logits,
    )


def _require_finite(questions, bounds, start_logits, end_logits):
    is_finite = np.isfinite(start_logits) & np.isfinite(end_logits)
    if is_finite.all():
        return
    window, position = np.argwhere(~is_finite)[0]
    question = questions[np.searchsorted(bounds, window, side="right") - 1]
    raise UserError(
        f"Question {question.qas_id!r}: the logits at position {position} are "
        f"{start_logits[window, position]} (start) and "
        f"{end_logits[window, position]} (end), not finite numbers, so the "
        "model has diverged. Train it anew with a lower --learning_rate, or "
        "use another checkpoint."
    )


def _pairs(windows, start_logits, end_logits, n_best_size, max_answer_length):
    """Pairs the best starts of each window with its best ends.

    Returns five arrays [C]: int64 window, start piece and end piece, and
    float64 start logit and end logit.
    """
    starts = _best_positions(start_logits, n_best_size)  # [W, K]
    ends = _best_positions(end_logits, n_best_size)
    may_start, may_end = _allowed(windows, start_logits.shape)
    rows = np.arange(len(windows))[:, None]  # [W, 1]
    # A start that is not allowed is moved behind all ends, an end that is not
    # allowed before all starts: such a pair ends before it starts.
    behind = start_logits.shape[1]
    usable_starts = np.where(may_start[rows, starts], starts, behind)
    usable_ends = np.where(may_end[rows, ends], ends, -1)
    more = usable_ends[:, None, :] - usable_starts[:, :, None]  # [W, K, K]
    # One comparison drops pairs that are too long and pairs that end before
    # they start: read as unsigned, a negative number is a very large one.
    fits = more.view(np.uint32) < max_answer_length
    window, start_rank, end_rank = np.unravel_index(
        np.flatnonzero(fits), fits.shape
    )  # [C] each
    start, end = starts[window, start_rank], ends[window, end_rank]
    shift = np.array([w.start - w.offset for w in windows], np.int64)[window]
    return (
        window,
        start + shift,
        end + shift,
        start_logits[window, start].astype(np.float64),
        end_logits[window, end].astype(np.float64),
    )


def _best_positions(logits, n_best_size):
    """Ranks the positions of each window.

    Returns int32 [W, K], highest logit first, of equal ones the lower position.

    Source: `_get_best_indexes` in run_squad.py (2018).
    """
    length = logits.shape[1]
    # Sorting whole numbers is faster. Bits of floats, read as whole numbers,
    # are in the order of the floats, but negative ones in reverse. Adding 0
    # turns -0 into 0, which must rank the same.
    bits = (logits + np.float32(0)).view(np.int32)
    ranks = np.where(bits < 0, bits ^ np.int32(0x7FFFFFFF), bits)
    # The position is part of the key, so that no two keys are equal, and the
    # order of equal logits does not depend on how NumPy sorts.
    keys = ranks.astype(np.int64) * length + np.arange(length)[::-1]
    rest = max(length - n_best_size, 0)
    if rest:
        keys = np.partition(keys, rest, axis=-1)[:, rest:]  # [W, K]
    keys = np.sort(keys, axis=-1)[:, ::-1]
    return (length - 1 - keys % length).astype(np.int32)


def _allowed(windows, shape):
    """Marks where answers may begin and where they may end: bool [W, S] both.

    Both are in the context. An answer begins only in the window that has most
    context around the piece, so that none is found twice.
    """
    may_start, may_end = np.zeros(shape, bool), np.zeros(shape, bool)
    for row, window in enumerate(windows):
        pieces = slice(window.offset, window.offset + window.length)
        may_start[row, pieces] = window.is_max_context
        may_end[row, pieces] = True
    return may_start, may_end


def _null_logits(bounds, start_logits, end_logits):
    """Finds the window of each question where no answer scores least.

    Returns a list of Q pairs of float, the start and the end logit at [CLS] in
    the first such window; 0 and 0 for a question without windows.
    """
    starts = start_logits[:, 0].astype(np.float64)  # [W]
    ends = end_logits[:, 0].astype(np.float64)
    scores = starts + ends
    pairs = []
    for begin, end in zip(bounds[:-1], bounds[1:]):
        if begin == end:
            pairs.append((0.0, 0.0))
            continue
        least = begin + np.argmin(scores[begin:end])
        pairs.append((float(starts[least]), float(ends[least])))
    return pairs
