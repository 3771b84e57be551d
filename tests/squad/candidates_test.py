"""Logits to candidates."""

import numpy as np
import pytest

from bert_tf.errors import UserError
from bert_tf.squad import candidates
from bert_tf.squad.windows import Question, Window

# S=6: [CLS] question [SEP] two pieces [SEP].
_OFFSET = 3


def _window(start, is_max_context):
    return Window(
        offset=_OFFSET,
        start=start,
        length=len(is_max_context),
        is_max_context=np.array(is_max_context),
    )


def _question(qas_id, *windows):
    return Question(
        qas_id=qas_id, question_ids=[7], tokenized=None, windows=windows
    )


def _choose(questions, starts, ends, **flags):
    flags = {
        "n_best_size": 6,
        "max_answer_length": 9,
        "version_2_with_negative": False,
        **flags,
    }
    return candidates.choose(
        questions, np.float32(starts), np.float32(ends), **flags
    )


def test_choose_one_window():
    # Pieces 0 and 1 stand at positions 3 and 4. Of their four pairs one ends
    # before it starts; sums are 1+5, 1+7 and 2+7.
    question = _question("q", _window(0, [True, True]))
    found = _choose([question], [[9, 9, 9, 1, 2, 9]], [[9, 9, 9, 5, 7, 9]])
    assert list(found.of(0)) == [(1, 1, 2, 7), (0, 1, 1, 7), (0, 0, 1, 5)]
    assert found.null_logits is None


def test_choose_lets_padding_take_places_among_the_best():
    question = _question("q", _window(0, [True, True]))
    # Four positions that are no pieces are better than those two.
    starts, ends = [[9, 9, 9, 1, 2, 9]], [[9, 9, 9, 5, 7, 9]]
    assert not list(_choose([question], starts, ends, n_best_size=4).of(0))
    found = _choose([question], starts, ends, n_best_size=5)
    assert list(found.of(0)) == [(1, 1, 2, 7)]


def test_choose_of_equal_logits_takes_the_first_positions():
    question = _question("q", _window(0, [True, True, True]))
    # -0 equals 0: were it less, position 3 would be left out.
    starts, ends = [[-1, -1, -1, -0.0, 0, 0]], [[-1, -1, -1, 0, -0.0, 0]]
    found = _choose([question], starts, ends, n_best_size=2)
    assert [pair[:2] for pair in found.of(0)] == [(0, 0), (0, 1), (1, 1)]


def test_choose_drops_long_answers_and_starts_without_most_context():
    question = _question("q", _window(10, [True, False, True]))
    zeros = np.zeros([1, 6])
    found = _choose([question], zeros, zeros, max_answer_length=2)
    # From the middle one no answer begins, and three pieces are too long.
    assert [pair[:2] for pair in found.of(0)] == [
        (10, 10),
        (10, 11),
        (12, 12),
    ]


def test_choose_several_windows_and_questions():
    questions = [
        _question("q1", _window(0, [True]), _window(1, [True])),
        _question("q2"),
        _question("q3", _window(5, [True])),
    ]
    starts = np.zeros([3, 6])
    starts[1, _OFFSET] = 2
    found = _choose(questions, starts, np.zeros([3, 6]))
    assert found.bounds == [0, 2, 2, 3]
    assert list(found.of(0)) == [(1, 1, 2, 0), (0, 0, 0, 0)]
    assert not list(found.of(1))
    assert list(found.of(2)) == [(5, 5, 0, 0)]


def test_choose_adds_no_answer_of_the_window_where_it_is_least_likely():
    questions = [
        _question("q1", *[_window(i, [True]) for i in range(3)]),
        _question("q2"),
    ]
    starts, ends = np.zeros([3, 6]), np.zeros([3, 6])
    # Sums at [CLS] are 5, -1 and -1: the first of equal ones counts.
    starts[:, 0], ends[:, 0] = [2, -3, -2], [3, 2, 1]
    starts[2, _OFFSET] = -1
    found = _choose(questions, starts, ends, version_2_with_negative=True)
    none = candidates.NO_PIECE
    assert list(found.of(0)) == [
        (0, 0, 0, 0),
        (1, 1, 0, 0),
        # Equal to no answer, which is put last before sorting.
        (2, 2, -1, 0),
        (none, none, -3, 2),
    ]
    assert found.null_logits == [(-3, 2), (0, 0)]
    assert not list(found.of(1))


def test_choose_adds_logits_in_float64():
    question = _question("q", _window(0, [True, True]))
    # In float32 both sums of 2**24 and 0 or 1 would be 2**24.
    ends = [[-9, -9, -9, 0, 1, -9]]
    found = _choose([question], [[0, 0, 0, 2**24, 0, 0]], ends)
    assert next(found.of(0)) == (0, 1, 2**24, 1)


def test_choose_without_windows():
    empty = np.zeros([0, 6])
    found = _choose(
        [_question("q")], empty, empty, version_2_with_negative=True
    )
    assert found.bounds == [0, 0]
    assert _choose([], empty, empty, version_2_with_negative=True).bounds == [0]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", [0, 1])
def test_choose_refuses_what_is_not_finite(value, which):
    questions = [
        _question("q1", _window(0, [True])),
        _question("q2"),
        _question("q3", _window(0, [True]), _window(1, [True])),
    ]
    logits = np.zeros([2, 3, 6])
    logits[which, 1, 4] = value
    with pytest.raises(UserError, match="'q3'.* position 4 .*diverged"):
        _choose(questions, *logits)


def test_candidates_come_in_blocks():
    # 20 pieces have 210 spans, more than a block.
    window = _window(0, [True] * 20)
    generator = np.random.default_rng(5)
    logits = generator.normal(size=[2, 1, 30])
    found = list(
        _choose(
            [_question("q", window)],
            *logits,
            n_best_size=30,
            max_answer_length=30,
        ).of(0)
    )
    assert len(found) == 210
    sums = [start + end for _, _, start, end in found]
    assert sums == sorted(sums, reverse=True)
