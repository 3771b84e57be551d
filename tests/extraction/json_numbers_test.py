import json

import numpy as np
import pytest

from bert_tf.extraction import json_numbers


def as_2018(values):
    return [
        json.dumps([round(float(x), 6) for x in row])[1:-1] for row in values
    ]


def test_rows_of_numbers_a_reader_can_check():
    values = np.array([[0.5, -0.19110999, 2e-6], [0, 12, -99.25]], np.float32)
    assert json_numbers.rows(values) == [
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
    assert json_numbers.rows(values) == as_2018(values)


def test_rows_round_ties_to_even_as_2018():
    # k / 128 has 7 decimals, the last a 5 for odd k: 0.0078125 is 0.007812.
    values = (np.arange(-9000, 9000, dtype=np.float32) / 128).reshape(-1, 9)
    made = json_numbers.rows(values)
    assert made == as_2018(values)
    assert "-0.007812" in ", ".join(made).split(", ")


def test_rows_are_those_of_2018_for_floats_of_all_sizes():
    bits = np.random.default_rng(3).integers(0, 2**32, (700, 11), np.uint32)
    values = bits.view(np.float32)
    values[~np.isfinite(values)] = 0
    assert json_numbers.rows(values) == as_2018(values)
    values = np.random.default_rng(4).normal(size=(700, 13))
    scale = 10.0 ** np.arange(-11, 2)
    values = np.clip(values * scale, -99, 99).astype(np.float32)
    assert json_numbers.rows(values) == as_2018(values)


def test_rows_of_nothing_are_none():
    assert json_numbers.rows(np.zeros([0, 5], np.float32)) == []
