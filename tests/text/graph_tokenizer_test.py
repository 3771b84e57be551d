"""Tests of graph_tokenizer and graph_characters: the same as tokenization's.

All comparisons are exact.
"""

import gzip
import json
import random

import pytest
import tensorflow as tf

from bert_tf.text.graph_tokenizer import MAX_INPUT_CHARS_PER_WORD, TextTokenizer
from bert_tf.text.tokenization import FullTokenizer
from tests.text.tokenization_test import NASTY

# Marks that canonical order moves, what a sigma looks past, and invalid bytes.
MOVING = [
    *"\u302e\u302f\U00016ff0\U0001d15e\U0001d160\U0001d165\U0001d16d",
    *"\u0301\u0323\u034f\u20dd\u02b0\u2019\u0345ΣΣΣA.:·'a ",
]
BYTES = b"\xe4\xb8\xad\xf0\x9f\x98\x80\xed\xa0\x80\xc0\xaf\xef\xbb\xbfaB \x00"


class _Both:
    """The tokenizer in a graph and the one in Python."""

    def __init__(self, vocab_file, do_lower_case=True):
        self.python = FullTokenizer(str(vocab_file), do_lower_case)
        self.module = TextTokenizer(self.python.vocab, do_lower_case)
        self.graph = tf.function(
            self.module.tokenize_with_offsets,
            input_signature=[tf.TensorSpec([None], tf.string)],
        )

    def assert_agree(self, texts):
        found = self.graph(tf.constant(texts)).ids.to_list()
        expected = [self.python.tokenize_to_ids(text) for text in texts]
        different = [
            (text, e, f) for text, e, f in zip(texts, expected, found) if e != f
        ]
        assert not different, ascii(different[:3])
        assert len(found) == len(texts)


@pytest.fixture(scope="module")
def lower(request):
    return _Both(request.path.parents[1] / "testdata" / "vocab.txt")


@pytest.fixture(scope="module")
def cased(request):
    return _Both(request.path.parents[1] / "testdata" / "vocab.txt", False)


@pytest.fixture(scope="module")
def pieces(tmp_path_factory):
    """A vocabulary by hand; its ids are the places in this list."""
    path = tmp_path_factory.mktemp("text") / "vocab.txt"
    listed = [
        "[UNK]",
        "un",
        "##aff",
        "##able",
        "a",
        "##a",
        "b",
        "!",
        "ς",
        "##ς",
        "##b",
        "aff",
    ]
    path.write_text("\n".join(listed), encoding="utf-8")
    return _Both(path)


def _ids(both, *texts):
    return both.graph(tf.constant(texts)).ids.to_list()


# What 2018 gave.


@pytest.mark.parametrize(
    ("do_lower_case", "key"), [(True, "lower"), (False, "cased")]
)
def test_tokenize_gives_golden_rows(golden, do_lower_case, key):
    vocab_file = golden / "tasks" / "vocab.txt"
    both = _Both(vocab_file, do_lower_case)
    path = golden / "tokenization_small_vocab.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    found = _ids(both, *(row["text"] for row in rows))
    for row, ids in zip(rows, found, strict=True):
        pieces = both.python.convert_ids_to_tokens(ids)
        assert pieces == row[key], ascii(row["text"])


