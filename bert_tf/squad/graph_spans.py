"""Pieces back to the words of a context inside a graph, exactly as in 2018.

2018 counts letters: those of the words that an answer's pieces are in, and
those of the tokens made of these words. If both have equally many, the n-th
letter of the one is the n-th of the other, and the answer begins where the text
of its pieces first occurs. Otherwise, or with an unknown word among them, the
answer is the whole words. Here a word ends at blank, tab, CR, LF and U+202F.

B contexts; all of them stand one after the other, in
K characters of words · V words · T letters, what tokenizing leaves · P pieces
N spans of pieces
"""

from typing import NamedTuple

import tensorflow as tf

BLANK = 0x20
_SPACES = (BLANK, 0x09, 0x0A, 0x0D, 0x202F)


class Places(NamedTuple):
    """Where spans are; all int32 [N].

    `first`, `last`: the first and the last character, among those of words.
    `start_chars`, `end_chars`: the same in the context, the end excluded; bytes
    that are not UTF-8 left out.
    """

    first: tf.Tensor
    last: tf.Tensor
    start_chars: tf.Tensor
    end_chars: tf.Tensor


class _Words(NamedTuple):
    """The characters of contexts; int32.

    `written`: [..], code points of words, and a blank before each but the
    first. `places`: [K], where in `written` each character is. `chars`: [K],
    where in its context. `word_at`: [characters of all], the word of each.
    `starts`: [V + 1], each word's first of K; then K.
    """

    written: tf.Tensor
    places: tf.Tensor
    chars: tf.Tensor
    word_at: tf.Tensor
    starts: tf.Tensor


def _read_words(decoded):
    """Splits contexts (int32 [B, (characters)]) as 2018 did; returns _Words."""
    code_points = decoded.values
    is_space = tf.reduce_any(
        code_points[:, tf.newaxis] == tf.constant(_SPACES), axis=1
    )
    texts = tf.cast(decoded.value_rowids(), tf.int32)
    size = tf.size(code_points)
    is_new_text = tf.concat([[True], texts[1:] != texts[:-1]], axis=0)[:size]
    after_space = tf.concat([[True], is_space], axis=0)[:size]
    is_start = ~is_space & (after_space | is_new_text)
    # Of the white space before a word only the last character is written.
    precedes = tf.concat([(is_start & ~is_new_text)[1:], [False]], axis=0)
    is_written = ~is_space | precedes[:size]
    solid = tf.where(~is_space)[:, 0]  # [K]
    text_starts = tf.cast(decoded.row_starts(), tf.int32)
    written = tf.boolean_mask(
        tf.where(is_space, BLANK, code_points), is_written
    )
    starts = tf.where(tf.gather(is_start, solid))[:, 0]
    return _Words(
        written=written,
        places=tf.gather(_numbers(is_written), solid),
        chars=tf.cast(solid, tf.int32)
        - tf.gather(text_starts, tf.gather(texts, solid)),
        word_at=_numbers(is_start),
        starts=tf.concat([tf.cast(starts, tf.int32), [tf.size(solid)]], axis=0),
    )


def _numbers(marks):
    """Returns int32: how many of bool `marks` are true so far, less one."""
    return tf.cumsum(tf.cast(marks, tf.int32)) - 1


