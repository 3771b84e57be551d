"""Tests of safetensors files: what a header may say, reading, writing."""

import json
import struct

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

from bert_tf.errors import UserError
from bert_tf.formats import safetensors_files


def write_file(path, header, num_bytes):
    """Writes a file of any header (bytes, or what JSON can hold)."""
    if not isinstance(header, bytes):
        header = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(num_bytes))
    return str(path)


def entry(begin, end, shape, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def assert_refused(path, match):
    with pytest.raises(UserError, match=match) as raised:
        safetensors_files.list_tensors(path)
    assert path in str(raised.value)


def test_a_library_s_file_is_listed_and_read(tmp_path):
    path = str(tmp_path / "m.safetensors")
    values = {
        "a": np.float32([[1, 2, 3], [4, 5, 6]]),
        "b": np.float16([0.5, -2]),
        "c": np.array([1.5, 3], ml_dtypes.bfloat16),
        "empty": np.zeros([0, 3], np.float32),
    }
    safetensors.numpy.save_file(values, path, metadata={"who": "a test"})
    tensors = safetensors_files.list_tensors(path)
    assert tensors.keys() == values.keys()
    assert tensors["a"].dtype == "F32"
    assert tensors["a"].shape == (2, 3)
    for name, value in values.items():
        assert safetensors_files.is_float(tensors[name])
        read = safetensors_files.read_tensor(tensors[name], name)
        assert read.dtype == np.float32
        np.testing.assert_array_equal(read, value.astype(np.float32))


def test_whole_numbers_are_listed_and_told_from_weights(tmp_path):
    path = str(tmp_path / "m.safetensors")
    safetensors.numpy.save_file({"ids": np.arange(3)}, path)
    (tensor,) = safetensors_files.list_tensors(path).values()
    assert tensor.dtype == "I64"
    assert not safetensors_files.is_float(tensor)


@pytest.mark.parametrize(
    ("header", "num_bytes", "match"),
    [
        ({"w": entry(0, 8, [3])}, 8, r"w, F32 \[3\], takes 12 bytes.*are 8"),
        ({"w": entry(0, 12, [3])}, 8, "bytes, but by its header"),
        ({"w": entry(0, 12, [3])}, 16, "bytes, but by its header"),
        (
            {"v": entry(0, 8, [2]), "w": entry(4, 12, [2])},
            12,
            "w overlaps v",
        ),
        (
            {"v": entry(0, 8, [2]), "w": entry(12, 20, [2])},
            20,
            "w leaves a gap after v",
        ),
        ({"w": entry(4, 8, [1])}, 8, "w leaves a gap after the header"),
        ({"w": entry(0, 8, [-2])}, 8, r"shape \[-2\].*not negative"),
        ({"w": entry(8, 0, [2])}, 8, "takes 8 bytes"),
        ({"w": entry(0, 8, [2.0])}, 8, "whole numbers"),
        ({"w": entry(0, 4, [True])}, 4, "whole numbers"),
        ({"w": entry(0, 8, [10**30])}, 8, r"takes 4\d* bytes"),
        ({"w": entry(0, 8, "2")}, 8, "must be lists"),
        ({"w": {**entry(0, 8, [2]), "data_offsets": [0]}}, 8, "two"),
        ({"w": {"dtype": "F32", "shape": [2]}}, 8, "offsets None"),
        ({"w": [1, 2]}, 8, "shape None"),
        ({"w": entry(0, 8, [2], "F31")}, 8, "dtype 'F31'; known are"),
        ({"w": entry(0, 8, [2], ["F32"])}, 8, "known are"),
        (b'{"w": 1, "w": 2}', 0, "w stands twice"),
        (b'{"w": {"shape": [1], "shape": [2]}}', 0, "shape stands twice"),
        (b"[1]", 0, "no JSON object"),
        ({"": entry(0, 8, [2])}, 8, "a tensor is called ''"),
        ({"a\nb": entry(0, 8, [2])}, 8, r"called 'a\\nb'"),
        (b'{"\\ud800": 1}', 0, "only such as can be printed"),
        (b'{"w": ', 0, "not JSON"),
        (b"\xff\xfe", 0, "not JSON"),
        (b"[" * 100_000, 0, "not JSON"),
        (b'{"w": ' + b"9" * 5000 + b"}", 0, "not JSON"),
    ],
)
def test_a_header_that_lies_is_refused(tmp_path, header, num_bytes, match):
    path = write_file(tmp_path / "m.safetensors", header, num_bytes)
    assert_refused(path, match)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "has 0 bytes: it was not copied to its end"),
        (b"\x05", "has 1 bytes: it was not copied to its end"),
        (struct.pack("<Q", 2**63), "cut short or no safetensors file"),
    ],
)
def test_a_header_longer_than_the_file_is_refused(tmp_path, content, match):
    path = tmp_path / "m.safetensors"
    path.write_bytes(content)
    assert_refused(str(path), match)


def test_a_huge_header_is_not_read(tmp_path):
    # 2 TB by its word, and sparse on the disk: reading it would not end well.
    path = tmp_path / "m.safetensors"
    with open(path, "wb") as stream:
        stream.write(struct.pack("<Q", 2**41))
        stream.truncate(2**41 + 8)
    assert_refused(str(path), "cut short or no safetensors file")


