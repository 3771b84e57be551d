"""Logits to candidates: the spans of pieces that may be the answer, best first.

All windows of many questions take each step at once; some hundred questions at
a time are fastest.

Q questions, W windows of them all, S max_seq_length, K n_best_size (or S if
that is less), C candidates of them all
"""

import dataclasses

import numpy as np

from bert_tf.errors import UserError

# A candidate that stands for "no answer" has this piece.
NO_PIECE = -1

# So many candidates of a question leave NumPy at a time: mostly enough, since
# few texts occur twice.
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
        """Yields one question's (int) candidates, best first.

        Yields:
          (start_piece, end_piece, start_logit, end_logit): int, int, float,
          float.
        """
        columns = (
            self.start_piece,
            self.end_piece,
            self.start_logit,
            self.end_logit,
        )
        stop = self.bounds[question + 1]
        for begin in range(self.bounds[question], stop, _BLOCK):
            block = slice(begin, min(begin + _BLOCK, stop))
            yield from zip(*(column[block].tolist() for column in columns))


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
      start_logits: float32 [W, S], for the windows of all questions in order.
      end_logits: float32 [W, S].
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
        columns = _append_null(columns, np.array(null_logits)[with_windows])
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

    Args:
      windows: list of W windows.Window.
      start_logits: float32 [W, S].
      end_logits: float32 [W, S].
      n_best_size: int.
      max_answer_length: int.

    Returns:
      five arrays [C]: int64 window, start piece and end piece, and float64
      start logit and end logit.
    """
    starts = _best_positions(start_logits, n_best_size)  # [W, K]
    ends = _best_positions(end_logits, n_best_size)
    may_start, may_end = _allowed(windows, start_logits.shape)
    rows = np.arange(len(windows))[:, None]  # [W, 1]
    # What is not allowed is moved where no end can be after its start.
    far = start_logits.shape[1]
    usable_starts = np.where(may_start[rows, starts], starts, far)
    usable_ends = np.where(may_end[rows, ends], ends, -1)
    more = usable_ends[:, None, :] - usable_starts[:, :, None]  # [W, K, K]
    # Without a sign, a negative number is too large as well.
    fits = more.view(np.uint32) < max_answer_length
    flat = np.flatnonzero(fits)  # [C]
    num_best = starts.shape[1]
    window, rank = np.divmod(flat, num_best * num_best)
    start_rank, end_rank = np.divmod(rank, num_best)
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

    Args:
      logits: float32 [W, S].
      n_best_size: int.

    Returns:
      int32 [W, K], highest logit first, of equal ones the lower position.

    Source: `_get_best_indexes` in run_squad.py (2018).
    """
    length = logits.shape[1]
    # Read as whole numbers, floats keep their order, except that negative ones
    # are upside down. Adding 0 makes -0, which equals 0, the same number.
    bits = (logits + np.float32(0)).view(np.int32)
    ranks = np.where(bits < 0, bits ^ np.int32(0x7FFFFFFF), bits)
    # With the position in it no two keys are equal, so any way to sort will do.
    keys = ranks.astype(np.int64) * length + np.arange(length)[::-1]
    rest = max(length - n_best_size, 0)
    if rest:
        keys = np.partition(keys, rest, axis=-1)[:, rest:]  # [W, K]
    keys = np.sort(keys, axis=-1)[:, ::-1]
    return (length - 1 - keys % length).astype(np.int32)


def _allowed(windows, shape):
    """Marks where answers may begin and where they may end: bool [W, S] both.

    They begin and end in the context; and they begin only in the window that
    has most context around the piece, so that none is found twice.
    """
    may_start, may_end = np.zeros(shape, bool), np.zeros(shape, bool)
    for row, window in enumerate(windows):
        pieces = slice(window.offset, window.offset + window.length)
        may_start[row, pieces] = window.is_max_context
        may_end[row, pieces] = True
    return may_start, may_end


def _null_logits(bounds, start_logits, end_logits):
    """Finds each question's least score of no answer.

    Returns:
      list of Q pairs of float, start and end logit at [CLS] in the (first)
      window with the least sum; 0 and 0 for a question without windows.
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


def _append_null(columns, null_logits):
    """Puts candidates for no answer after the others.

    Args:
      columns: four arrays [C], see Candidates.
      null_logits: float64 [N, 2].

    Returns:
      list of four arrays [C + N].
    """
    no_piece = np.full(len(null_logits), NO_PIECE, np.int64)
    added = (no_piece, no_piece, *null_logits.reshape(-1, 2).T)
    return [np.concatenate(pair) for pair in zip(columns, added)]
