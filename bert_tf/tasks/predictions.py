"""Files of predictions: 2018's, one with labels, and one for the GLUE server.

All have a line for each row of the data, in its order. Their values, float
[B, L], are probabilities in the order of the labels' ids; for a regression,
[B, 1], the numbers. If one is not finite, or the file cannot be written, that
is a UserError.

B examples, L labels
"""

import numpy as np

from bert_tf.errors import UserError
from bert_tf.storage import files
from bert_tf.tasks.labels import CLASSIFICATION, REGRESSION

# Above it a label among several is given.
MULTI_LABEL_THRESHOLD = 0.5

# What STS-B's scores range over.
_LEAST_SCORE, _GREATEST_SCORE = 0.0, 5.0


def write_test_results(path, values):
    """Writes the predictions as 2018 did: bare numbers with tabs between.

    Source: `main` in run_classifier.py (2018).
    """
    _write_rows(path, _as_finite(values))


def predicted_labels(values, labels):
    """Tells which Labels the values stand for.

    Returns:
      list of B str: a label, the first of equally probable ones; those of more
      than even probability with commas between; for a regression the number.
    """
    if labels.kind == REGRESSION:
        return [str(number) for (number,) in np.asarray(values, np.float32)]
    if labels.kind == CLASSIFICATION:
        return [labels.names[i] for i in np.argmax(values, axis=-1)]
    return [
        ",".join(
            name
            for name, value in zip(labels.names, row)
            if value > MULTI_LABEL_THRESHOLD
        )
        for row in values
    ]


def write_predictions_with_labels(path, ids, values, labels):
    """Writes a table with a header: id, prediction, each label's value."""
    values = _as_finite(values)
    # The number of a regression is the prediction itself.
    columns = values if labels.names else [()] * len(values)
    rows = zip(ids, predicted_labels(values, labels), columns, strict=True)
    _write_rows(
        path,
        [
            ["id", "prediction", *labels.names],
            *([row_id, name, *row] for row_id, name, row in rows),
        ],
    )


def write_submission(path, values, labels):
    """Writes what the GLUE server takes; `path` is named as it wants it."""
    values = _as_finite(values)
    if labels.kind == REGRESSION:
        # Zero is added so that none is written as -0.000.
        scores = np.clip(values[:, 0], _LEAST_SCORE, _GREATEST_SCORE) + 0.0
        words = [f"{score:.3f}" for score in scores]
    else:
        words = predicted_labels(values, labels)
    _write_rows(path, [["index", "prediction"], *enumerate(words)])


def _as_finite(values):
    # float32, as the model gives them: other types have other decimals.
    values = np.asarray(values, np.float32)
    bad = np.flatnonzero(~np.isfinite(values).all(axis=-1))
    if bad.size:
        raise UserError(
            f"The prediction for row {bad[0] + 1} of {len(values)} is "
            f"{values[bad[0]].tolist()}, so the model has diverged. Train it "
            "anew with a lower --learning_rate, or use another checkpoint."
        )
    return values


def _write_rows(path, rows):
    lines = ("\t".join(map(str, row)) + "\n" for row in rows)
    files.write_text(path, "".join(lines))
