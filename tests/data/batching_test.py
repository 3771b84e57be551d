"""Tests of bert_tf.data.batching."""

from bert_tf.data import batching


def test_run_by_length_runs_each_once_and_like_by_like():
    batches = []

    def run(rows):
        batches.append(rows)
        return rows

    rows = [0, 1, 2, 3, 4]
    assert batching.run_by_length(rows, [5, 1, 9, 2, 5], run, 2) == rows
    assert batches == [[1, 3], [0, 4], [2]]
    assert batching.run_by_length([], [], run) == []


def test_run_by_length_gives_results_in_order():
    seen = []

    def run(rows):
        seen.append(rows)
        return [row.upper() for row in rows]

    rows = ["ccc", "a", "bb"]
    assert batching.run_by_length(rows, [3, 1, 2], run, 2) == ["CCC", "A", "BB"]
    assert seen == [["a", "bb"], ["ccc"]]


def test_padded_pads_to_the_longest():
    made = batching.padded([([7, 8, 9], 2), ([7], 1)])
    assert made.tolist() == [
        [[7, 8, 9], [7, 0, 0]],
        [[1, 1, 1], [1, 0, 0]],
        [[0, 0, 1], [0, 0, 0]],
    ]
    assert batching.padded([([7], 1)], 4).shape == (3, 1, 4)
