"""What papers report of a task, beside accuracy and loss.

scikit-learn and SciPy do the counting. Where a metric is not defined, the value
here claims no more than chance: results go to files, in which a NaN would spoil
every comparison.

B examples, L labels
"""

import numpy as np

from bert_tf.errors import UserError


def mcc(labels, predictions):
    """Matthews' correlation coefficient of int [B] each, of CoLA.

    Returns a float from -1 to 1; 0 where one of the two is the same everywhere.
    """
    if _is_constant(labels) or _is_constant(predictions):
        return 0.0
    from sklearn import metrics  # Deferred: it takes a second.

    return float(metrics.matthews_corrcoef(labels, predictions))


def f1(labels, predictions):
    """F1 of the label with id 1 of int [B] each, of MRPC and QQP.

    Returns a float from 0 to 1; 0 where nothing is right.
    """
    from sklearn import metrics

    return float(metrics.f1_score(labels, predictions, zero_division=0))


def micro_f1(labels, predictions):
    """F1 over all decisions, each label of each example: int [B, L], 0 or 1.

    Returns a float from 0 to 1; 0 where nothing is right.
    """
    return f1(np.ravel(labels), np.ravel(predictions))


def macro_f1(labels, predictions):
    """The mean of the labels' F1, of int [B, L] each, 0 or 1.

    Returns a float from 0 to 1; a label that is nowhere right counts as 0.
    """
    # Not by scikit-learn's own mean, which takes a single column for one of
    # two classes.
    columns = zip(np.transpose(labels), np.transpose(predictions))
    return float(np.mean([f1(*column) for column in columns]))


def pearson(labels, predictions):
    """Pearson's correlation coefficient of float [B] each, of STS-B.

    Returns a float from -1 to 1; 0 where one of the two is the same everywhere.
    A UserError if a prediction is not finite.
    """
    from scipy import stats

    return _correlation(stats.pearsonr, labels, predictions)


def spearman(labels, predictions):
    """Spearman's correlation coefficient, of STS-B; see `pearson`."""
    from scipy import stats

    return _correlation(stats.spearmanr, labels, predictions)


def _correlation(function, labels, predictions):
    if not np.isfinite(predictions).all():
        raise UserError(
            "Predictions are not finite numbers, so the model has diverged. "
            "Train it anew with a lower --learning_rate."
        )
    labels, predictions = np.float32(labels), np.float32(predictions)
    if _is_constant(labels) or _is_constant(predictions):
        return 0.0
    # In float64, since squares are summed up.
    result = function(labels.astype(np.float64), predictions.astype(np.float64))
    return float(result.statistic)


def _is_constant(values):
    return np.ptp(values) == 0


METRICS = {
    function.__name__: function
    for function in (mcc, f1, micro_f1, macro_f1, pearson, spearman)
}


def compute(names, labels, predictions):
    """Computes metrics by their names in METRICS; a dict, name -> float.

    Both arrays have B >= 1 first; see the functions for the rest.
    """
    return {name: METRICS[name](labels, predictions) for name in names}
