"""The tokenizer as tables of numbers, for tokenizing inside a graph.

`tokenization.BasicTokenizer` changes each character by itself, but for a few,
called contextual here. So a table from code point to outcome holds all that it
does. The tables are made by asking the tokenizer itself, and so follow the
running Python's Unicode.

A symbol is what a character becomes: twice a code point, plus one if it is a
word by itself (punctuation and ideographs). SPACE ends a word.
"""

import dataclasses
import functools
import unicodedata

import numpy as np

from bert_tf.text.tokenization import BasicTokenizer

NUM_CODE_POINTS = 0x110000
PAGE_SIZE = 256  # code points
SPACE = 2 * ord(" ")

# An entry from here on is the number of a row of `Outcomes.rows`. A smaller one
# is added to twice the code point, which gives the one symbol that it becomes.
FIRST_ROW = 1 << 24

# The lower case of this letter depends on its place in the word.
SIGMA, FINAL_SIGMA = 0x3A3, 0x3C2

# The bits of `context`: a byte with the combining class; then these.
NUM_CLASSES = 1 << 8
IS_CASED, IS_SKIPPED, IS_REMOVED = 1 << 8, 1 << 9, 1 << 10

# Keeps characters apart that go through the tokenizer together: it is neither
# changed nor joined to anything.
_SEPARATOR = "\ue000"

# 21 bits hold any code point.
EDGE = 1 << 21


@dataclasses.dataclass(frozen=True)
class Paged:
    """One int32 a code point; pages that are alike stand once."""

    pages: np.ndarray  # int32 [NUM_CODE_POINTS / PAGE_SIZE], which of the pages
    entries: np.ndarray  # int32 [PAGE_SIZE times the different pages]

    @classmethod
    def of(cls, values):
        """Pages `values`, int32 [NUM_CODE_POINTS]."""
        different, pages = np.unique(
            values.reshape(-1, PAGE_SIZE), axis=0, return_inverse=True
        )
        return cls(pages.reshape(-1).astype(np.int32), different.reshape(-1))


@dataclasses.dataclass(frozen=True)
class Outcomes:
    """What becomes of each code point."""

    entries: Paged  # see FIRST_ROW
    rows: list  # of tuple of int, the symbols where they are not just one
    num_contextual: int  # the first rows are those of contextual characters


@functools.cache
def characters(do_lower_case):
    """Makes the table of BasicTokenizer(do_lower_case); returns Outcomes."""
    tokenizer = BasicTokenizer(do_lower_case)
    code_points = _code_points()
    outcomes = tokenizer.set_words_apart(_joined(code_points))
    outcomes = dict(zip(code_points, outcomes.split(_SEPARATOR), strict=True))
    entries = np.zeros([NUM_CODE_POINTS], np.int32)
    # A contextual one has a row of its own, which tells it from all others.
    contextual = _contextual() if do_lower_case else []
    rows = [_symbols(outcomes.pop(code_point)) for code_point in contextual]
    entries[contextual] = FIRST_ROW + np.arange(len(contextual))
    numbers = {}
    for code_point, outcome in outcomes.items():
        symbols = _symbols(outcome)
        if len(symbols) == 1:
            entries[code_point] = symbols[0] - 2 * code_point
        else:
            if symbols not in numbers:
                numbers[symbols] = len(rows)
                rows.append(symbols)
            entries[code_point] = FIRST_ROW + numbers[symbols]
    return Outcomes(Paged.of(entries), rows, len(contextual))


def _code_points():
    """Lists those that the tokenizer may change, and many that it does not.

    Ideographs, assigned or not, are on planes 0 and 2.
    """
    unchanged = ("Cn", "Co", "Cs")
    return [
        code_point
        for code_point in range(NUM_CODE_POINTS)
        if code_point < 0x30000
        and not 0xD800 <= code_point < 0xE000
        and chr(code_point) != _SEPARATOR
        or unicodedata.category(chr(code_point)) not in unchanged
    ]


def _joined(code_points):
    return _SEPARATOR.join(map(chr, code_points))


def _symbols(outcome):
    """Turns a text with words apart into a tuple of symbols."""
    words = outcome.split()
    if outcome and not words:
        return (SPACE,)
    return tuple(
        2 * ord(char) + (len(word) == 1 and outcome.startswith(" "))
        for word in words
        for char in word
    )


def _contextual():
    """Lists the code points whose outcome depends on those around them.

    Canonical order moves marks by their combining class. Most of these (Mn) are
    dropped afterwards, so that their order does not matter.
    """
    moving = [
        code_point
        for code_point in range(NUM_CODE_POINTS)
        if unicodedata.combining(chr(code_point))
        and unicodedata.category(chr(code_point)) != "Mn"
    ]
    return [SIGMA, *moving]


@functools.cache
def context():
    """Makes the table of how characters act on contextual ones near by.

    Returns:
      Paged: for each code point the combining class of its canonical
      decomposition's first character; IS_REMOVED if the clean-up removes it;
      IS_CASED if a final sigma may follow it; IS_SKIPPED if a sigma is decided
      by what is beyond it, since it is removed or, in Unicode's words,
      case-ignorable.
    """
    cased = BasicTokenizer(do_lower_case=False)
    values = np.zeros([NUM_CODE_POINTS], np.int32)
    code_points = _code_points()
    text = _joined(code_points)
    alone = text.replace(_SEPARATOR, f"Σ{_SEPARATOR}") + "Σ"
    after_letter = "a" + alone.replace(_SEPARATOR, f"{_SEPARATOR}a")
    outcomes = zip(
        code_points,
        cased.set_words_apart(text).split(_SEPARATOR),
        unicodedata.normalize("NFD", text.lower()).split(_SEPARATOR),
        alone.lower().split(_SEPARATOR),
        after_letter.lower().split(_SEPARATOR),
        strict=True,
    )
    for code_point, cleaned, decomposed, first, second in outcomes:
        value = unicodedata.combining(decomposed[0])
        if first.endswith("ς"):
            value |= IS_CASED
        elif second.endswith("ς"):
            value |= IS_SKIPPED
        if not cleaned:
            value |= IS_SKIPPED | IS_REMOVED
        values[code_point] = value
    return Paged.of(values)


@dataclasses.dataclass(frozen=True)
class Pieces:
    """The vocabulary as two tries: pieces that begin a word, and that go on."""

    edges: np.ndarray  # int64 [E], node * EDGE + code point
    targets: np.ndarray  # int64 [E], the node that each leads to
    piece_ids: np.ndarray  # int32 [nodes], the piece that ends there, else -1

    # Where a word begins, and where it goes on.
    BEGIN, GO_ON = 0, 1


def pieces(vocab):
    """Makes the Pieces of a vocabulary: dict, piece (str) -> id (int)."""
    targets = {}
    piece_ids = [-1, -1]
    for piece, piece_id in vocab.items():
        # No word begins with "##": "#" is always a word by itself.
        goes_on = piece.startswith("##")
        node = Pieces.GO_ON if goes_on else Pieces.BEGIN
        for char in piece[2:] if goes_on else piece:
            edge = node * EDGE + ord(char)
            if edge not in targets:
                targets[edge] = len(piece_ids)
                piece_ids.append(-1)
            node = targets[edge]
        if node > Pieces.GO_ON:
            piece_ids[node] = piece_id
    return Pieces(
        np.fromiter(targets.keys(), np.int64, len(targets)),
        np.fromiter(targets.values(), np.int64, len(targets)),
        np.array(piece_ids, np.int32),
    )
