"""Tests of the vocabulary, by the names that bert_tf.tokenization gives it."""

import collections
import gzip
import re

import pytest

from bert_tf import tokenization
from bert_tf.errors import UserError


def _write_vocab(folder, *pieces):
    path = folder / "vocab.txt"
    path.write_text("\n".join(pieces) + "\n", encoding="utf-8", newline="\n")
    return str(path)


# The vocabulary file.


def test_vocab_keeps_order_and_numbers_lines_from_zero(tmp_path):
    vocab = tokenization.load_vocab(_write_vocab(tmp_path, "[PAD]", "b", "a"))
    assert isinstance(vocab, collections.OrderedDict)
    assert list(vocab.items()) == [("[PAD]", 0), ("b", 1), ("a", 2)]


@pytest.mark.parametrize("line", ["", "  ", "\u2028", "\x85", "\x0b", "\x1c"])
def test_vocab_line_of_white_space_takes_an_id(tmp_path, line):
    vocab_file = _write_vocab(tmp_path, "[PAD]", "[UNK]", line, "hello")
    vocab = tokenization.load_vocab(vocab_file)
    assert vocab["hello"] == 3
    assert vocab[""] == 2


@pytest.mark.parametrize("inner", [*"\u2028\x85\x0b\x0c\x1c\r"])
def test_vocab_lines_end_at_line_feeds_only(tmp_path, inner):
    vocab_file = _write_vocab(tmp_path, "[PAD]", f"a{inner}b", "hello")
    vocab = tokenization.load_vocab(vocab_file)
    assert list(vocab) == ["[PAD]", f"a{inner}b", "hello"]


def test_vocab_with_windows_line_ends_and_no_last_line_end(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"[PAD]\r\n the\t\r\nlast")
    vocab = tokenization.load_vocab(str(path))
    assert vocab == {"[PAD]": 0, "the": 1, "last": 2}


def test_vocab_counts_blank_lines_at_both_ends(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"\n[PAD]\n\n")
    vocab = tokenization.load_vocab(str(path))
    assert list(vocab.items()) == [("", 2), ("[PAD]", 1)]


def test_vocab_piece_that_stands_twice_has_the_later_id(tmp_path):
    vocab_file = _write_vocab(tmp_path, "[UNK]", "a", "b", "a")
    tokenizer = tokenization.FullTokenizer(vocab_file)
    assert list(tokenizer.vocab.items()) == [("[UNK]", 0), ("a", 3), ("b", 2)]
    assert tokenizer.tokenize_to_ids("a") == [3]
    with pytest.raises(KeyError, match=r"1 is not in the vocabulary"):
        tokenizer.convert_ids_to_tokens([3, 1])


def test_vocab_byte_order_mark_is_left_out_with_a_warning(tmp_path, caplog):
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"\xef\xbb\xbf[PAD]\nhello\n")
    assert tokenization.load_vocab(str(path)) == {"[PAD]": 0, "hello": 1}
    (record,) = caplog.records
    assert "byte-order mark" in record.getMessage()
    assert str(path) in record.getMessage()


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"[PAD]\n[UNK]\nr\xe9sum\n", r"vocab\.txt, line 3: .*byte 0xE9"),
        (b"[PAD]\n\xed\xa0\x80\n", r"vocab\.txt, line 2: .*byte 0xED"),
        ("[PAD]\na\n".encode("utf-16"), r"vocab\.txt, line 1: .*byte 0xFF"),
        ("[PAD]\na\n".encode("utf-16-le"), r"vocab\.txt, line 1: a NUL byte"),
        (
            gzip.compress(b"[PAD]\n", mtime=0),
            r"vocab\.txt, line 1: .*byte 0x8B",
        ),
        (b"", r"vocab\.txt is empty"),
        (b"\xef\xbb\xbf", r"vocab\.txt is empty"),
    ],
)
def test_vocab_that_is_no_text_is_an_error(tmp_path, content, found):
    path = tmp_path / "vocab.txt"
    path.write_bytes(content)
    with pytest.raises(UserError, match=found):
        tokenization.FullTokenizer(str(path))


def test_vocab_path_of_a_folder_or_of_nothing_is_an_error(tmp_path):
    with pytest.raises(UserError, match=rf"{tmp_path} .*: Is a directory"):
        tokenization.load_vocab(str(tmp_path))
    missing = str(tmp_path / "vocab.txt")
    with pytest.raises(UserError, match=rf"{missing} .*: No such file"):
        tokenization.load_vocab(missing)


def test_missing_special_tokens_are_all_named(tmp_path):
    vocab_file = _write_vocab(tmp_path, "[UNK]", "[cls]", "a")
    vocab = tokenization.load_vocab(vocab_file)
    tokenization.require_special_tokens(vocab, vocab_file, ["[UNK]"])
    with pytest.raises(
        UserError, match=r"vocab\.txt has 3 pieces, but not \[CLS\], \[SEP\];"
    ):
        tokenization.require_special_tokens(
            vocab, vocab_file, ["[UNK]", "[CLS]", "[SEP]"]
        )


