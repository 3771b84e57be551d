"""Files of vectors: 2018's JSON lines, and NumPy's .npz, written as it goes.

N lines, P pieces of all lines, K layers, D hidden_size, V vocabulary; R rows of
numbers
"""

import contextlib
import json
import zipfile

import numpy as np

from bert_tf.errors import UserError
from bert_tf.storage import files

_DECIMALS = 10**6
# From here on the table below has no room for what stands before the point.
_TOO_LARGE = 100 * _DECIMALS
# Below 0.0001 Python writes an exponent, as in 1.2e-05.
_WITH_EXPONENT = 100


@contextlib.contextmanager
def writing(path, output_format, layers, *, lines, hidden_size, inv_vocab):
    """Opens a JsonLinesFile or NpzFile; it has its name once it is whole.

    Args:
      path: str, local or remote.
      output_format: str, "jsonl" or "npz".
      layers: list of K int, as the user gave them.
      lines: packed_lines.PackedLines, whose vectors will be written.
      hidden_size: int, D.
      inv_vocab: dict, id -> piece, for a vector a piece; None for one a line.

    Raises:
      UserError: it cannot be written.
    """
    with (
        files.naming_failures(path, "written"),
        files.replacing(path) as beside,
        files.open_binary(beside, "wb") as stream,
    ):
        if output_format == "jsonl":
            yield JsonLinesFile(stream, layers, inv_vocab)
            return
        npz = NpzFile(stream, layers, lines, hidden_size, inv_vocab)
        with contextlib.closing(npz):
            yield npz


class JsonLinesFile:
    """A JSON object a line of text.

    Without pooling, as in 2018:

        {"linex_index": 0, "features": [{"token": "[CLS]", "layers":
            [{"index": -1, "values": [0.1, ...]}, ...]}, ...]}

    With pooling:

        {"linex_index": 0, "layers": [{"index": -1, "values": [0.1, ...]},
            ...]}

    Source: `main` of extract_features.py (2018), byte for byte.
    """

    def __init__(self, stream, layers, inv_vocab):
        """Stores its arguments; see `writing`. `stream` is a binary file."""
        self._stream = stream
        self._heads = [f'{{"index": {i}, "values": [' for i in layers]
        self._inv_vocab = inv_vocab
        self._count = 0

    def write(self, input_ids, vectors):
        """Writes the next line.

        Args:
          input_ids: int32 np.ndarray [pieces].
          vectors: float32 np.ndarray [pieces, K, D], or [K, D] if pooled.

        Raises:
          UserError: a number is not finite.
        """
        _require_finite(vectors, self._count)
        texts = iter(json_rows(vectors.reshape(-1, vectors.shape[-1])))
        if self._inv_vocab is None:
            body = f'"layers": [{self._layers(texts)}]'
        else:
            pieces = ", ".join(
                f'{{"token": {json.dumps(self._inv_vocab[piece])}, "layers": '
                f"[{self._layers(texts)}]}}"
                for piece in input_ids.tolist()
            )
            body = f'"features": [{pieces}]'
        line = f'{{"linex_index": {self._count}, {body}}}\n'
        self._stream.write(line.encode("ascii"))
        self._count += 1

    def _layers(self, texts):
        """Joins the next K of the texts (iterator of str)."""
        # In this order zip takes no text after the last head.
        return ", ".join(
            f"{head}{values}]}}" for head, values in zip(self._heads, texts)
        )


