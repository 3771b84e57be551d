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


# Numbers as JSON.


def as_2018(values):
    return [
        json.dumps([round(float(x), 6) for x in row])[1:-1] for row in values
    ]


def test_rows_of_numbers_a_reader_can_check():
    values = np.array([[0.5, -0.19110999, 2e-6], [0, 12, -99.25]], np.float32)
    assert vector_files.json_rows(values) == [
        "0.5, -0.19111, 2e-06",
        "0.0, 12.0, -99.25",
    ]


@pytest.mark.parametrize(
    "values",
    [
        # Both zeros, what becomes one, exponents, and where they begin.
        [0.0, -0.0, 1e-8, -1e-8, 4e-7, 1e-6, 9.9e-5, -9.95e-5, 1e-4, 1.2e-4],
        # Up to the last that the table holds, and from the first that it
        # does not, up to the largest of all.
        [99.5, -99.5, 99.99999, 0.1, -0.100001],
        [100.0, -1e3, 1234567.9, 3e15, 1e16, 3.4e38, 1e-45, -2.5e-5],
    ],
)
def test_rows_are_those_of_2018_at_the_edges(values):
    values = np.array([values, values[::-1]], np.float32)
    assert vector_files.json_rows(values) == as_2018(values)


def test_rows_round_ties_to_even_as_2018():
    # k / 128 has 7 decimals, the last a 5 for odd k: 0.0078125 is 0.007812.
    values = (np.arange(-9000, 9000, dtype=np.float32) / 128).reshape(-1, 9)
    made = vector_files.json_rows(values)
    assert made == as_2018(values)
    assert "-0.007812" in ", ".join(made).split(", ")


def test_rows_are_those_of_2018_for_floats_of_all_sizes():
    bits = np.random.default_rng(3).integers(0, 2**32, (700, 11), np.uint32)
    values = bits.view(np.float32)
    values[~np.isfinite(values)] = 0
    assert vector_files.json_rows(values) == as_2018(values)
    values = np.random.default_rng(4).normal(size=(700, 13))
    scale = 10.0 ** np.arange(-11, 2)
    values = np.clip(values * scale, -99, 99).astype(np.float32)
    assert vector_files.json_rows(values) == as_2018(values)


def test_rows_of_nothing_are_none():
    assert vector_files.json_rows(np.zeros([0, 5], np.float32)) == []
