"""Texts to ids inside a graph, id for id as `tokenization.FullTokenizer` does.

Reading order: `TextTokenizer`, then what it does with a text: characters to
symbols (`graph_characters`), symbols to words (`_Words`), words to pieces.
Plain TensorFlow operations only, so that a SavedModel runs wherever TensorFlow
does.

B texts · C symbols of all texts together · W words of all · other letters as
elsewhere. "[B, (pieces)]" is ragged.
"""

from typing import NamedTuple

import tensorflow as tf

from bert_tf.text import code_points
from bert_tf.text.code_points import EDGE, SPACE, Pieces
from bert_tf.text.graph_characters import Characters
from bert_tf.text.tokenization import WordpieceTokenizer

MAX_INPUT_CHARS_PER_WORD = WordpieceTokenizer({}).max_input_chars_per_word

# In the place of a piece's id: none begins here; none could be found.
_NONE, _NOT_FOUND = -1, -2


class TextPieces(NamedTuple):
    """The pieces of texts, all int32 [B, (pieces)].

    Characters are counted without bytes that are not UTF-8.
    """

    ids: tf.RaggedTensor
    starts: tf.RaggedTensor  # a piece's first character, by its place in a text
    ends: tf.RaggedTensor  # what comes after its last character
    is_first: tf.RaggedTensor  # 1 for the first piece of a word, else 0


class TextLetters(NamedTuple):
    """What is left of texts without the blanks between words; all int32."""

    code_points: tf.RaggedTensor  # [B, (letters)]
    chars: tf.RaggedTensor  # [B, (letters)], which character each is from
    is_first: tf.RaggedTensor  # [B, (letters)], 1 for the first of a word
    piece_starts: tf.RaggedTensor  # [B, (pieces)], a piece's first letter
    piece_ends: tf.RaggedTensor  # [B, (pieces)], what comes after its last


class _Words(NamedTuple):
    """The symbols within words, and the words."""

    code_points: tf.Tensor  # int64 [C]
    chars: tf.Tensor  # int32 [C], see Symbols
    texts: tf.Tensor  # int32 [C]
    words: tf.Tensor  # int32 [C], which word each symbol is in
    starts: tf.Tensor  # int32 [W], each word's first symbol
    ends: tf.Tensor  # int32 [W], what comes after its last


class _Unread(NamedTuple):
    """The words that are not yet wholly made of pieces; int32, nodes int64."""

    starts: tf.Tensor  # where the current piece begins
    places: tf.Tensor  # the next character
    nodes: tf.Tensor  # the node of the trie that it leads from
    piece_ends: tf.Tensor  # of the longest piece so far
    piece_ids: tf.Tensor  # of the same, or _NOT_FOUND
    ends: tf.Tensor  # of the word


