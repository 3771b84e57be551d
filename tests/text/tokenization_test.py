"""Tests of the tokenizer; vocabulary_test.py has those of its vocabulary."""

import gzip
import json
import random
import subprocess
import sys
import unicodedata

import pytest

from benchmarks.tokenization_benchmark import PlainTokenizer
from bert_tf.text import tokenization

# Whatever might act across a chunk's end, or be cut off with it: each kind of
# white space, controls that str.split() takes for white space, formats, marks,
# letters whose lower case depends on their neighbours or is longer, Hangul,
# ideographs in and around each block, punctuation, symbols, half characters.
NASTY = [
    *"abcXYZ019",
    *" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x00\x7f\x85\xa0\xad",
    *"\u1680\u2003\u2009\u2028\u2029\u202f\u205f\u3000\u200b\u200d\u2060",
    *"\ufeff\ufffd\ue000\u0378\U000e0001\ud800\udfff",
    *"éÉßẞİıΣσςΩ\u0301\u0308\u0345\u05b0\u093e\u094d\u20dd",
    *"\u212a\u212bﬁ\u1fef\u037e\u0340",
    *"안녕\u1100\u1161あカ\u30fc",
    *"中文\u33ff\u3400\u4dbf\u4dc0\u9fff\ua000\uf900\ufaff\ufb00",
    *"\U0001ffff\U00020000\U0002a6df\U0002a6e0\U0002b740\U0002ceb0\U0002f800",
    *"!$'+<>[]^_`|~.,-’“—…¿§♡€½²\u30fb\U0001f600",
]


def _write_vocab(folder, *pieces):
    path = folder / "vocab.txt"
    path.write_text("\n".join(pieces) + "\n", encoding="utf-8", newline="\n")
    return str(path)


def _tokenizer(folder, *pieces, do_lower_case=True):
    vocab_file = _write_vocab(folder, "[UNK]", *pieces)
    return tokenization.FullTokenizer(vocab_file, do_lower_case)


def _one_after_the_other(tokenizer, text):
    """What the two public classes give, without any memory."""
    return [
        piece
        for word in tokenizer.basic_tokenizer.tokenize(text)
        for piece in tokenizer.wordpiece_tokenizer.tokenize(word)
    ]


# What 2018 gave.


def _assert_gives_golden_rows(golden_file, vocab_file):
    """Compares every row; a failure names the characters beyond ASCII.

    The rows were made with Unicode 14. Should a Python with a newer table
    differ, these are the code points whose class has changed.
    """
    lower = tokenization.FullTokenizer(str(vocab_file))
    cased = tokenization.FullTokenizer(str(vocab_file), do_lower_case=False)
    with gzip.open(golden_file, "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    differences = []
    for row in rows:
        text = row.pop("text")
        got = {
            "basic_lower": lower.basic_tokenizer.tokenize(text),
            "basic_cased": cased.basic_tokenizer.tokenize(text),
            "lower": lower.tokenize(text),
            "ids_lower": lower.tokenize_to_ids(text),
            "cased": cased.tokenize(text),
        }
        assert row["ids_lower"] == lower.convert_tokens_to_ids(row["lower"])
        if got != row:
            fields = [name for name in row if got[name] != row[name]]
            beyond_ascii = sorted({hex(ord(c)) for c in text if c > "\x7f"})
            differences.append((fields, text, beyond_ascii))
    assert not differences, f"Unicode {unicodedata.unidata_version}"
    return len(rows)


def test_golden_rows_of_the_small_vocabulary(golden):
    rows = _assert_gives_golden_rows(
        golden / "tokenization_small_vocab.jsonl.gz",
        golden / "tasks" / "vocab.txt",
    )
    assert rows == 311


def test_golden_rows_of_the_full_vocabulary(shared_file):
    rows = _assert_gives_golden_rows(
        shared_file("golden/tokenization.jsonl.gz"),
        shared_file("data/vocab/uncased_30522.txt"),
    )
    assert rows == 671


# The fast way gives what the plain way gives.


@pytest.mark.parametrize("do_lower_case", [True, False])
def test_three_ways_agree_on_random_text(golden, do_lower_case):
    vocab_file = str(golden / "tasks" / "vocab.txt")
    tokenizer = tokenization.FullTokenizer(vocab_file, do_lower_case)
    plain = PlainTokenizer(tokenizer.vocab, do_lower_case)
    generator = random.Random(20181011)
    for _ in range(4000):
        length = generator.randrange(1, 24)
        text = "".join(generator.choices(NASTY, k=length))
        expected = plain.tokenize(text)
        assert _one_after_the_other(tokenizer, text) == expected, ascii(text)
        assert tokenizer.tokenize(text) == expected, ascii(text)
        ids = tokenizer.tokenize_to_ids(text)
        assert tokenizer.convert_ids_to_tokens(ids) == expected, ascii(text)


@pytest.mark.parametrize("do_lower_case", [True, False])
def test_every_odd_character_between_letters(tmp_path, do_lower_case):
    # All white space, controls, formats, marks and ASCII there is.
    odd = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if code < 128
        or chr(code).isspace()
        or unicodedata.category(chr(code)) in ("Cc", "Cf", "Mn", "Zs", "Zl")
    ]
    assert len(odd) > 2000
    tokenizer = _tokenizer(
        tmp_path, "a", "B", "b", "##b", "##B", do_lower_case=do_lower_case
    )
    plain = PlainTokenizer(tokenizer.vocab, do_lower_case)
    for char in odd:
        text = f"a{char}B"
        assert tokenizer.tokenize(text) == plain.tokenize(text), ascii(text)


