"""K 2 layers, D 5, lines of 2, 3 and 4 pieces."""

import json
import zipfile

import numpy as np
import pytest

from bert_tf.errors import UserError
from bert_tf.extraction import vector_files
from bert_tf.extraction.packed_lines import PackedLines

INV_VOCAB = {0: "[CLS]", 1: "[SEP]", 2: "for", 4: "“", 5: 'a"b'}
LINES = [[0, 1], [0, 2, 1], [0, 4, 5, 1]]
LAYERS = [-1, 1]


@pytest.fixture
def lines(tmp_path):
    with (
        open(tmp_path / "ids", "w+b") as ids_file,
        open(tmp_path / "lengths", "w+b") as lengths_file,
    ):
        packed = PackedLines(ids_file, lengths_file)
        for ids in LINES:
            packed.add(ids, len(ids), False)
        yield packed


@pytest.fixture
def vectors():
    """float32 [9, K, D], for all pieces."""
    values = np.random.default_rng(1).normal(size=(9, 2, 5))
    return values.astype(np.float32)


@pytest.fixture
def write(lines, vectors, tmp_path):
    """Writes the vectors to a file; gives its path."""

    def write(output_format, *, is_pooled=False):
        path = tmp_path / f"out.{output_format}"
        with vector_files.writing(
            str(path),
            output_format,
            LAYERS,
            lines=lines,
            hidden_size=5,
            inv_vocab=None if is_pooled else INV_VOCAB,
        ) as writer:
            start = 0
            for ids, _ in lines:
                assert not path.exists()
                end = start + len(ids)
                of_line = vectors[start:end]
                writer.write(ids, of_line[0] if is_pooled else of_line)
                start = end
        return path

    return write


def layers_of(vectors):
    return [
        {"index": index, "values": [round(float(x), 6) for x in row]}
        for index, row in zip(LAYERS, vectors, strict=True)
    ]


def test_json_lines_are_those_of_2018(write, vectors):
    rows = iter(vectors)
    expected = [
        {
            "linex_index": number,
            "features": [
                {"token": INV_VOCAB[i], "layers": layers_of(next(rows))}
                for i in ids
            ],
        }
        for number, ids in enumerate(LINES)
    ]
    text = write("jsonl").read_text()
    assert text == "".join(json.dumps(line) + "\n" for line in expected)


def test_json_lines_of_pooled_vectors(write, vectors):
    lines = write("jsonl", is_pooled=True).read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"linex_index": number, "layers": layers_of(vectors[first])}
        for number, first in enumerate([0, 2, 5])
    ]


def test_npz_holds_all_pieces(write, vectors):
    with np.load(write("npz"), allow_pickle=False) as arrays:
        assert {k: (v.dtype.kind, v.shape) for k, v in arrays.items()} == {
            "layers": ("i", (2,)),
            "vocabulary": ("U", (6,)),
            "line_starts": ("i", (4,)),
            "input_ids": ("i", (9,)),
            "vectors": ("f", (9, 2, 5)),
        }
        assert arrays["layers"].tolist() == LAYERS
        assert arrays["line_starts"].dtype == np.int64
        assert arrays["line_starts"].tolist() == [0, 2, 5, 9]
        np.testing.assert_array_equal(arrays["vectors"], vectors)
        assert arrays["vectors"].dtype == np.float32
        start, end = arrays["line_starts"][2:4]
        ids = arrays["input_ids"][start:end]
        pieces = ["[CLS]", "“", 'a"b', "[SEP]"]
        assert arrays["vocabulary"][ids].tolist() == pieces


def test_npz_of_pooled_vectors(write, vectors):
    with np.load(write("npz", is_pooled=True), allow_pickle=False) as arrays:
        assert sorted(arrays) == ["layers", "vectors"]
        np.testing.assert_array_equal(arrays["vectors"], vectors[[0, 2, 5]])


def test_npz_is_a_sound_zip_file(write):
    with zipfile.ZipFile(write("npz")) as archive:
        assert archive.testzip() is None


@pytest.mark.parametrize("output_format", ["jsonl", "npz"])
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_a_number_that_is_not_finite_is_an_error(
    write, vectors, tmp_path, output_format, value
):
    vectors[6, 1, 3] = value
    with pytest.raises(UserError, match="Line 2, counted from 0, gave numbers"):
        write(output_format)
    # Nothing is left, under no name.
    assert {path.name for path in tmp_path.iterdir()} == {"ids", "lengths"}


@pytest.mark.parametrize("output_format", ["jsonl", "npz"])
def test_a_file_that_cannot_be_written_is_named(lines, output_format):
    with (
        pytest.raises(UserError, match="/proc/none/x cannot be written"),
        vector_files.writing(
            "/proc/none/x",
            output_format,
            LAYERS,
            lines=lines,
            hidden_size=5,
            inv_vocab=None,
        ),
    ):
        pass