class Spans:
    """Finds what spans of the pieces of some contexts stand for.

    Source: `get_final_text` in run_squad.py (2018), as in squad.final_text.
    """

    def __init__(self, contexts, pieces, letters, unknown_id):
        """Reads contexts, string [B], with their TextPieces and TextLetters.

        `unknown_id`: int, the id of [UNK].
        """
        decoded = tf.strings.unicode_decode(contexts, "UTF-8", errors="ignore")
        self._words = words = _read_words(decoded)
        text_starts = tf.cast(decoded.row_starts(), tf.int32)

        def word_of(chars):
            starts = tf.gather(text_starts, chars.value_rowids())
            return tf.gather(words.word_at, starts + chars.values)

        self._word_of_piece = word_of(pieces.starts)  # [P]
        # Each word's first letter, then T: [V + 1].
        self._letter_starts = tf.searchsorted(
            word_of(letters.chars), tf.range(tf.size(words.starts))
        )
        letters_before = tf.cast(letters.chars.row_starts(), tf.int32)
        letters_before = tf.gather(
            letters_before, letters.piece_starts.value_rowids()
        )
        self._piece_starts = letters.piece_starts.values + letters_before
        self._piece_ends = letters.piece_ends.values + letters_before
        self._code_points = letters.code_points.values
        self._is_first = letters.is_first.values
        is_unknown = tf.cast(pieces.ids.values == unknown_id, tf.int32)
        self._unknown_before = tf.concat([[0], tf.cumsum(is_unknown)], axis=0)

    def find(self, first_pieces, last_pieces):
        """Returns the Places of N spans, each within one context.

        They go from `first_pieces` to `last_pieces`, int32 [N], counted in the
        pieces of all contexts.
        """
        first_word = tf.gather(self._word_of_piece, first_pieces)
        after_word = tf.gather(self._word_of_piece, last_pieces) + 1
        letter = tf.gather(self._letter_starts, first_word)
        after_letter = tf.gather(self._letter_starts, after_word)
        char = tf.gather(self._words.starts, first_word)
        after_char = tf.gather(self._words.starts, after_word)
        num_unknown = tf.gather(
            self._unknown_before, last_pieces + 1
        ) - tf.gather(self._unknown_before, first_pieces)
        is_whole = (num_unknown > 0) | (
            after_letter - letter != after_char - char
        )
        start = tf.gather(self._piece_starts, first_pieces)
        length = tf.gather(self._piece_ends, last_pieces) - start
        found = self._first_occurrences(
            tf.where(is_whole, start, letter), start, length
        )
        first = tf.where(is_whole, char, char + found - letter)
        last = tf.where(is_whole, after_char, first + length) - 1
        return Places(
            first=first,
            last=last,
            start_chars=tf.gather(self._words.chars, first),
            end_chars=tf.gather(self._words.chars, last) + 1,
        )

    def texts(self, places):
        """Returns the texts of Places, string [N]; white space is one blank."""
        first = tf.gather(self._words.places, places.first)
        last = tf.gather(self._words.places, places.last)
        taken = tf.ragged.range(first, last + 1)
        return tf.strings.unicode_encode(
            taken.with_values(tf.gather(self._words.written, taken.values)),
            "UTF-8",
        )

    def _first_occurrences(self, begins, starts, lengths):
        """Finds where texts of letters first occur: int32 [N].

        Texts go from `starts` and have `lengths` letters, at least 1. They are
        sought from `begins` on, which are not after `starts`. All: int32 [N].
        """
        code_points, is_first = self._code_points, self._is_first
        tried = tf.ragged.range(begins, starts)

        # All places are compared with their text at once, one letter a step,
        # and those that differ are dropped: few are left after the first
        # letter. The text may begin within a word; its further words must begin
        # where words begin at the place, too.
        def read(distance, found, texts, places):
            own = tf.gather(starts, texts) + distance
            other = places + distance
            is_same = tf.gather(code_points, own) == tf.gather(
                code_points, other
            )
            is_same &= (distance == 0) | (
                tf.gather(is_first, own) == tf.gather(is_first, other)
            )
            is_all = is_same & (tf.gather(lengths, texts) == distance + 1)
            found = tf.tensor_scatter_nd_min(
                found,
                tf.boolean_mask(texts, is_all)[:, tf.newaxis],
                tf.boolean_mask(places, is_all),
            )
            left = tf.where(is_same & ~is_all)[:, 0]
            texts, places = tf.gather(texts, left), tf.gather(places, left)
            return distance + 1, found, texts, places

        any_length = tf.TensorShape([None])
        texts = tf.cast(tried.value_rowids(), tf.int32)
        return tf.while_loop(
            lambda distance, found, texts, places: tf.size(texts) > 0,
            read,
            (0, starts, texts, tried.values),
            shape_invariants=(tf.TensorShape([]), *[any_length] * 3),
        )[1]