def test_a_full_memory_is_emptied_and_results_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(tokenization, "MAX_CACHED_CHUNKS", 3)
    tokenizer = _tokenizer(tmp_path, "a", "b", "c", "d", "e")
    for remembered in ("abc", "de"):
        assert tokenizer.tokenize(" ".join(remembered)) == list(remembered)
        assert list(tokenizer._pieces_of_chunk) == list(remembered)
    assert tokenizer.tokenize_to_ids("a b c d e a") == [1, 2, 3, 4, 5, 1]
    assert list(tokenizer._ids_of_chunk) == ["d", "e", "a"]
    assert tokenizer.tokenize_to_ids("a b c d e a") == [1, 2, 3, 4, 5, 1]


def test_a_long_chunk_is_not_remembered(tmp_path, monkeypatch):
    monkeypatch.setattr(tokenization, "MAX_CACHED_CHUNK_LENGTH", 4)
    tokenizer = _tokenizer(tmp_path, "a", "##a")
    assert tokenizer.tokenize("aaaa aaaaa") == ["a"] + 3 * ["##a"] + [
        "a",
        *4 * ["##a"],
    ]
    assert list(tokenizer._pieces_of_chunk) == ["aaaa"]


def test_what_a_caller_does_to_a_result_is_not_remembered(tmp_path):
    tokenizer = _tokenizer(tmp_path, "a")
    tokenizer.tokenize("a").append("b")
    tokenizer.tokenize_to_ids("a").append(7)
    assert tokenizer.tokenize("a") == ["a"]
    assert tokenizer.tokenize_to_ids("a") == [1]


# Text that tokenizers are known to get wrong.


@pytest.mark.parametrize("space", ["\t", "\n", "\r", "\r\n", "\u3000", "\xa0"])
def test_each_white_space_separates_words(tmp_path, space):
    tokenizer = _tokenizer(tmp_path, "one", "line", "##line")
    assert tokenizer.tokenize(f"one{space}line") == ["one", "line"]


@pytest.mark.parametrize("space", ["\u2028", "\u2029"])
def test_line_and_paragraph_separator_separate_words(tmp_path, space):
    tokenizer = _tokenizer(tmp_path, "one", "line", "##line")
    assert tokenizer.tokenize(f"one{space}line") == ["one", "line"]


@pytest.mark.parametrize(
    "removed",
    [*"\0\ufffd\x0b\x0c\x1c\x1d\x1e\x1f\x7f\x85\u200b\u200d\u2060\ufeff\xad"],
)
def test_removed_characters_let_their_neighbours_grow_together(
    tmp_path, removed
):
    tokenizer = _tokenizer(tmp_path, "hello", "world", "##world")
    text = f"hello{removed}world"
    assert tokenizer.tokenize(text) == ["hello", "##world"]
    assert tokenizer.tokenize_to_ids(text) == [1, 3]
    assert tokenizer.tokenize(removed) == []
    assert tokenizer.tokenize_to_ids(removed) == []


def test_a_symbol_stays_in_its_word_and_makes_it_unknown(tmp_path):
    tokenizer = _tokenizer(tmp_path, "hello", "world")
    assert tokenizer.tokenize("hello♡ world") == ["[UNK]", "world"]
    assert tokenizer.tokenize("hello! world") == ["hello", "[UNK]", "world"]


