"""Text files to documents of piece ids."""

import logging

import pytest

from bert_tf.data import documents
from bert_tf.errors import UserError


class LetterTokenizer:
    """Gives each word the number of its letters; no piece for a joiner."""

    def tokenize_to_ids(self, text):
        """Returns a list of int."""
        if "unknown" in text:
            raise KeyError("'[UNK]' is not in the vocabulary.")
        words = text.replace("\u200b", "").split()
        return [len(word) for word in words]


def _read(tmp_path, *contents):
    paths = []
    for number, content in enumerate(contents):
        path = tmp_path / f"{number}.txt"
        path.write_bytes(content)
        paths.append(str(path))
    return documents.read_documents(paths, LetterTokenizer())


def _spelled_out(texts):
    """Returns documents as lists of sentences, which are lists of ids."""
    return [
        [
            texts.pieces[start:end].tolist()
            for start, end in zip(
                texts.sentence_starts[first:last],
                texts.sentence_starts[first + 1 : last + 1],
            )
        ]
        for first, last in map(texts.sentence_range, range(len(texts)))
    ]


def test_read_documents_splits_at_lines_and_blank_lines(tmp_path):
    texts = _read(tmp_path, b"a bb\nccc\n\ndddd e\n")
    assert _spelled_out(texts) == [[[1, 2], [3]], [[4, 1]]]
    assert len(texts) == 2
    assert texts.num_sentences == 3


@pytest.mark.parametrize(
    "content",
    [
        b"a bb\nccc\n\ndddd e",
        b"\n\n \t\na bb\nccc\n\n\n  \ndddd e\n\n\n",
        b"a bb\r\nccc\r\n\r\ndddd e\r\n",
        "a bb\nccc\n\u2028\ndddd e\n".encode(),
        "a bb\nccc\n\u3000\x85\x1c\ndddd e\n".encode(),
        "\u200b\na bb\n\u200b\nccc\n\ndddd e\n".encode(),
    ],
    ids=["no-last-lf", "blanks", "crlf", "u2028", "wide-blank", "no-piece"],
)
def test_read_documents_finds_the_same_documents(tmp_path, content):
    texts = _read(tmp_path, content)
    assert _spelled_out(texts) == [[[1, 2], [3]], [[4, 1]]]


@pytest.mark.parametrize(
    "separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"]
)
def test_read_documents_ends_a_line_at_lf_only(tmp_path, separator):
    texts = _read(tmp_path, f"a bb{separator}ccc dddd\n".encode())
    # Python counts each of them as white space between words.
    assert _spelled_out(texts) == [[[1, 2, 3, 4]]]


def test_read_documents_goes_on_with_a_document_in_the_next_file(tmp_path):
    texts = _read(tmp_path, b"a\nbb", b"ccc\n\ndddd\n\n", b"a")
    assert _spelled_out(texts) == [[[1], [2], [3]], [[4]], [[1]]]


def test_read_documents_names_file_and_line_of_bytes_not_utf8(tmp_path):
    with pytest.raises(UserError, match=r"1\.txt, line 3: not UTF-8.*0xE9"):
        _read(tmp_path, b"a\n", b"a\n\ncaf\xe9\n")


def test_read_documents_names_file_and_line_of_a_word_without_id(tmp_path):
    with pytest.raises(UserError, match=r"0\.txt, line 2: '\[UNK\]'"):
        _read(tmp_path, b"a\nunknown\n")


def test_read_documents_names_a_file_it_cannot_read(tmp_path):
    with pytest.raises(UserError, match=r"gone\.txt cannot be read: No such"):
        documents.read_documents(
            [str(tmp_path / "gone.txt")], LetterTokenizer()
        )


@pytest.mark.parametrize("content", [b"", b"\n \n", "\u200b\n".encode()])
def test_read_documents_refuses_files_without_a_sentence(tmp_path, content):
    with pytest.raises(UserError, match=r"No sentence in .*0\.txt.*0 inst"):
        _read(tmp_path, content)


def test_read_documents_warns_of_one_empty_file_among_others(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        texts = _read(tmp_path, b"a\n\n", b"", b"bb\n")
    assert _spelled_out(texts) == [[[1]], [[2]]]
    assert [record.getMessage() for record in caplog.records] == [
        f"{tmp_path}/1.txt holds no sentence."
    ]


def test_documents_hold_four_bytes_a_piece():
    assert documents.Documents().pieces.itemsize == 4