class NpzFile:
    """Arrays in a .npz, none of them pickled.

    The vectors are in float32, not rounded. With pooling:

        layers      int32 [K], as the user gave them
        vectors     float32 [N, K, D]

    Without:

        layers      int32 [K]
        vocabulary  str [V], the piece of each id
        line_starts int64 [N + 1]; line i has the pieces from entry i to i + 1
        input_ids   int32 [P]
        vectors     float32 [P, K, D]

    One array is written after the other, and the vectors as they come; their
    number is known beforehand.
    """

    def __init__(self, stream, layers, lines, hidden_size, inv_vocab):
        """Writes everything but the vectors; see `writing`.

        Of `stream`, a binary file, nothing but `write` and `flush` is used.
        """
        self._zip = zipfile.ZipFile(_Unseekable(stream), "w")
        self._count = 0
        self._write_array("layers", np.array(layers, np.int32))
        rows = lines.num_lines
        if inv_vocab is not None:
            rows = lines.num_pieces
            self._write_pieces(lines, inv_vocab)
        shape = (rows, len(layers), hidden_size)
        self._member = self._open("vectors", np.float32, shape)

    def _write_pieces(self, lines, inv_vocab):
        # An id that no piece has, since a later line repeats it, gets "".
        pieces = [inv_vocab.get(i, "") for i in range(max(inv_vocab) + 1)]
        self._write_array("vocabulary", np.array(pieces))
        starts_shape = (lines.num_lines + 1,)
        with self._open("line_starts", np.int64, starts_shape) as member:
            start = np.zeros(1, np.int64)
            member.write(start)
            for _, lengths in lines.blocks():
                ends = start + lengths[:, 0].cumsum(dtype=np.int64)
                member.write(ends)
                start = ends[-1:]
        ids_shape = (lines.num_pieces,)
        with self._open("input_ids", np.int32, ids_shape) as member:
            for ids, _ in lines.blocks():
                member.write(np.ascontiguousarray(ids))

    def _write_array(self, name, values):
        with self._open(name, values.dtype, values.shape) as member:
            member.write(np.ascontiguousarray(values))

    def _open(self, name, dtype, shape):
        """Begins an array; its elements are still to be written."""
        # An array of more than 2 GB has to be announced.
        member = self._zip.open(f"{name}.npy", "w", force_zip64=True)
        header = {
            "descr": np.lib.format.dtype_to_descr(np.dtype(dtype)),
            "fortran_order": False,
            "shape": shape,
        }
        np.lib.format.write_array_header_1_0(member, header)
        return member

    def write(self, input_ids, vectors):
        """Writes the next line's vectors; see `JsonLinesFile.write`."""
        del input_ids  # They are written already.
        _require_finite(vectors, self._count)
        self._member.write(np.ascontiguousarray(vectors, np.float32))
        self._count += 1

    def close(self):
        """Ends the last array and the file; `stream` stays open."""
        self._member.close()
        self._zip.close()


class _Unseekable:
    """A file without `seek`: zipfile then appends, as remote files demand."""

    def __init__(self, stream):
        self.write = stream.write
        self.flush = stream.flush


def _require_finite(vectors, line):
    if not np.isfinite(vectors).all():
        raise UserError(
            f"Line {line}, counted from 0, gave numbers that are not finite. "
            "The weights are broken, or belong to another configuration."
        )


def json_rows(values):
    """Writes each row as the inside of a JSON list, with 6 decimals, fast.

    Worked example: [0.5, -0.19110999, 2e-6] gives "0.5, -0.19111, 2e-06".

    Args:
      values: float32 np.ndarray [R, D], finite.

    Returns:
      list of R str, each what `json.dumps` makes of `round(float(x), 6)` for
      all x of the row, less the brackets.

    Source: `main` of extract_features.py (2018), which called these two. Same
      bytes: a float32 has 24 bits and 10**6 is 14 bits times a power of 2, so
      that the product is exact in a float64 and is rounded, half to even, as
      `round` does; and what its shortest decimal is, the integer shows.
    """
    scaled = np.rint(values.astype(np.float64) * _DECIMALS)  # [R, D]
    size = np.abs(scaled)
    if not values.size or size.max() >= _TOO_LARGE:
        decimals = (scaled / _DECIMALS).tolist()
        return [", ".join(map(repr, row)) for row in decimals]
    size = size.astype(np.int32)
    sign = np.signbit(scaled).astype(np.int32)
    thousandths = size // 1000
    whole = thousandths // 1000
    last = size - 1000 * thousandths
    first = thousandths - 1000 * whole
    cells = np.empty((*values.shape, 3), np.uint32)
    cells[..., 0] = _WHOLE[whole + 100 * sign]
    cells[..., 1] = _FIRST[first + 1000 * (last == 0)]
    cells[..., 2] = _LAST[last]
    tiny = np.nonzero((size < _WITH_EXPONENT) & (size > 0))
    cells[tiny] = _TINY[size[tiny] + _WITH_EXPONENT * sign[tiny]]
    text = cells.view(np.uint8)  # [R, D, 12]
    text[:, -1, -1] = ord("\n")
    # Each number begins with a blank, the first as well.
    lines = text.tobytes().translate(None, b"\0").decode("ascii").split("\n")
    return [line[1:] for line in lines[:-1]]


def _cells(texts, width=4):
    """Returns texts as cells of 4 bytes; each is `width` bytes long."""
    padded = b"".join(text.encode().ljust(width, b"\0") for text in texts)
    return np.frombuffer(padded, np.uint32)


def _trimmed(thousandths):
    return f"{thousandths:03}".rstrip("0")


# A number is three cells: " -12", ".345", "678,".
_WHOLE = _cells([f" {sign}{i}" for sign in ("", "-") for i in range(100)])
_FIRST = _cells(
    [f".{i:03}" for i in range(1000)]
    # Where nothing follows, zeros at the end go, save that of ".0".
    + [f".{_trimmed(i) or 0}" for i in range(1000)]
)
_LAST = _cells([f"{_trimmed(i):\0<3}," for i in range(1000)])
_TINY = _cells(
    [
        f"{f' {sign}{i / _DECIMALS!r}':\0<11},"
        for sign in ("", "-")
        for i in range(_WITH_EXPONENT)
    ],
    12,
).reshape(-1, 3)
