"""Tests of bringing questions and logits together."""

import types

import numpy as np
import pytest

from bert_tf.cli import squad_run
from bert_tf.errors import UserError
from bert_tf.squad.converter import FIRST_UNIQUE_ID


def questions(*num_windows):
    return [types.SimpleNamespace(windows=[None] * n) for n in num_windows]


def batches(*sizes, first=FIRST_UNIQUE_ID):
    """Batches in which window n has the logits [n, n, n] and -[n, n, n]."""
    numbers = iter(range(sum(sizes)))
    for size in sizes:
        ids = np.array([next(numbers) for _ in range(size)])
        logits = np.repeat(ids[:, None], 3, axis=1).astype(np.float32)
        yield ids + first, logits, -logits


@pytest.fixture(autouse=True)
def few_windows_at_a_time(monkeypatch):
    monkeypatch.setattr(squad_run, "_WINDOWS_AT_A_TIME", 3)


def test_each_question_gets_its_windows():
    # 3 windows and more make a chunk: 1 + 2, 4 + 0 is one, 1 is left.
    asked = questions(1, 2, 4, 0, 1)
    chunks = list(squad_run.group_by_question(asked, batches(2, 2, 2, 2)))
    assert [chunk for chunk, _, _ in chunks] == [
        asked[:2],
        asked[2:3],
        asked[3:],
    ]
    assert [starts[:, 0].tolist() for _, starts, _ in chunks] == [
        [0, 1, 2],
        [3, 4, 5, 6],
        [7],
    ]
    for _, starts, ends in chunks:
        np.testing.assert_array_equal(ends, -starts)


def test_questions_without_a_window_need_no_batch():
    ((_, starts, ends),) = squad_run.group_by_question(questions(0, 0), ())
    assert len(starts) == len(ends) == 0


def test_too_few_windows_are_an_error():
    with pytest.raises(UserError, match="does not hold the windows"):
        list(squad_run.group_by_question(questions(3), batches(2)))


def test_other_windows_are_an_error():
    with pytest.raises(UserError, match="does not hold the windows"):
        list(squad_run.group_by_question(questions(1), batches(1, first=7)))