def test_a_file_that_is_not_there_is_named(tmp_path):
    path = str(tmp_path / "m.safetensors")
    assert_refused(path, "cannot be read: No such file")


def test_a_remote_file_is_refused():
    assert_refused("gs://bucket/m.safetensors", "needs a local file")


def test_a_file_cut_after_it_was_listed_is_an_error(tmp_path):
    path = tmp_path / "m.safetensors"
    safetensors.numpy.save_file({"w": np.ones(9, np.float32)}, path)
    (tensor,) = safetensors_files.list_tensors(str(path)).values()
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(UserError, match="m.safetensors cannot be read"):
        safetensors_files.read_tensor(tensor, "w")


# Several files.


def write_index(folder, weight_map):
    path = folder / safetensors_files.INDEX
    path.write_text(json.dumps({"weight_map": weight_map}))
    return str(path)


def test_the_files_of_an_index_are_one_model(tmp_path):
    safetensors.numpy.save_file({"v": np.float32([1])}, tmp_path / "1.st")
    safetensors.numpy.save_file({"w": np.float32([2])}, tmp_path / "2.st")
    path = write_index(tmp_path, {"w": "2.st", "v": "1.st"})
    tensors = safetensors_files.list_tensors(path)
    read = {
        name: safetensors_files.read_tensor(tensor, name)[0]
        for name, tensor in tensors.items()
    }
    assert read == {"v": 1, "w": 2}


def test_a_missing_part_is_named(tmp_path):
    path = write_index(tmp_path, {"w": "2.st"})
    assert_refused(path, r"names 2\.st, which is not beside it")


def test_a_tensor_that_its_part_lacks_is_named(tmp_path):
    safetensors.numpy.save_file({"v": np.float32([1])}, tmp_path / "1.st")
    path = write_index(tmp_path, {"v": "1.st", "w": "1.st"})
    assert_refused(path, r"says that w is in 1\.st")


@pytest.mark.parametrize("name", ["../1.st", "/etc/passwd", "a/1.st", 3])
def test_an_index_opens_nothing_outside_its_folder(tmp_path, name):
    path = write_index(tmp_path, {"v": name})
    assert_refused(path, "in the index's own folder")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("{}", "lacks `weight_map`"),
        ('{"weight_map": {}}', "lacks `weight_map`"),
        ("[]", "must hold a JSON object"),
    ],
)
def test_an_index_without_a_map_is_refused(tmp_path, text, match):
    path = tmp_path / safetensors_files.INDEX
    path.write_text(text)
    assert_refused(str(path), match)


def test_a_tensor_that_the_index_leaves_out_is_named(tmp_path):
    values = {"v": np.float32([1]), "w": np.float32([2])}
    safetensors.numpy.save_file(values, tmp_path / "1.st")
    path = write_index(tmp_path, {"v": "1.st"})
    assert_refused(path, r"does not name w, which 1\.st holds")


# Writing.


def test_what_is_written_the_library_reads(tmp_path):
    rng = np.random.default_rng(0)
    values = {
        "a": rng.normal(size=[7, 5]).astype(np.float32),
        "b": rng.normal(size=[3]).astype(np.float32),
        # Not contiguous, as a transposed kernel.
        "c": rng.normal(size=[2, 9]).astype(np.float32).T,
        "scalar": np.float32(4),
    }
    path = str(tmp_path / "m.safetensors")
    shapes = {name: value.shape for name, value in values.items()}
    safetensors_files.write(path, shapes, values.__getitem__)
    read = safetensors.numpy.load_file(path)
    assert read.keys() == values.keys()
    for name, value in values.items():
        np.testing.assert_array_equal(read[name], value)
    with safetensors.safe_open(path, framework="numpy") as stream:
        # Without it Transformers refuses the file.
        assert stream.metadata() == {"format": "pt"}


def test_what_is_written_is_the_library_s_file(tmp_path):
    # The header of "é" takes two bytes for its letter and blanks at its end.
    values = {"é": np.float32([[1, 2]]), "a/b": np.zeros([0, 3], np.float32)}
    safetensors.numpy.save_file(values, tmp_path / "1.st", {"format": "pt"})
    shapes = {name: value.shape for name, value in values.items()}
    path = tmp_path / "2.st"
    safetensors_files.write(str(path), shapes, values.__getitem__)
    assert path.read_bytes() == (tmp_path / "1.st").read_bytes()


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(UserError, match="cannot be written"):
        safetensors_files.write(
            str(tmp_path / "no" / "m.safetensors"), {"w": (1,)}, None
        )


def test_without_the_library_it_is_said_how_to_get_it(tmp_path, monkeypatch):
    path = tmp_path / "m.safetensors"
    safetensors.numpy.save_file({"w": np.ones(3, np.float32)}, path)
    (tensor,) = safetensors_files.list_tensors(str(path)).values()
    monkeypatch.setitem(__import__("sys").modules, "safetensors", None)
    with pytest.raises(UserError, match="pip install safetensors"):
        safetensors_files.read_tensor(tensor, "w")
