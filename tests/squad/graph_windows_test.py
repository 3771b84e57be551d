"""Tests of bert_tf.squad.graph_windows; all comparisons are exact."""

import random

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.squad import graph_windows
from bert_tf.squad.windows import plan_windows

CLS_ID, SEP_ID = 101, 102


def _cut(questions, contexts, **lengths):
    return graph_windows.cut(
        tf.ragged.constant(questions, tf.int32, ragged_rank=1),
        tf.ragged.constant(contexts, tf.int32, ragged_rank=1),
        special_ids=(CLS_ID, SEP_ID),
        **lengths,
    )


def test_plan_is_that_of_the_worked_example():
    """10 pieces, windows of 6, stride 3; then one window, and none."""
    planned = graph_windows.plan(
        tf.constant([10, 4, 0]), tf.constant([6, 5, 5]), 3
    )
    assert planned.questions.numpy().tolist() == [0, 0, 0, 1]
    assert planned.starts.numpy().tolist() == [0, 3, 6, 0]
    assert planned.lengths.numpy().tolist() == [6, 6, 4, 4]


@pytest.mark.parametrize("doc_stride", [1, 2, 5, 11])
def test_plan_agrees_with_python(doc_stride):
    sizes = [(n, room) for n in range(40) for room in range(1, 14)]
    planned = graph_windows.plan(
        *(tf.constant(column) for column in zip(*sizes)), doc_stride
    )
    expected = [
        (question, start, length)
        for question, size in enumerate(sizes)
        for start, length, _ in plan_windows(*size, doc_stride)
    ]
    assert np.stack(planned, axis=-1).tolist() == [list(x) for x in expected]


def test_cut_puts_a_window_beside_the_question():
    # S=9: two of the question's three pieces leave 4 for the context.
    windows = _cut(
        [[7, 8, 9]],
        [[21, 22, 23, 24, 25, 26]],
        max_seq_length=9,
        max_query_length=2,
        doc_stride=3,
    )
    first = [CLS_ID, 7, 8, SEP_ID, 21, 22, 23, 24, SEP_ID]
    second = [CLS_ID, 7, 8, SEP_ID, 24, 25, 26, SEP_ID, 0]
    inputs = {k: v.numpy().tolist() for k, v in windows.inputs.items()}
    assert inputs == {
        "input_ids": [first, second],
        "input_mask": [[1] * 9, [1] * 8 + [0]],
        "segment_ids": [[0] * 4 + [1] * 5, [0] * 4 + [1] * 4 + [0]],
    }
    assert windows.offsets.numpy().tolist() == [4, 4]
    assert windows.first_pieces.numpy().tolist() == [0, 3]
    # Piece 24 is at the edge of both; the first is longer, and so has it.
    expected = [[4, 5, 6, 7], [5, 6]]
    assert [np.flatnonzero(row).tolist() for row in windows.may_start] == (
        expected
    )
    expected = [[4, 5, 6, 7], [4, 5, 6]]
    assert [np.flatnonzero(row).tolist() for row in windows.may_end] == expected


@pytest.mark.parametrize("seed", range(12))
def test_cut_agrees_with_python(seed):
    """Questions and contexts without pieces too; the length is always S."""
    draw = random.Random(seed)
    length = draw.choice([9, 16, 33])
    most = draw.randrange(0, 6)
    stride = draw.choice([1, 2, 3, 7, 40])
    questions = [[5] * draw.randrange(9) for _ in range(13)]
    counts = [draw.choice([0, 1, 5, draw.randrange(80)]) for _ in questions]
    ids = iter(range(1000, 3000))
    contexts = [[next(ids) for _ in range(count)] for count in counts]
    windows = _cut(
        questions,
        contexts,
        max_seq_length=length,
        max_query_length=most,
        doc_stride=stride,
    )
    row = 0
    for number, (question, context) in enumerate(zip(questions, contexts)):
        question = question[:most]
        offset = len(question) + 2
        plan = plan_windows(len(context), length - offset - 1, stride)
        for start, size, is_max_context in plan:
            ids = context[start : start + size]
            packed = [CLS_ID, *question, SEP_ID, *ids, SEP_ID]
            packed += [0] * (length - len(packed))
            assert windows.questions[row] == number
            assert windows.offsets[row] == offset
            before = sum(counts[:number])
            assert windows.first_pieces[row] == before + start
            assert windows.inputs["input_ids"][row].numpy().tolist() == packed
            may_start = np.zeros(length, bool)
            may_start[offset : offset + size] = is_max_context
            may_end = np.zeros(length, bool)
            may_end[offset : offset + size] = True
            np.testing.assert_array_equal(windows.may_start[row], may_start)
            np.testing.assert_array_equal(windows.may_end[row], may_end)
            row += 1
    assert row == len(windows.questions)


@pytest.mark.parametrize("contexts", [[[], []], []])
def test_cut_makes_no_window_of_nothing(contexts):
    windows = _cut(
        [[7] for _ in contexts],
        contexts,
        max_seq_length=8,
        max_query_length=2,
        doc_stride=3,
    )
    assert windows.inputs["input_ids"].shape == [0, 8]
    assert windows.may_start.shape == [0, 8]
