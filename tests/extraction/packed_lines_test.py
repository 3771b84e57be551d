import gzip
import json
import os

import numpy as np
import pytest

from bert_tf.errors import UserError
from bert_tf.extraction import packed_lines
from bert_tf.text import packing


@pytest.fixture
def tokenizer(golden):
    return packing.new_tokenizer(str(golden / "tasks" / "vocab.txt"), True)


@pytest.fixture
def pack(tokenizer, tmp_path):
    """Packs bytes; gives the pieces of each line, and those of segment 0."""

    def pack(content, max_seq_length=24):
        path = tmp_path / "input.txt"
        path.write_bytes(content)
        with packed_lines.pack_file(
            str(path), tokenizer, max_seq_length, folder=str(tmp_path)
        ) as lines:
            return [
                (tokenizer.convert_ids_to_tokens(ids.tolist()), num_first)
                for ids, num_first in lines
            ]

    return pack


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        (b"a\n", ("a", "")),
        (b"a|||b\n", ("a|||b", "")),
        (b"a ||| b\n", ("a", "b")),
        (b"a ||| b ||| c", ("a ||| b", "c")),
        (b"a ||| \n", ("a |||", "")),
        (b" ||| b\n", ("||| b", "")),
        (b"  a\t|||\tb  \n", ("a\t|||\tb", "")),
        (b"\n", ("", "")),
        # TensorFlow's reader of lines drops CR wherever it stands.
        (b"a ||| b\r\n", ("a", "b")),
        (b"a\rb\r\n", ("ab", "")),
        (b"a\xe2\x80\xa8b\n", ("a\u2028b", "")),
        (b"a\xffb\xc3 \xc3\xa9\n", ("ab \xe9", "")),
    ],
)
def test_split_line(line, texts):
    assert packed_lines.split_line(line) == texts


def test_split_line_reads_as_tensorflow_does(tmp_path):
    import tensorflow as tf

    path = tmp_path / "lines.txt"
    path.write_bytes(b"a\rb\r\n\r\nc\x0b\x0cd\xc2\x85e\xe2\x80\xa8f\n\x00last")
    with tf.io.gfile.GFile(str(path), "rb") as stream:
        theirs = list(iter(stream.readline, b""))
    with open(path, "rb") as stream:
        ours = list(stream)
    assert len(theirs) == 4
    assert [packed_lines.split_line(line) for line in ours] == [
        (line.decode().strip(), "") for line in theirs
    ]


def test_every_line_counts_and_an_empty_one_is_cls_sep(pack):
    assert pack(b"for ||| old\n\n  \nwas") == [
        (["[CLS]", "for", "[SEP]", "old", "[SEP]"], 3),
        (["[CLS]", "[SEP]"], 2),
        (["[CLS]", "[SEP]"], 2),
        (["[CLS]", "was", "[SEP]"], 3),
    ]


def test_the_longer_of_a_pair_is_cut_and_else_the_second(pack, caplog):
    # 7 less 3 special pieces leave 4; 8 less 2 leave 6 of a single text.
    text = b"for for for for for for for"
    assert pack(text + b" ||| old", 7) == [
        (["[CLS]", *["for"] * 3, "[SEP]", "old", "[SEP]"], 5)
    ]
    assert pack(b"for for for ||| old old old", 8) == [
        (["[CLS]", *["for"] * 3, "[SEP]", "old", "old", "[SEP]"], 5)
    ]
    assert pack(text, 8) == [(["[CLS]", *["for"] * 6, "[SEP]"], 8)]
    assert (
        "more pieces than --max_seq_length=8, which are cut: 1." in caplog.text
    )


def test_pieces_are_those_of_2018(golden, tokenizer):
    folder = golden / "tasks" / "extract_features"
    with gzip.open(folder / "output.jsonl.gz", "rt") as stream:
        expected = [
            [feature["token"] for feature in json.loads(line)["features"]]
            for line in stream
        ]
    path = str(folder / "input.txt")
    with packed_lines.pack_file(path, tokenizer, 24) as lines:
        made = [
            tokenizer.convert_ids_to_tokens(ids.tolist()) for ids, _ in lines
        ]
        assert made == expected
        assert (lines.num_lines, lines.num_cut, lines.longest) == (9, 3, 24)
        assert lines.num_pairs == 3
        assert lines.num_pieces == sum(map(len, expected))


def test_lines_can_be_gone_through_twice_at_a_time(
    tokenizer, tmp_path, monkeypatch
):
    monkeypatch.setattr(packed_lines, "_LINES_AT_ONCE", 3)
    path = tmp_path / "input.txt"
    path.write_text("".join("for " * i + "\n" for i in range(11)))
    with packed_lines.pack_file(str(path), tokenizer, 24) as lines:
        lengths = [[len(a), len(b)] for (a, _), (b, _) in zip(lines, lines)]
        assert lengths == [[2 + i, 2 + i] for i in range(11)]
        blocks = list(lines.blocks())
    assert [len(block) for _, block in blocks] == [3, 3, 3, 2]
    assert np.concatenate([block for _, block in blocks])[:, 0].tolist() == [
        2 + i for i in range(11)
    ]


def test_a_pipe_will_do(tokenizer):
    reading, writing = os.pipe()
    os.write(writing, b"for\nold\n")
    os.close(writing)
    path = f"/dev/fd/{reading}"
    with packed_lines.pack_file(path, tokenizer, 24) as lines:
        assert lines.num_lines == 2
    os.close(reading)


def test_no_file_of_its_own_is_left(pack, tmp_path):
    pack(b"for\n")
    assert [path.name for path in tmp_path.iterdir()] == ["input.txt"]


def test_an_empty_file_is_refused(pack):
    with pytest.raises(UserError, match="input.txt is empty: there is no line"):
        pack(b"")


def test_a_missing_file_is_named(tokenizer, tmp_path):
    with (
        pytest.raises(UserError, match="none.txt cannot be read: No such file"),
        packed_lines.pack_file(str(tmp_path / "none.txt"), tokenizer, 24),
    ):
        pass


@pytest.mark.parametrize(
    ("path", "folder"),
    [("out/x.npz", "out"), ("x.npz", "."), ("gs://bucket/x.npz", None)],
)
def test_local_folder(path, folder):
    assert packed_lines.local_folder(path) == folder
