"""Weights in safetensors files: one file, or several and their index.

The safetensors library reads and writes the values. What a file's header says
is checked here first, so that a file that lies is refused by name before
anything is allocated. Memory holds one tensor at a time.

A file: 8 bytes, N, little-endian; N bytes of JSON, the header, which gives each
tensor's dtype, shape and place; then the values, without a gap.
"""

import math
import os
import struct
import typing

import numpy as np

from bert_tf.checkpoints.weight_reader import listed
from bert_tf.errors import UserError
from bert_tf.storage import files, json_files

FILE = "model.safetensors"
INDEX = "model.safetensors.index.json"

# BERT-Large's header has 50 thousand bytes.
_MAX_HEADER_BYTES = 2**24
_BITS = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2"), 8),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 16),
    **dict.fromkeys(("U32", "I32", "F32"), 32),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 64),
}
_FLOATS = ("F16", "BF16", "F32")


class Tensor(typing.NamedTuple):
    """What a header says of a tensor."""

    path: str  # of the file that holds it
    dtype: str  # as the format writes it: "F32"
    shape: tuple  # of int
    begin: int  # its place in the file, in bytes
    end: int


def list_tensors(path):
    """Lists what a safetensors file, or an index of several, holds.

    `path` is local and ends in ".safetensors" or ".safetensors.index.json".
    Returns a dict, name (str) -> Tensor, in no particular order.

    Raises:
      UserError: a file is missing, cut or contradicts itself.
    """
    if not path.endswith(".index.json"):
        return _read_header(path)
    tensors, weight_map = {}, _read_index(path)
    for name in sorted(set(weight_map.values())):
        part = os.path.join(os.path.dirname(path), name)
        if not files.is_file(part):
            raise UserError(
                f"{path} names {name}, which is not beside it. Download all "
                "files of the model."
            )
        held = _read_header(part)
        for tensor in (t for t, holder in weight_map.items() if holder == name):
            if tensor not in held:
                raise UserError(
                    f"{path} says that {tensor} is in {name}, which does not "
                    "hold it. Download all files of the model again."
                )
            tensors[tensor] = held[tensor]
        more = sorted(held.keys() - weight_map.keys())
        if more:
            raise UserError(
                f"{path} does not name {listed(more)}, which {name} holds. "
                "Download all files of the model again."
            )
    return tensors


def _read_index(path):
    """Returns the index's dict of tensor name -> file name, checked."""
    weight_map = json_files.read_object(path).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise UserError(
            f"{path} is no index of safetensors files: it lacks `weight_map`, "
            "which says in which file each tensor is."
        )
    for name in weight_map.values():
        # Nothing outside the folder is opened, whatever the index says.
        if not isinstance(name, str) or os.path.basename(name) != name:
            raise UserError(
                f"{path}: `weight_map` names {name!r}; it must name files in "
                "the index's own folder."
            )
    return weight_map


