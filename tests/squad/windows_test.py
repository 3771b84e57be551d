"""Tests of cutting contexts into windows."""

import pytest

from bert_tf.errors import UserError
from bert_tf.squad import windows


def spans(*sizes):
    return [planned[:2] for planned in windows.plan_windows(*sizes)]


def test_windows_overlap_and_end_with_the_context():
    assert spans(10, 6, 3) == [(0, 6), (3, 6), (6, 4)]


def test_a_context_that_fits_is_one_window():
    assert spans(6, 6, 3) == [(0, 6)]


def test_a_context_without_a_word_has_no_window():
    assert spans(0, 6, 3) == []


def test_a_stride_beyond_the_window_is_cut_to_it():
    # F75: otherwise pieces 18 to 63 would be in no window.
    assert spans(60, 18, 64) == [(0, 18), (18, 18), (36, 18), (54, 6)]


def test_a_piece_counts_where_most_context_is_around_it():
    """Two windows of 6, from 0 and 3, and one of 4 from 6.

    Piece 3 has 2 pieces on its right in the first, and 0 on its left in the
    second. Piece 4 has 1 in the first, and 1 in the second: of equally good
    ones the first counts. Piece 7 has 1 in the second, 1 in the third, which is
    shorter.
    """
    first, second, third = windows.plan_windows(10, 6, 3)
    assert first[2].tolist() == [True] * 5 + [False]
    assert second[2].tolist() == [False, False, True, True, True, False]
    assert third[2].tolist() == [False, False, True, True]


def test_every_piece_counts_in_one_window():
    planned = windows.plan_windows(101, 17, 5)
    counted = [0] * 101
    for start, length, is_max_context in planned:
        assert len(is_max_context) == length
        for i in range(length):
            counted[start + i] += is_max_context[i]
    assert counted == [1] * 101


def test_an_answer_is_narrowed_to_its_own_pieces():
    pieces = ["(", "1895", "-", "1943", ")", "."]
    assert windows.improve_answer_span(pieces, 0, 5, ["1895"]) == (1, 1)
    assert windows.improve_answer_span(pieces, 0, 5, ["1900"]) == (0, 5)
    assert windows.improve_answer_span(pieces, 0, 5, []) == (0, 5)
    # Only within the answer's words.
    assert windows.improve_answer_span(pieces, 2, 5, ["1895"]) == (2, 5)
    assert windows.improve_answer_span(pieces, 0, 3, ["1943"]) == (3, 3)


def test_an_answer_in_a_window_and_outside():
    window = windows.Window(3, 10, 5, None)  # pieces 10 to 14 at 3 to 7
    assert windows.answer_positions(window, False, 10, 14) == (3, 7)
    assert windows.answer_positions(window, False, 9, 11) == (0, 0)
    assert windows.answer_positions(window, False, 14, 15) == (0, 0)
    assert windows.answer_positions(window, True, -1, -1) == (0, 0)


def test_a_window_needs_room():
    # F73: 2018 looped for ever where this was not checked first.
    with pytest.raises(UserError, match="--max_seq_length=11 leaves no room"):
        windows.require_room(11, 8, 4)
    windows.require_room(12, 8, 4)


def test_windows_move_on():
    with pytest.raises(UserError, match="--doc_stride=0 must be 1 or more"):
        windows.require_room(12, 8, 0)
