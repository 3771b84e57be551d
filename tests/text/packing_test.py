"""Texts to [CLS] A [SEP] B [SEP]."""

import itertools

import pytest

from bert_tf.text import packing

_CLS_SEP = (1, 2)


def _piece_by_piece(length_a, length_b, most):
    """Drops a piece at a time, as 2018 did."""
    while length_a + length_b > most:
        if length_a > length_b:
            length_a -= 1
        else:
            length_b -= 1
    return length_a, length_b


def test_truncated_lengths_of_the_worked_example():
    assert packing.truncated_lengths(5, 3, 5) == (3, 2)
    assert packing.truncated_lengths(5, 3, 7) == (4, 3)
    assert packing.truncated_lengths(5, 3, 8) == (5, 3)


def test_truncated_lengths_are_those_of_dropping_piece_by_piece():
    for lengths in itertools.product(range(8), range(8), range(16)):
        expected = _piece_by_piece(*lengths)
        assert packing.truncated_lengths(*lengths) == expected, lengths


@pytest.mark.parametrize(
    ("ids_a", "ids_b", "length", "expected"),
    [
        ([7, 8], [], 4, ([1, 7, 8, 2], 4, False)),
        ([7, 8, 9], [], 4, ([1, 7, 8, 2], 4, True)),
        ([], [], 4, ([1, 2], 2, False)),
        ([7], [8, 9], 6, ([1, 7, 2, 8, 9, 2], 3, False)),
        ([7], [8, 9], 5, ([1, 7, 2, 8, 2], 3, True)),
        ([], [8, 9], 5, ([1, 2, 8, 9, 2], 2, False)),
        # Of B nothing is left: no second [SEP].
        ([7], [8, 9], 4, ([1, 7, 2], 3, True)),
        ([7], [8, 9], 3, ([1, 2], 2, True)),
    ],
)
def test_pack(ids_a, ids_b, length, expected):
    assert packing.pack(ids_a, ids_b, length, _CLS_SEP) == expected