@pytest.mark.parametrize("letter", ["a", "é"])
def test_word_length_limit_counts_characters(tmp_path, letter):
    tokenizer = _tokenizer(tmp_path, letter, f"##{letter}", do_lower_case=False)
    longest = [letter] + 199 * [f"##{letter}"]
    assert tokenizer.tokenize(200 * letter) == longest
    assert tokenizer.tokenize(201 * letter) == ["[UNK]"]


def test_special_tokens_in_text_are_split_like_any_word(tmp_path):
    tokenizer = _tokenizer(
        tmp_path, "[MASK]", "the", "[", "mask", "]", "sat", "MASK"
    )
    split = ["the", "[", "mask", "]", "sat"]
    assert tokenizer.tokenize("the [MASK] sat") == split
    cased = tokenization.BasicTokenizer(do_lower_case=False)
    assert cased.tokenize("[MASK]") == ["[", "MASK", "]"]


def test_hangul_is_taken_apart_when_lower_casing(tmp_path):
    pieces = ("안", "##녕")
    lower = _tokenizer(tmp_path, *pieces)
    cased = _tokenizer(tmp_path, *pieces, do_lower_case=False)
    assert lower.tokenize("안녕") == ["[UNK]"]
    assert cased.tokenize("안녕") == ["안", "##녕"]


def test_accents_are_not_recombined_when_cased(tmp_path):
    pieces = ("é", "e", "##\u0301")
    cased = _tokenizer(tmp_path, *pieces, do_lower_case=False)
    assert cased.tokenize("e\u0301 é") == ["e", "##\u0301", "é"]
    lower = _tokenizer(tmp_path, *pieces)
    assert lower.tokenize("e\u0301 é É") == ["e", "e", "e"]


def test_a_final_sigma_is_final_in_its_own_word():
    basic = tokenization.BasicTokenizer()
    assert basic.tokenize("ΣΑΣ\u2028ΣΑ") == ["σας", "σα"]
    assert basic.tokenize("ΑΣ\u200bΑ") == ["ασα"]


def test_ideographs_stand_alone_and_kana_do_not():
    basic = tokenization.BasicTokenizer()
    assert basic.tokenize("ab中文cdカナ") == ["ab", "中", "文", "cdカナ"]


def test_wordpiece_takes_the_longest_piece_first():
    wordpiece = tokenization.WordpieceTokenizer(
        {"un": 0, "u": 1, "##aff": 2, "##able": 3, "##a": 4}, unk_token="?"
    )
    assert wordpiece.tokenize("unaffable unx") == ["un", "##aff", "##able", "?"]
    assert wordpiece.tokenize("") == []


def test_wordpiece_limit_is_an_argument():
    wordpiece = tokenization.WordpieceTokenizer(
        {"a", "##a", "aaaa"}, max_input_chars_per_word=3
    )
    assert wordpiece.tokenize("aaa aaaa") == ["a", "##a", "##a", "[UNK]"]


# Kinds of text.


def test_bytes_are_read_as_utf8_and_bad_bytes_left_out(tmp_path):
    assert tokenization.convert_to_unicode("é".encode()) == "é"
    assert tokenization.convert_to_unicode(b"a\xe9b") == "ab"
    assert tokenization.printable_text("é".encode()) == "é"
    tokenizer = _tokenizer(tmp_path, "a", "b")
    assert tokenizer.tokenize(b"A b") == ["a", "b"]
    assert tokenizer.tokenize_to_ids(b"A b") == [1, 2]


@pytest.mark.parametrize(
    "convert", [tokenization.convert_to_unicode, tokenization.printable_text]
)
def test_text_of_another_type_is_an_error(convert):
    with pytest.raises(ValueError, match=r"str or bytes, not int \(7\)"):
        convert(7)


def test_whitespace_tokenize_gives_no_empty_word():
    words = tokenization.whitespace_tokenize(" a \t b\n")
    assert words == ["a", "b"]
    assert tokenization.whitespace_tokenize("  ") == []


def test_vocab_without_unk_serves_until_a_word_is_unknown(tmp_path):
    vocab_file = _write_vocab(tmp_path, "a", "b")
    tokenizer = tokenization.FullTokenizer(vocab_file)
    assert tokenizer.tokenize_to_ids("b a") == [1, 0]
    assert tokenizer.tokenize("b x") == ["b", "[UNK]"]
    with pytest.raises(KeyError, match=r"'\[UNK\]' is not in the vocabulary"):
        tokenizer.tokenize_to_ids("b x")


def test_tokenization_needs_no_tensorflow():
    code = (
        "import sys, bert_tf.tokenization;"
        "assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
