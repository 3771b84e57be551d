"""Texts of like length together, so that there is little padding.

B batch, S sequence length
"""

import numpy as np

BATCH_SIZE = 32


def run_by_length(rows, lengths, run, batch_size=BATCH_SIZE):
    """Runs rows of like length together; lists the results, one a row.

    `run` is a function of a list of at most B rows that gives a result for
    each, in order.
    """
    order = sorted(range(len(rows)), key=lengths.__getitem__)
    results = [None] * len(rows)
    for start in range(0, len(order), batch_size):
        places = order[start : start + batch_size]
        batch = run([rows[i] for i in places])
        for i, result in zip(places, batch, strict=True):
            results[i] = result
    return results


def padded(packed, length=None):
    """Pads packed texts to `length` (int, S), or to the longest of them.

    `packed` is a list of B pairs, see `text.packing.pack`: list of int, the
    pieces; int, how many of them are in segment 0.

    Returns:
      int32 np.ndarray [3, B, S]: input_ids, input_mask and segment_ids.
    """
    length = length or max(len(ids) for ids, _ in packed)
    inputs = np.zeros([3, len(packed), length], np.int32)
    for row, (ids, num_first) in enumerate(packed):
        inputs[0, row, : len(ids)] = ids
        inputs[1, row, : len(ids)] = 1
        inputs[2, row, num_first : len(ids)] = 1
    return inputs
