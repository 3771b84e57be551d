"""A context cut into windows, each beside the question.

    [CLS] question [SEP] window [SEP]

A window begins `doc_stride` pieces after the one before it, so that they
overlap; the last one ends with the context.
"""

import dataclasses
import functools

import numpy as np

from bert_tf.errors import UserError
from bert_tf.squad.examples import Context

# [CLS] and two [SEP].
NUM_SPECIAL = 3

# Sizes of the caches of `plan_windows` and of each tokenizer's words.
_PLANS_REMEMBERED = 1024
_WORDS_REMEMBERED = 1 << 16


@dataclasses.dataclass(frozen=True, eq=False)
class TokenizedContext:
    """A context in word pieces.

    `context`: examples.Context. `pieces`: list of str, those of all words in
    order. `ids`: list of int, theirs. `word_to_piece`: list of int, each word's
    first piece, and at the end the number of pieces.
    """

    context: Context
    pieces: list
    ids: list
    word_to_piece: list

    @functools.cached_property
    def piece_to_word(self):
        """int32 np.ndarray, the word of each piece."""
        num_pieces = np.diff(self.word_to_piece)
        return np.repeat(np.arange(len(num_pieces), dtype=np.int32), num_pieces)


@dataclasses.dataclass(frozen=True, eq=False)
class Window:
    """A part of a context beside a question.

    `offset`: int, the position of its first piece in the sequence. `start`:
    int, the index of that piece in the context. `length`: int, its pieces.
    `is_max_context`: bool np.ndarray [length], whether no other window has more
    context around the piece.
    """

    offset: int
    start: int
    length: int
    is_max_context: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Question:
    """A question cut up for the model.

    `qas_id`: str. `question_ids`: list of int, its pieces, cut to
    --max_query_length. `tokenized`: TokenizedContext. `windows`: list of
    Window; none if the context has no word.
    """

    qas_id: str
    question_ids: list
    tokenized: TokenizedContext
    windows: list


class ContextTokenizer:
    """Splits contexts into pieces; words recur, and are remembered."""

    def __init__(self, tokenizer):
        """Stores `tokenizer` (tokenization.FullTokenizer)."""

        @functools.lru_cache(_WORDS_REMEMBERED)
        def pieces_of(word):
            pieces = tuple(tokenizer.tokenize(word))
            return pieces, tuple(tokenizer.convert_tokens_to_ids(pieces))

        self._pieces_of = pieces_of

    def tokenize(self, context):
        """Returns the TokenizedContext of a Context."""
        pieces, ids, word_to_piece = [], [], []
        for word in context.words:
            word_to_piece.append(len(pieces))
            word_pieces, word_ids = self._pieces_of(word)
            pieces += word_pieces
            ids += word_ids
        word_to_piece.append(len(pieces))
        return TokenizedContext(context, pieces, ids, word_to_piece)


def require_room(max_seq_length, max_query_length, doc_stride):
    """Refuses sizes (int) that leave no room for the context or do not move on.

    Source: `validate_flags_or_throw` in run_squad.py (2018), which did not look
      at the stride; where this was not called, it looped for ever.
    """
    least = max_query_length + NUM_SPECIAL + 1
    if max_seq_length < least:
        raise UserError(
            f"--max_seq_length={max_seq_length} leaves no room for the context "
            f"beside --max_query_length={max_query_length} pieces of question, "
            f"[CLS] and two [SEP]. Raise it to {least} or more, or lower "
            "--max_query_length."
        )
    if max_query_length < 0 or doc_stride < 1:
        raise UserError(
            f"--max_query_length={max_query_length} must be 0 or more, and "
            f"--doc_stride={doc_stride} must be 1 or more."
        )


@functools.lru_cache(_PLANS_REMEMBERED)
def plan_windows(num_pieces, window_length, doc_stride):
    """Cuts a context into windows.

    Worked example, 10 pieces, windows of 6, stride 3: they begin at 0, 3 and 6
    (the last has 4 pieces).

    Args:
      num_pieces: int, of the context.
      window_length: int, at least 1, the pieces that a window has room for.
      doc_stride: int, at least 1; one longer than the window is cut to it, so
        that every piece is in a window.

    Returns:
      tuple of (start, length, is_max_context), see Window.

    Source: `convert_examples_to_features` in run_squad.py (2018).
    """
    spans, start = [], 0
    while start < num_pieces:
        length = min(num_pieces - start, window_length)
        spans.append((start, length))
        if start + length == num_pieces:
            break
        start += min(length, doc_stride)
    best = _best_windows(num_pieces, spans)
    return tuple(
        (start, length, best[start : start + length] == index)
        for index, (start, length) in enumerate(spans)
    )


def _best_windows(num_pieces, spans):
    """Tells in which window each piece has most context on both sides.

    Of equally good windows the first counts; a longer one is a little better.
    `spans`: list of (start, length). Returns int np.ndarray [num_pieces].

    Source: `_check_is_max_context` in run_squad.py (2018).
    """
    best_score = np.full(num_pieces, -np.inf)
    best_index = np.zeros(num_pieces, np.int64)
    for index, (start, length) in enumerate(spans):
        left = np.arange(length)
        score = np.minimum(left, left[::-1]) + 0.01 * length
        inside = slice(start, start + length)
        is_better = score > best_score[inside]
        best_score[inside][is_better] = score[is_better]
        best_index[inside][is_better] = index
    return best_index


def improve_answer_span(pieces, first_piece, last_piece, answer_pieces):
    """Narrows an answer's words down to the pieces of its own text.

    Example: for "1895" in the word "(1895-1943)." the pieces are those of the
    first number alone. Where no such run of pieces is found, the words stay.

    Args:
      pieces: list of str, of the context.
      first_piece, last_piece: int, of the answer's words.
      answer_pieces: list of str, of the answer's text.

    Source: `_improve_answer_span` in run_squad.py (2018), which tried every
      span; only those as long as the answer can match.
    """
    num_pieces = len(answer_pieces)
    if num_pieces:
        for first in range(first_piece, last_piece - num_pieces + 2):
            if pieces[first : first + num_pieces] == answer_pieces:
                return first, first + num_pieces - 1
    return first_piece, last_piece


def answer_positions(window, is_impossible, first_piece, last_piece):
    """Returns an answer's first and last position (int) in the sequence.

    Both are 0, that of [CLS], where there is no answer or it is not wholly in
    the Window. Pieces are counted in the context.

    Source: `convert_examples_to_features` in run_squad.py (2018).
    """
    is_inside = (
        first_piece >= window.start
        and last_piece < window.start + window.length
    )
    if is_impossible or not is_inside:
        return 0, 0
    shift = window.offset - window.start
    return first_piece + shift, last_piece + shift
