"""Numbers as JSON has them, rounded to 6 decimals, fast.

R rows, D numbers in a row
"""

import numpy as np

_DECIMALS = 10**6
# From here on the table below has no room for what stands before the point.
_TOO_LARGE = 100 * _DECIMALS
# Below 0.0001 Python writes an exponent, as in 1.2e-05.
_WITH_EXPONENT = 100


def rows(values):
    """Writes each row as the inside of a JSON list.

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
    """Returns texts (list of str) as cells of 4 bytes, filled up with NUL."""
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
