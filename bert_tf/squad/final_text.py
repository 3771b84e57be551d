"""A span of pieces to the words of the context, as they stand there.

Pieces are lower-cased and have lost accents; an answer is to be cut from the
context itself. `_Alignment` does so for any two texts the way 2018 did, with
one text after the other; `ReadContext` gives the same spans of one context,
and for most of them only looks up positions that were added up once.
"""

import bisect
import dataclasses
import functools
import logging

import numpy as np

from bert_tf.squad.windows import TokenizedContext
from bert_tf.text.tokenization import BasicTokenizer

_logger = logging.getLogger("absl")


def get_final_text(pred_text, orig_text, do_lower_case):
    """Cuts from a text what a text of pieces stands for.

    Worked example: "steve smith" in "Steve Smith's" gives "Steve Smith". Where
    a letter became two or none, as with Hangul and vowel signs, letters cannot
    be counted off against each other, and the whole text is given.

    Args:
      pred_text: str, pieces joined to words, with one blank between.
      orig_text: str, words of the context, with one blank between.
      do_lower_case: bool.

    Source: `get_final_text` in run_squad.py (2018).
    """
    alignment = _Alignment(orig_text, BasicTokenizer(do_lower_case))
    start, end = alignment.span(pred_text)
    return orig_text[start:end]


def join_pieces(pieces):
    """Joins pieces (list of str) to words with one blank between.

    Source: `write_predictions` in run_squad.py (2018).
    """
    text = " ".join(pieces).replace(" ##", "").replace("##", "")
    return " ".join(text.split())


class _Alignment:
    """Tells which characters of a text its BasicTokenizer's tokens are from."""

    def __init__(self, orig_text, tokenizer):
        self._orig_text = orig_text
        self._tokenizer = tokenizer

    @functools.cached_property
    def _token_text(self):
        return " ".join(self._tokenizer.tokenize(self._orig_text))

    @functools.cached_property
    def _orig_chars(self):
        """Where the characters of the tokens' text stand in the original.

        If both have equally many characters that are no blanks, the n-th of the
        one comes from the n-th of the other: list of int, None for a blank.
        Otherwise None.
        """
        orig_text, token_text = self._orig_text, self._token_text
        chars = [i for i, char in enumerate(orig_text) if char != " "]
        if len(chars) != len(token_text) - token_text.count(" "):
            return None
        place = iter(chars)
        return [None if char == " " else next(place) for char in token_text]

    def span(self, pred_text):
        """Finds where a text of pieces, see `get_final_text`, first occurs.

        Returns the span (pair of int, its end excluded) in the original text:
        all of it if `pred_text` is empty, is not found or cannot be aligned.
        """
        whole = 0, len(self._orig_text)
        start = self._token_text.find(pred_text)
        if start < 0 or not pred_text or self._orig_chars is None:
            return whole
        first = self._orig_chars[start]
        last = self._orig_chars[start + len(pred_text) - 1]
        if first is None or last is None:
            return whole
        return first, last + 1