def _read_header(path):
    if files.is_remote(path):
        raise UserError(
            f"{path}: a safetensors file is mapped into memory, which needs a "
            "local file. Copy its folder to this machine first."
        )
    with files.naming_failures(path, "read"), open(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size < 8:
            raise UserError(
                f"{path} has {size} bytes: it was not copied to its end, or is "
                "no safetensors file. Copy it again."
            )
        (length,) = struct.unpack("<Q", stream.read(8))
        if length > min(size - 8, _MAX_HEADER_BYTES):
            raise UserError(
                f"{path} is cut short or no safetensors file: its header would "
                f"have {length} bytes, the file has {size}. Copy it again."
            )
        header = json_files.parse(path, stream.read(length))
    if not isinstance(header, dict):
        raise UserError(f"{path}: its header is no JSON object.")
    header.pop("__metadata__", None)
    start = 8 + length
    tensors = {n: _describe(path, n, x, start) for n, x in header.items()}
    _require_no_gap(path, tensors, start, size)
    return tensors


def _describe(path, name, entry, start):
    """Checks one entry of a header; returns its Tensor."""
    # isprintable is false for line ends, escape codes and half characters.
    if not name or not name.isprintable():
        raise UserError(
            f"{path}: a tensor is called {name!r}. A name must have letters, "
            "and only such as can be printed. The file is damaged."
        )
    entry = entry if isinstance(entry, dict) else {}
    dtype, shape = entry.get("dtype"), entry.get("shape")
    offsets = entry.get("data_offsets")
    if not (_are_counts(shape) and _are_counts(offsets) and len(offsets) == 2):
        raise UserError(
            f"{path}: {name} has shape {shape!r} and offsets {offsets!r}; both "
            "must be lists of whole numbers that are not negative, the offsets "
            "two."
        )
    if not isinstance(dtype, str) or dtype not in _BITS:
        raise UserError(
            f"{path}: {name} is of dtype {dtype!r}; known are "
            f"{', '.join(_BITS)}. Save the model's weights as float32."
        )
    begin, end = offsets
    wanted = math.prod(shape) * _BITS[dtype] // 8
    if end - begin != wanted:
        raise UserError(
            f"{path}: {name}, {dtype} {shape}, takes {wanted} bytes, but its "
            f"offsets {offsets} are {end - begin} apart. The file is damaged; "
            "copy it again."
        )
    return Tensor(path, dtype, tuple(shape), start + begin, start + end)


def _are_counts(values):
    return isinstance(values, list) and all(
        isinstance(value, int) and not isinstance(value, bool) and value >= 0
        for value in values
    )


def _require_no_gap(path, tensors, start, size):
    """Checks that the tensors lie one behind the other, to the file's end."""
    place, former = start, "the header"
    for name, tensor in sorted(tensors.items(), key=lambda item: item[1][3:]):
        if tensor.begin != place:
            fault = "overlaps" if tensor.begin < place else "leaves a gap after"
            raise UserError(
                f"{path}: {name} {fault} {former}; values must lie one behind "
                "the other. The file is damaged; copy it again."
            )
        place, former = tensor.end, name
    if place != size:
        raise UserError(
            f"{path} has {size} bytes, but by its header {place}: it is "
            "damaged, or not whole. Copy it again."
        )


def is_float(tensor):
    """Tells whether a Tensor holds such numbers as weights: 32 bits or less."""
    return tensor.dtype in _FLOATS


def read_tensor(tensor, name):
    """Reads one tensor as float32: wider than float16 and bfloat16, so exact.

    For `tensor` `is_float` is true; `name` is its name in the file.

    Raises:
      UserError: the file was changed meanwhile, or the library is missing.
    """
    library = _library()
    try:
        # Opened again each time: what was read of a mapped file counts as this
        # process's memory until the file is closed.
        with library.safe_open(tensor.path, framework="numpy") as stream:
            value = stream.get_tensor(name)
    except (library.SafetensorError, OSError) as error:
        raise UserError(f"{tensor.path} cannot be read: {error}.") from error
    return value.astype(np.float32, copy=False)


def _library():
    try:
        # The first gives NumPy the bfloat16 that the second asks it for.
        import ml_dtypes  # noqa: F401
        import safetensors
    except ImportError as error:
        raise UserError(
            f"Weights in safetensors files need the package {error.name}: pip "
            "install safetensors (or this project's extra `hf`)."
        ) from error
    return safetensors


def write(path, shapes, read):
    """Writes float32 tensors into one local file, never two of them in memory.

    `shapes` is a dict, name (str) -> tuple of int, and `read` a function of a
    name that gives its float32 np.ndarray.
    """
    library = _library()
    largest = max(math.prod(shape) for shape in shapes.values())
    # The library wants all values at once. It gets zeros, the same for every
    # tensor, which lays the file out; then each value goes to its place.
    blank = np.zeros(largest, np.float32)
    specs = {
        name: library.TensorSpec(
            dtype="float32",
            shape=shape,
            data_ptr=blank.ctypes.data,
            data_len=4 * math.prod(shape),
        )
        for name, shape in shapes.items()
    }
    # Transformers asks for this entry.
    try:
        library.serialize_file(specs, path, metadata={"format": "pt"})
    except library.SafetensorError as error:
        raise UserError(f"{path} cannot be written: {error}.") from error
    # The library lets nobody but the owner read it.
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(path, 0o666 & ~mask)
    with open(path, "r+b") as stream:
        for name, tensor in _read_header(path).items():
            stream.seek(tensor.begin)
            stream.write(np.ascontiguousarray(read(name)).data)