# Pieces and ids.


def test_pieces_to_ids_and_back():
    vocab = {"a": 4, "##b": 9}
    assert tokenization.convert_tokens_to_ids(vocab, ["##b", "a"]) == [9, 4]
    assert tokenization.convert_by_vocab(vocab, ("a",)) == [4]
    inverse = {4: "a", 9: "##b"}
    assert tokenization.convert_ids_to_tokens(inverse, [9, 4]) == ["##b", "a"]


def test_unknown_piece_is_a_key_error_that_names_it(tmp_path):
    with pytest.raises(KeyError, match=r"'zz' is not in .* has 1 entries"):
        tokenization.convert_tokens_to_ids({"a": 4}, ["a", "zz"])
    tokenizer = tokenization.FullTokenizer(_write_vocab(tmp_path, "a"))
    with pytest.raises(KeyError, match="'zz' is not in"):
        tokenizer.convert_tokens_to_ids(["zz"])


# The letter case.


@pytest.mark.parametrize(
    "init_checkpoint",
    [
        "uncased_L-12_H-768_A-12/bert_model.ckpt",
        "/m/uncased_L-24_H-1024_A-16/bert_model.ckpt",
        "gs://b/multilingual_L-12_H-768_A-12/bert_model.ckpt.index",
        "chinese_L-12_H-768_A-12//bert_model.ckpt",
        "C:\\m\\uncased_L-12_H-768_A-12\\bert_model.ckpt",
        "m/wwm_uncased_L-24_H-1024_A-16/bert_model.ckpt",
        "m/uncased_L-2_H-128_A-2/bert_model.ckpt",
        "m/uncased_L-10_H-512_A-8/",
    ],
)
def test_uncased_release_wants_lower_case(init_checkpoint):
    check = tokenization.validate_case_matches_checkpoint
    check(True, init_checkpoint)
    with pytest.raises(UserError, match=r"Set --do_lower_case=true\."):
        check(False, init_checkpoint)


@pytest.mark.parametrize(
    "init_checkpoint",
    [
        "cased_L-12_H-768_A-12/bert_model.ckpt",
        "/m/cased_L-24_H-1024_A-16/bert_model.ckpt",
        "..\\multi_cased_L-12_H-768_A-12\\bert_model.ckpt",
        "m/wwm_cased_L-24_H-1024_A-16/bert_model.ckpt",
    ],
)
def test_cased_release_wants_the_case_kept(init_checkpoint):
    check = tokenization.validate_case_matches_checkpoint
    check(False, init_checkpoint)
    with pytest.raises(
        UserError, match=r"is the released model \w*cased_.*_case=false\."
    ):
        check(True, init_checkpoint)


@pytest.mark.parametrize(
    "init_checkpoint",
    [
        None,
        "",
        "bert_model.ckpt",
        "out/model.ckpt-7",
        "my_cased_model/bert_model.ckpt",
        "cased_L-12_H-768_A-12/more/bert_model.ckpt",
    ],
)
@pytest.mark.parametrize("do_lower_case", [True, False])
def test_other_checkpoints_pass(init_checkpoint, do_lower_case):
    tokenization.validate_case_matches_checkpoint(
        do_lower_case, init_checkpoint
    )


@pytest.mark.parametrize(
    ("pieces", "do_lower_case", "warning"),
    [
        (["[CLS]", "a", "Bc", "##D"], True, r"2 pieces .*\(Bc, "),
        (["[CLS]", "<S>", "a", "ℝ"], True, None),
        (["[CLS]", "a", "B"], False, None),
        (["[CLS]", "<S>", "a"], False, "no piece"),
        (["[CLS]", "中", "7", "!"], False, None),
    ],
)
def test_case_of_the_vocabulary(caplog, pieces, do_lower_case, warning):
    vocab = {piece: piece_id for piece_id, piece in enumerate(pieces)}
    tokenization.warn_if_case_mismatch(vocab, do_lower_case)
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == (warning is not None)
    for message in messages:
        assert re.search(warning, message)


def test_case_of_the_released_vocabularies(caplog, shared_file):
    for name, do_lower_case in (
        ("uncased_30522", True),
        ("cased_28996", False),
        ("chinese_21128", True),
    ):
        vocab_file = str(shared_file(f"data/vocab/{name}.txt"))
        vocab = tokenization.load_vocab(vocab_file)
        tokenization.warn_if_case_mismatch(vocab, do_lower_case)
        assert not caplog.records
        tokenization.warn_if_case_mismatch(vocab, not do_lower_case)
        assert len(caplog.records) == 1
        caplog.clear()