@pytest.mark.parametrize(
    ("do_lower_case", "key"), [(True, "lower"), (False, "cased")]
)
def test_tokenize_gives_golden_rows_with_the_full_vocabulary(
    shared_file, do_lower_case, key
):
    both = _Both(shared_file("data/vocab/uncased_30522.txt"), do_lower_case)
    path = shared_file("golden/tokenization.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    found = _ids(both, *(row["text"] for row in rows))
    for row, ids in zip(rows, found, strict=True):
        pieces = both.python.convert_ids_to_tokens(ids)
        assert pieces == row[key], ascii(row["text"])


# What the tokenizer in Python gives.


@pytest.mark.parametrize("case", ["lower", "cased"])
def test_tokenize_agrees_on_every_code_point(request, case):
    """Each within a word, and alone."""
    chars = [
        c for c in map(chr, range(0x110000)) if not "\ud800" <= c < "\ue000"
    ]
    # The planes from 4 to 13, and 15 and 16, hold nothing of ours.
    chars = [
        c for c in chars if c < "\U00030100" or "\U000e0000" <= c < "\U000e0200"
    ]
    texts = [
        f"a{'a'.join(chars[i : i + 64])}a {' '.join(chars[i : i + 64])}"
        for i in range(0, len(chars), 64)
    ]
    both = request.getfixturevalue(case)
    both.assert_agree(texts)


@pytest.mark.parametrize("case", ["lower", "cased"])
def test_tokenize_agrees_on_nasty_texts(request, case):
    draw = random.Random(1)
    texts = [
        "".join(draw.choices(NASTY + MOVING, k=draw.randint(0, 30)))
        for _ in range(2000)
    ]
    texts += [
        "".join(draw.choices(MOVING, k=draw.randint(0, 12))) for _ in texts
    ]
    # Halves of a character cannot be written in UTF-8.
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    request.getfixturevalue(case).assert_agree(texts)


def test_tokenize_leaves_invalid_bytes_out(lower):
    draw = random.Random(2)
    texts = [
        bytes(
            draw.choice([draw.randrange(256), draw.choice(BYTES)])
            for _ in range(k)
        )
        for k in range(40)
        for _ in range(50)
    ]
    lower.assert_agree(texts)


def test_tokenize_takes_no_text_at_all(lower):
    assert _ids(lower, "", " ", "\u200b") == [[], [], []]
    empty = lower.graph(tf.constant([], tf.string))
    assert empty.ids.to_list() == []
    assert empty.ends.to_list() == []


def test_tokenize_finds_the_longest_pieces(pieces):
    assert _ids(pieces, "unaffable a!a", "unx", "AAB") == [
        [1, 2, 3, 4, 7, 4],
        [0],
        [4, 5, 10],
    ]


def test_tokenize_knows_the_end_of_a_word_by_its_sigma(pieces):
    """2018 lower-cased with Python's rules, where a final sigma differs."""
    assert _ids(pieces, "AΣ", "AΣ A", "AΣA") == [[4, 9], [4, 9, 4], [0]]


@pytest.mark.parametrize(("more", "expected"), [(0, "a"), (1, "[UNK]")])
def test_tokenize_counts_the_characters_of_a_long_word(pieces, more, expected):
    """Characters, not bytes, and those that are left after clean-up."""
    word = "á" * (MAX_INPUT_CHARS_PER_WORD + more)
    ids = _ids(pieces, word)[0]
    pieces.assert_agree([word, f"b {word} b"])
    assert pieces.python.inv_vocab[ids[0]] == expected


def test_tokenize_with_offsets_gives_places_in_the_text(pieces):
    """Characters 0 to 8 are un-aff-able; "é" is one, its accent may be two."""
    texts = ["unaffable  a", "x! A\u0301b", b"\xffa\x00b"]
    found = pieces.graph(tf.constant(texts))
    assert found.ids.to_list() == [[1, 2, 3, 4], [0, 7, 4, 10], [4, 10]]
    assert found.starts.to_list() == [[0, 2, 5, 11], [0, 1, 3, 5], [0, 2]]
    assert found.ends.to_list() == [[2, 5, 9, 12], [1, 2, 4, 6], [1, 3]]
    assert found.is_first.to_list() == [[1, 0, 0, 1], [1, 1, 1, 0], [1, 0]]


def test_tokenize_with_letters_tells_what_pieces_are_made_of(pieces):
    """The accent is gone; NUL was never there."""
    texts = tf.constant(["unaffable", "", "x! A\u0301\x00b"])
    found, letters = pieces.module.tokenize_with_letters(texts)
    assert found.ids.to_list() == [[1, 2, 3], [], [0, 7, 4, 10]]
    assert letters.code_points.to_list() == [
        [ord(letter) for letter in word] for word in ("unaffable", "", "x!ab")
    ]
    assert letters.chars.to_list() == [list(range(9)), [], [0, 1, 3, 6]]
    assert letters.is_first.to_list() == [[1] + [0] * 8, [], [1, 1, 1, 0]]
    assert letters.piece_starts.to_list() == [[0, 2, 5], [], [0, 1, 2, 3]]
    assert letters.piece_ends.to_list() == [[2, 5, 9], [], [1, 2, 3, 4]]


def test_a_saved_tokenizer_gives_the_same(pieces, tmp_path):
    """Plain operations and tables: nothing of Python is needed."""
    module = tf.Module()
    module.tokenizer = pieces.module
    module.ids = tf.function(
        lambda texts: pieces.module.tokenize(texts).to_tensor(-1),
        input_signature=[tf.TensorSpec([None], tf.string)],
    )
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    ids = loaded.ids(tf.constant(["unaffable", "AΣ"]))
    assert ids.numpy().tolist() == [[1, 2, 3], [4, 9, -1]]