class ContextReader:
    """Reads contexts: works out, once for each, where its pieces stand."""

    def __init__(self, do_lower_case):
        """Stores `do_lower_case` (bool), with which contexts were cut up."""
        self._tokenizer = BasicTokenizer(do_lower_case)

    def read(self, tokenized):
        """Returns the ReadContext of a windows.TokenizedContext."""
        words, pieces = tokenized.context.words, tokenized.pieces
        # A token begins with a blank here, the first one too.
        parts = [
            piece[2:] if piece.startswith("##") else " " + piece
            for piece in pieces
        ]
        token_text = "".join(parts)
        sizes = np.array(list(map(len, parts)), np.int64)
        has_blank = sizes > np.array(list(map(len, pieces)), np.int64)
        token_ends = np.cumsum(sizes)
        letters = np.concatenate([[0], np.cumsum(sizes - has_blank)])
        word_lengths = np.array(list(map(len, words)), np.int64)
        word_starts = np.cumsum(word_lengths + 1) - word_lengths - 1
        letters_before = letters[tokenized.word_to_piece]
        is_uncertain = np.diff(letters_before) != word_lengths
        if "#" in token_text or "[UNK]" in token_text:
            for index, part in enumerate(parts):
                if "#" in part or part == " [UNK]":
                    is_uncertain[tokenized.piece_to_word[index]] = True
        # For each piece: from letters of tokens to characters of the text. Each
        # word has its own, so uncertain words before it do no harm.
        shift = (word_starts - letters_before[:-1])[tokenized.piece_to_word]
        return ReadContext(
            tokenized=tokenized,
            tokenizer=self._tokenizer,
            text=" ".join(words),
            word_starts=word_starts.tolist(),
            uncertain_words=np.flatnonzero(is_uncertain).tolist(),
            starts=(letters[:-1] + shift).tolist(),
            ends=(letters[1:] + shift).tolist(),
            token_text=token_text,
            token_starts=(token_ends - sizes + has_blank).tolist(),
            token_ends=token_ends.tolist(),
        )


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ReadContext:
    """Finds what spans of a context's pieces stand for.

    The pieces of most words spell them character for character. In a span of
    such words the tokens have exactly the letters of the words, so the places
    of its first and last letter can be looked up. One case needs a search: if
    the span begins within a word, its text may occur earlier in that word, and
    the first occurrence counts. Everything else goes through `_Alignment`.

    The other words are "uncertain": those with [UNK], those where a letter
    became two or none; and, since ## marks pieces, those with a # in them.

    `text`: str, the context's words with one blank between. The lists of int:
    `word_starts`, the character of `text` at which each word begins;
    `uncertain_words`; `starts` and `ends`, where each piece's letters stand in
    `text`, if its word is certain; `token_starts` and `token_ends`, where they
    stand in `token_text` (str), the tokens with a blank before each.
    """

    tokenized: TokenizedContext
    tokenizer: BasicTokenizer
    text: str
    word_starts: list
    uncertain_words: list
    starts: list
    ends: list
    token_text: str
    token_starts: list
    token_ends: list
    _alignments: dict = dataclasses.field(default_factory=dict)

    @functools.cached_property
    def _piece_to_word(self):
        return self.tokenized.piece_to_word.tolist()

    def span(self, first_piece, last_piece):
        """Finds what the pieces from the first to the last (int) stand for.

        Returns the span (pair of int, its end excluded) of `text`: what
        `get_final_text` cuts from the words in which the pieces are.
        """
        first_word = self._piece_to_word[first_piece]
        last_word = self._piece_to_word[last_piece]
        if self.uncertain_words and self._is_uncertain(first_word, last_word):
            return self._align(first_piece, last_piece)
        word_piece = self.tokenized.word_to_piece[first_word]
        if first_piece != word_piece:
            word_start = self.token_starts[word_piece]
            start = self.token_starts[first_piece]
            end = self.token_ends[last_piece]
            token_text = self.token_text
            if token_text.find(token_text[start:end], word_start, end) < start:
                return self._align(first_piece, last_piece)
        return self.starts[first_piece], self.ends[last_piece]

    def _is_uncertain(self, first_word, last_word):
        place = bisect.bisect_left(self.uncertain_words, first_word)
        return (
            place < len(self.uncertain_words)
            and self.uncertain_words[place] <= last_word
        )

    def _align(self, first_piece, last_piece):
        first_word = self._piece_to_word[first_piece]
        last_word = self._piece_to_word[last_piece]
        shift = self.word_starts[first_word]
        alignment = self._alignments.get((first_word, last_word))
        if alignment is None:
            words = self.tokenized.context.words[first_word : last_word + 1]
            alignment = _Alignment(" ".join(words), self.tokenizer)
            self._alignments[first_word, last_word] = alignment
        pieces = self.tokenized.pieces[first_piece : last_piece + 1]
        start, end = alignment.span(join_pieces(pieces))
        return shift + start, shift + end

    def context_char(self, char):
        """Returns where a character (int) of `text` is in Context.text."""
        word = bisect.bisect_right(self.word_starts, char) - 1
        word_start = self.tokenized.context.word_starts[word]
        return word_start + char - self.word_starts[word]
