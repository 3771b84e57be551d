"""Tests of bert_tf.text.graph_packing; all comparisons are exact."""

import random

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.text import graph_packing, packing

CLS_ID, SEP_ID = 101, 102


def _pack(rows_a, rows_b, **options):
    rows_b = None if rows_b is None else tf.ragged.constant(rows_b, tf.int32)
    packed = graph_packing.pack(
        tf.ragged.constant(rows_a, tf.int32, ragged_rank=1),
        rows_b,
        special_ids=(CLS_ID, SEP_ID),
        **options,
    )
    return {name: value.numpy().tolist() for name, value in packed.items()}


def test_truncated_lengths_agrees_with_python():
    sizes = [
        (a, b, most) for a in range(7) for b in range(7) for most in range(9)
    ]
    a, b, most = np.array(sizes).T
    found = graph_packing.truncated_lengths(*map(tf.constant, (a, b, most)))
    expected = [packing.truncated_lengths(*row) for row in sizes]
    assert np.stack(found, axis=-1).tolist() == [list(row) for row in expected]


def test_keep_first_keeps_a_number_of_each_row():
    rows = tf.ragged.constant([[5, 6, 7], [], [8, 9]])
    kept = graph_packing.keep_first(rows, tf.constant([2, 0, 2]))
    assert kept.to_list() == [[5, 6], [], [8, 9]]


def test_pack_pads_to_the_longest_row():
    packed = _pack([[7], [], [8, 9, 10]], None, max_seq_length=4)
    assert packed == {
        "input_ids": [
            [CLS_ID, 7, SEP_ID, 0],
            [CLS_ID, SEP_ID, 0, 0],
            [CLS_ID, 8, 9, SEP_ID],
        ],
        "input_mask": [[1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 1, 1]],
        "segment_ids": [[0] * 4] * 3,
    }


@pytest.mark.parametrize("length", [8, tf.constant(8)])
def test_pack_pads_to_a_given_length(length):
    packed = _pack([[7]], [[8, 9]], max_seq_length=6, length=length)
    assert packed == {
        "input_ids": [[CLS_ID, 7, SEP_ID, 8, 9, SEP_ID, 0, 0]],
        "input_mask": [[1] * 6 + [0] * 2],
        "segment_ids": [[0, 0, 0, 1, 1, 1, 0, 0]],
    }


@pytest.mark.parametrize("max_seq_length", [3, 4, 5, 6, 9])
def test_pack_agrees_with_python_on_pairs(max_seq_length):
    """Empty texts on either side, and texts that are cut to nothing, too."""
    draw = random.Random(max_seq_length)
    rows_a, rows_b = (
        [
            [draw.randrange(200, 300) for _ in range(draw.randrange(7))]
            for _ in range(60)
        ]
        for _ in range(2)
    )
    packed = _pack(rows_a, rows_b, max_seq_length=max_seq_length)
    for row, (ids_a, ids_b) in enumerate(zip(rows_a, rows_b)):
        ids, num_first, _ = packing.pack(
            ids_a, ids_b, max_seq_length, (CLS_ID, SEP_ID)
        )
        length = len(packed["input_ids"][row])
        padding = [0] * (length - len(ids))
        segments = [0] * num_first + [1] * (len(ids) - num_first)
        assert packed["input_ids"][row] == ids + padding
        assert packed["input_mask"][row] == [1] * len(ids) + padding
        assert packed["segment_ids"][row] == segments + padding


def test_pack_takes_no_text_at_all():
    packed = _pack([], None, max_seq_length=4, length=4)
    assert packed["input_ids"] == []


def test_pack_wants_as_many_second_texts_as_first_ones():
    with pytest.raises(tf.errors.InvalidArgumentError, match="as many second"):
        _pack([[7], [8]], [[9]], max_seq_length=9)


def test_pack_wants_room():
    with pytest.raises(tf.errors.InvalidArgumentError, match="3 or more"):
        _pack([[7]], None, max_seq_length=2)
