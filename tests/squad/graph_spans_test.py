"""Tests of bert_tf.squad.graph_spans; all comparisons are exact."""

import random

import pytest
import tensorflow as tf

from bert_tf.squad import graph_spans
from bert_tf.squad.examples import Context
from bert_tf.squad.final_text import ContextReader
from bert_tf.squad.windows import ContextTokenizer
from bert_tf.text.graph_tokenizer import TextTokenizer
from bert_tf.text.tokenization import FullTokenizer

# What words are spelled with; "q" and U+6587 are not in the vocabulary.
_ALPHABET = [
    *"aabbcABC",
    *"qx.,(-#['",
    *("ab", "aba", "##"),
    # Accents: one character, two, alone; one moved by the canonical order.
    *("\u00e9", "\u00c9", "e\u0301", "\u0301", "\u1e69", "\u0315", "\u302e"),
    # A letter that becomes two or three, and what is removed.
    *("\u0130", "\uac00", "\uac01", "\u0085", "\u200b", "\x00", "\ufb01"),
    *("\u03a3", "\u03a3\u03a3", "\u00df", "\u4e2d", "\u6587", "\u4e2d\u4e2d"),
    # Within words of 2018, although tokens end there.
    *("\u00a0", "\u3000", "\u2028", "\U0001f600"),
    # Between words of 2018.
    *("   \t\r\n\u202f"),
]
_LETTERS = (
    "abcABCx.,()-#[]'e\u00e9\u00c9\u0130i\u1100\u1161\u11a8\uac00\uac01"
    "\u03c3\u03c2\u03a3\u00df\u4e2d\ufb01s\u302e\u0301\U0001f600"
)


class _Both:
    """The tokenizer and the spans of both sides."""

    def __init__(self, folder, do_lower_case):
        path = folder / "vocab.txt"
        pieces = ["[PAD]", "[UNK]", "ab", "##ab", "##aba", "\u4e2d"]
        pieces += [prefix + x for x in _LETTERS for prefix in ("", "##")]
        path.write_text("\n".join(dict.fromkeys(pieces)) + "\n")
        python = FullTokenizer(str(path), do_lower_case)
        self.contexts = ContextTokenizer(python)
        self.reader = ContextReader(do_lower_case)
        self.tokenizer = TextTokenizer(python.vocab, do_lower_case)

    @tf.function(
        input_signature=[
            tf.TensorSpec([None], tf.string),
            *[tf.TensorSpec([None], tf.int32)] * 2,
        ],
        autograph=False,
    )
    def find(self, contexts, first_pieces, last_pieces):
        pieces, letters = self.tokenizer.tokenize_with_letters(contexts)
        spans = graph_spans.Spans(
            contexts, pieces, letters, self.tokenizer.unknown_id
        )
        places = spans.find(first_pieces, last_pieces)
        return spans.texts(places), places.start_chars, places.end_chars

    def expected(self, texts, most):
        """Yields first and last piece; text, first and next character."""
        before = 0
        for text in texts:
            tokenized = self.contexts.tokenize(Context(text))
            read = self.reader.read(tokenized)
            num_pieces = len(tokenized.pieces)
            for first in range(num_pieces):
                for last in range(first, min(first + most, num_pieces)):
                    start, end = read.span(first, last)
                    yield (
                        before + first,
                        before + last,
                        read.text[start:end].encode(),
                        read.context_char(start),
                        read.context_char(end - 1) + 1,
                    )
            before += num_pieces

    def assert_agree(self, texts, most=9):
        """Compares all spans of at most so many pieces."""
        first, last, *expected = zip(*self.expected(texts, most))
        found = self.find(
            tf.constant(texts), tf.constant(first), tf.constant(last)
        )
        rows = zip(*(column.numpy().tolist() for column in found))
        for span, row, wanted in zip(zip(first, last), rows, zip(*expected)):
            assert row == wanted, ascii((texts, span))
        return list(zip(*expected))


@pytest.fixture(scope="module", params=[True, False])
def both(request, tmp_path_factory):
    return _Both(tmp_path_factory.mktemp("spans"), request.param)


def test_spans_of_plain_words(both):
    """White space of any length is one blank; the next character is after."""
    found = both.assert_agree(["a  (b)\n\u202fc.", "", " b"], most=6)
    assert found[:6] == [
        (b"a", 0, 1),
        (b"a (", 0, 4),
        (b"a (b", 0, 5),
        (b"a (b)", 0, 6),
        (b"a (b) c", 0, 9),
        (b"a (b) c.", 0, 10),
    ]
    assert found[-1] == (b"b", 1, 2)


def test_spans_that_occur_before_in_their_word(both):
    """As in 2018 the first occurrence counts: piece 4 is found as piece 2."""
    found = both.assert_agree(["x a-a-a a"], most=1)
    assert [start for _, start, _ in found] == [0, 2, 3, 2, 3, 2, 8]


def test_spans_of_words_that_are_not_spelled(both):
    """An unknown word, and a removed character: the whole words."""
    found = both.assert_agree(["(q) b\u200bc, x"], most=1)
    assert [text.decode() for text, *_ in found] == [
        *("(", "(q)", ")"),
        *["b\u200bc,"] * 3,
        "x",
    ]


@pytest.mark.parametrize("seed", range(25))
def test_spans_agree_with_python(both, seed):
    draw = random.Random(seed)
    texts = [
        "".join(draw.choices(_ALPHABET, k=draw.randrange(60)))
        for _ in range(20)
    ]
    both.assert_agree(texts)


def test_spans_of_a_word_without_end(both):
    """Each of 300 ideographs is found where the first one is."""
    found = both.assert_agree(["\u4e2d" * 300], most=3)
    assert {start for _, start, _ in found} == {0}


def test_spans_of_bytes_that_are_not_utf_8(both):
    """They are left out before characters are counted."""
    text, start, end = both.find(
        tf.constant([b"x", b"\xffab \xc3(b"]),
        tf.constant([1]),
        tf.constant([3]),
    )
    assert text.numpy().tolist() == [b"ab (b"]
    assert (start.numpy().tolist(), end.numpy().tolist()) == ([0], [5])