class TextTokenizer(tf.Module):
    """Tokenizes in a graph, with the vocabulary in it.

    Making its tables takes a few seconds.

    Args:
      vocab: dict, piece (str) -> id (int), with "[UNK]".
      do_lower_case: bool, true for an uncased model.

    Source: `FullTokenizer` in tokenization.py (2018). Bytes that are not UTF-8
      are left out, as there. Exact for all code points.
    """

    def __init__(self, vocab, do_lower_case):
        super().__init__(name="text_tokenizer")
        self._characters = Characters(do_lower_case)
        tries = code_points.pieces(vocab)
        self._edges = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(tries.edges, tries.targets),
            default_value=-1,
        )
        self._piece_ids = tf.constant(tries.piece_ids)
        self.unknown_id = vocab["[UNK]"]

    def tokenize(self, texts):
        """Splits texts (string [B], UTF-8) into ids, int32 [B, (pieces)]."""
        return self.tokenize_with_offsets(texts).ids

    def tokenize_with_offsets(self, texts):
        """Splits texts (string [B], UTF-8) into pieces; returns TextPieces."""
        return self.tokenize_with_letters(texts)[0]

    def tokenize_with_letters(self, texts):
        """Splits texts (string [B], UTF-8) into TextPieces and TextLetters."""
        words = _split(self._characters(texts))
        piece_ids = self._find_pieces(words)
        at = tf.where(piece_ids != _NONE)[:, 0]  # int64 [pieces]
        at32 = tf.cast(at, tf.int32)
        word = tf.gather(words.words, at)
        # The pieces of a word follow each other without a gap.
        next_at = tf.concat([at32[1:], [tf.size(piece_ids)]], axis=0)
        next_at = next_at[: tf.size(at32)]
        ends = tf.minimum(next_at, tf.gather(words.ends, word))
        by_letter = _by_text(words.texts, words.chars, texts)
        by_piece = _by_text(tf.gather(words.texts, at), at32, texts)
        row_starts = tf.cast(by_letter.row_starts(), tf.int32)
        before = tf.gather(row_starts, by_piece.value_rowids())
        is_first = tf.cast(_is_start(words), tf.int32)
        pieces = TextPieces(
            ids=by_piece.with_values(tf.gather(piece_ids, at)),
            starts=by_piece.with_values(tf.gather(words.chars, at)),
            ends=by_piece.with_values(tf.gather(words.chars, ends - 1) + 1),
            is_first=by_piece.with_values(tf.gather(is_first, at)),
        )
        return pieces, TextLetters(
            code_points=by_letter.with_values(
                tf.cast(words.code_points, tf.int32)
            ),
            chars=by_letter,
            is_first=by_letter.with_values(is_first),
            piece_starts=by_piece.with_values(at32 - before),
            piece_ends=by_piece.with_values(ends - before),
        )

    def _find_pieces(self, words):
        """Finds the longest pieces of each word, left to right.

        All words are gone through at once, a character at a time. Returns int32
        [C]: the piece that begins at a symbol, or _NONE.

        Source: `WordpieceTokenizer` in tokenization.py (2018).
        """
        found = tf.fill([tf.size(words.code_points)], _NONE)
        size = tf.size(words.starts)
        unread = _Unread(
            starts=words.starts,
            places=words.starts,
            nodes=tf.fill([size], tf.constant(Pieces.BEGIN, tf.int64)),
            piece_ends=words.starts,
            piece_ids=tf.fill([size], _NOT_FOUND),
            ends=words.ends,
        )
        any_length = tf.TensorShape([None])
        found, _ = tf.while_loop(
            lambda found, unread: tf.size(unread.starts) > 0,
            lambda found, unread: self._read_a_character(words, found, unread),
            (found, unread),
            shape_invariants=(
                any_length,
                _Unread(*[any_length] * len(unread)),
            ),
        )
        return self._with_unknown_words(words, found)

    def _read_a_character(self, words, found, unread):
        """One step of `_find_pieces`; returns the next loop variables."""
        starts, places, nodes, piece_ends, piece_ids, ends = unread
        code_points = tf.gather(
            words.code_points, tf.minimum(places, tf.size(found) - 1)
        )
        targets = self._edges.lookup(nodes * EDGE + code_points)
        goes_on = (places < ends) & (targets >= 0)
        nodes = tf.where(goes_on, targets, Pieces.GO_ON)
        ids = tf.gather(self._piece_ids, nodes)
        is_piece = goes_on & (ids >= 0)
        # Where no piece goes on, the next begins behind the longest so far.
        places = tf.where(goes_on, places + 1, piece_ends)
        piece_ends = tf.where(is_piece, places, piece_ends)
        piece_ids = tf.where(is_piece, ids, piece_ids)
        stopped = tf.where(~goes_on)
        found = tf.tensor_scatter_nd_update(
            found,
            tf.gather_nd(starts, stopped)[:, tf.newaxis],
            tf.gather_nd(piece_ids, stopped),
        )
        is_done = ~goes_on & ((piece_ends == ends) | (piece_ids == _NOT_FOUND))
        starts = tf.where(goes_on, starts, piece_ends)
        piece_ids = tf.where(goes_on, piece_ids, _NOT_FOUND)
        left = tf.where(~is_done)[:, 0]
        unread = (starts, places, nodes, piece_ends, piece_ids, ends)
        return found, _Unread(*(tf.gather(values, left) for values in unread))

    def _with_unknown_words(self, words, found):
        """Makes one unknown piece of a word that is too long or not found."""
        not_found = tf.math.unsorted_segment_max(
            tf.cast(found == _NOT_FOUND, tf.int32),
            words.words,
            tf.size(words.starts),
        )
        is_long = words.ends - words.starts > MAX_INPUT_CHARS_PER_WORD
        is_unknown = tf.gather((not_found > 0) | is_long, words.words)
        unknown = tf.where(_is_start(words), self.unknown_id, _NONE)
        return tf.where(is_unknown, unknown, found)


def _is_start(words):
    """Tells (bool [C]) which symbols begin a word."""
    places = tf.range(tf.size(words.words))
    return places == tf.gather(words.starts, words.words)


def _by_text(rows, values, texts):
    """Returns values [..] as ragged [B, (..)]; rows: int32, their texts."""
    return tf.RaggedTensor.from_value_rowids(
        values,
        tf.cast(rows, tf.int64),
        tf.size(texts, tf.int64),
        validate=False,
    )


def _split(symbols):
    """Turns Symbols into _Words."""
    is_space = symbols.symbols == SPACE
    is_alone = symbols.symbols % 2 == 1
    ends_word = is_space | is_alone
    size = tf.size(is_space)
    after_end = tf.concat([[True], ends_word], axis=0)[:size]
    before = tf.concat([[-1], symbols.texts], axis=0)[:size]
    is_start = after_end | is_alone | (symbols.texts != before)
    inside = tf.where(~is_space)[:, 0]
    is_start = tf.gather(is_start, inside)
    starts = tf.cast(tf.where(is_start)[:, 0], tf.int32)
    ends = tf.concat([starts, [tf.size(is_start)]], axis=0)[1:]
    return _Words(
        code_points=tf.cast(tf.gather(symbols.symbols // 2, inside), tf.int64),
        chars=tf.gather(symbols.chars, inside),
        texts=tf.gather(symbols.texts, inside),
        words=tf.cumsum(tf.cast(is_start, tf.int32)) - 1,
        starts=starts,
        ends=ends[: tf.size(starts)],
    )
