"""Spans of pieces to words of the context."""

import random

import pytest

from bert_tf.squad import final_text
from bert_tf.squad.examples import Context
from bert_tf.squad.windows import ContextTokenizer
from bert_tf.text.tokenization import FullTokenizer


@pytest.mark.parametrize(
    ("pred_text", "orig_text", "expected"),
    [
        ("steve smith", "Steve Smith's", "Steve Smith"),
        ("1895", "(1895-1943).", "1895"),
        ("cafe", "Café,", "Café"),
        # Blanks do not count, wherever the tokens have them.
        ("3 . 5 %", "(3.5%)", "3.5%"),
        # Not found.
        ("[UNK]", "x-ray", "x-ray"),
        # The accent is a character of its own and has vanished.
        ("cafe", "Cafe\u0301,", "Cafe\u0301,"),
        # One syllable has become three letters.
        ("a", "a \ud55c", "a \ud55c"),
        # Begins or ends with a blank; empty.
        (" smith", "Steve Smith", "Steve Smith"),
        ("steve ", "Steve Smith", "Steve Smith"),
        ("", "Steve", "Steve"),
        ("a", "", ""),
        # What occurs twice is taken where it occurs first.
        ("the", "Then-the", "The"),
    ],
)
def test_get_final_text(pred_text, orig_text, expected):
    found = final_text.get_final_text(pred_text, orig_text, do_lower_case=True)
    assert found == expected


def test_get_final_text_of_a_cased_model():
    assert final_text.get_final_text("Smith", "(Smith)", False) == "Smith"
    assert final_text.get_final_text("smith", "(Smith)", False) == "(Smith)"


def test_join_pieces():
    pieces = ["##able", "to", "walk", "##ed", "#", "1"]
    assert final_text.join_pieces(pieces) == "able to walked # 1"


def _read(tmp_path, text, pieces, do_lower_case=True):
    vocab_file = tmp_path / "vocab.txt"
    vocab_file.write_text("\n".join(["[UNK]", "[CLS]", "[SEP]", *pieces]))
    tokenizer = FullTokenizer(str(vocab_file), do_lower_case)
    tokenized = ContextTokenizer(tokenizer).tokenize(Context(text))
    reader = final_text.ContextReader(do_lower_case)
    return tokenized, reader.read(tokenized)


def test_read_context_worked_example(tmp_path):
    # Pieces: a ##b , [UNK] a
    tokenized, context = _read(
        tmp_path, " Ab,\n\n Zz  A", ["a", "##b", "b", ","]
    )
    assert tokenized.pieces == ["a", "##b", ",", "[UNK]", "a"]
    assert context.text == "Ab, Zz A"
    assert context.uncertain_words == [1]
    assert context.span(0, 1) == (0, 2)
    assert context.span(1, 2) == (1, 3)
    # Where there is [UNK], all words are given.
    assert context.span(1, 3) == (0, 6)
    assert context.span(4, 4) == (7, 8)
    assert [context.context_char(char) for char in (0, 2, 4, 7)] == [
        1,
        3,
        7,
        11,
    ]


def test_read_context_takes_the_first_occurrence_in_the_first_word(tmp_path):
    tokenized, context = _read(tmp_path, "b a-b-a c", ["a", "b", "c", "-"])
    assert tokenized.pieces == ["b", "a", "-", "b", "-", "a", "c"]
    # The second "a" of "a-b-a" is found as the first; the "b" in the word
    # before does not count; "a c" is there once.
    assert context.span(5, 5) == (2, 3)
    assert context.span(3, 3) == (4, 5)
    assert context.span(5, 6) == (6, 9)


def test_read_context_of_no_words(tmp_path):
    tokenized, context = _read(tmp_path, " \n", ["a"])
    assert not tokenized.pieces
    assert context.text == ""


# Decomposed and composed accents, ß, a dotted İ, final sigma, Hangul, a vowel
# sign, ideographs, full-width and ASCII punctuation, a zero-width space, a
# replacement character, white space that does not split words, the long s.
_ALPHABET = [
    *"aAbB" * 4,
    *"     ",
    *"..,-'#[]$",
    *"éÉßẞİıΣσς\ud55c\u093f中文，\u0301\u0327\u200b\ufffd\u00a0\u3000\u017f",
    *"\t\n\u202f\u2028\x0b",
    "[UNK]",
    "##",
]


# Mostly words that their pieces spell, with parts that occur again.
_PLAIN = [*"aAbB" * 5, *"     ", *".,-'é\u0301"]


@pytest.mark.parametrize("do_lower_case", [True, False])
@pytest.mark.parametrize("alphabet", [_ALPHABET, _PLAIN])
def test_spans_are_those_of_get_final_text(tmp_path, do_lower_case, alphabet):
    generator = random.Random(12345)
    letters = "aAbBeéßiıσς中,.-'[]#文"
    continued = ["##" + part for part in [*"aAbBeisσ", "ab", "ba"]]
    num_certain = num_uncertain = 0
    for _ in range(200):
        text = "".join(generator.choices(alphabet, k=generator.randint(1, 40)))
        tokenized, context = _read(
            tmp_path, text, [*letters, *continued, "unk"], do_lower_case
        )
        num_uncertain += len(context.uncertain_words)
        num_certain += len(tokenized.context.words)
        for first in range(len(tokenized.pieces)):
            for last in range(first, min(first + 12, len(tokenized.pieces))):
                start, end = context.span(first, last)
                expected = _final_text(tokenized, first, last, do_lower_case)
                assert context.text[start:end] == expected, (text, first, last)
    num_certain -= num_uncertain
    # Else only one of the two ways would have been tried.
    assert num_uncertain > 20
    assert num_certain > (400 if alphabet is _PLAIN else 20)


def _final_text(tokenized, first, last, do_lower_case):
    """Does for a span of pieces what 2018 did."""
    first_word = tokenized.piece_to_word[first]
    last_word = tokenized.piece_to_word[last]
    words = tokenized.context.words[first_word : last_word + 1]
    pieces = tokenized.pieces[first : last + 1]
    return final_text.get_final_text(
        final_text.join_pieces(pieces), " ".join(words), do_lower_case
    )
