"""Metrics: small cases by hand, and those that are not defined."""

import numpy as np
import pytest

from bert_tf.errors import UserError
from bert_tf.tasks import metrics

# Of single additions and divisions in float64.
_CLOSE = 1e-12


def test_mcc_by_hand():
    # 2 true and 1 false positives, 2 true and 1 false negatives.
    labels, predictions = [1, 1, 1, 0, 0, 0], [1, 1, 0, 1, 0, 0]
    expected = (2 * 2 - 1 * 1) / (3 * 3 * 3 * 3) ** 0.5
    assert metrics.mcc(labels, predictions) == pytest.approx(expected, _CLOSE)
    assert metrics.mcc([0, 1, 2], [0, 1, 2]) == pytest.approx(1, _CLOSE)


@pytest.mark.parametrize(
    ("labels", "predictions"),
    [([0, 1, 1], [1, 1, 1]), ([1, 1], [0, 1]), ([0, 0], [0, 0]), ([1], [1])],
)
def test_mcc_of_constants_is_zero(labels, predictions):
    assert metrics.mcc(labels, predictions) == 0.0


def test_f1_by_hand():
    # Precision 2/3, recall 1/2.
    labels, predictions = [1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 0]
    expected = 2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2)
    assert metrics.f1(labels, predictions) == pytest.approx(expected, _CLOSE)


@pytest.mark.parametrize(
    ("labels", "predictions", "expected"),
    [([0, 0], [0, 0], 0), ([1], [0], 0), ([0, 1], [0, 0], 0), ([1], [1], 1)],
)
def test_f1_where_nothing_is_positive_is_zero(labels, predictions, expected):
    assert metrics.f1(labels, predictions) == expected


def test_f1_of_several_labels_by_hand():
    # L=3, B=4. True positives 2, 1, 0; wrong decisions 0, 1, 2.
    labels = [[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]]
    predictions = [[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 0]]
    micro = 2 * 3 / (2 * 3 + 0 + 1 + 2)
    macro = (1 + 2 / 3 + 0) / 3
    found = metrics.micro_f1(labels, predictions)
    assert found == pytest.approx(micro, _CLOSE)
    found = metrics.macro_f1(np.array(labels), np.array(predictions))
    assert found == pytest.approx(macro, _CLOSE)


def test_f1_of_a_single_column():
    # Precision 1, recall 1/2; the share of right decisions would be 3/4.
    labels, predictions = [[1], [1], [0], [0]], [[1], [0], [0], [0]]
    for function in (metrics.micro_f1, metrics.macro_f1):
        assert function(labels, predictions) == pytest.approx(2 / 3, _CLOSE)


def test_f1_of_several_labels_where_none_is_given_is_zero():
    none = np.zeros([2, 3], int)
    assert metrics.micro_f1(none, none) == 0
    assert metrics.macro_f1(none, none) == 0


def test_correlations_by_hand():
    # Deviations -2, 0, 2 and -3, 0, 3 for a line; then one step that is not.
    assert metrics.pearson([1, 3, 5], [0, 3, 6]) == pytest.approx(1, _CLOSE)
    labels, predictions = [1, 2, 3, 4], [1, 2, 3, 40]
    assert metrics.spearman(labels, predictions) == pytest.approx(1, _CLOSE)
    # Deviations -1.5, -.5, .5, 1.5 and -10.5, -9.5, -8.5, 28.5.
    expected = 59 / (5 * 1085) ** 0.5
    found = metrics.pearson(labels, predictions)
    assert found == pytest.approx(expected, _CLOSE)
    assert metrics.spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1, _CLOSE)


@pytest.mark.parametrize("function", [metrics.pearson, metrics.spearman])
def test_correlations_of_constants_are_zero(function):
    # As everywhere in these tests, a warning would be a failure.
    assert function([1.0, 2.0, 3.0], [2.5, 2.5, 2.5]) == 0.0
    assert function([4.0, 4.0], [1.0, 2.0]) == 0.0
    assert function([4.0], [1.0]) == 0.0
    # The same in float32, in which models compute.
    assert function([1.0, 2.0], [1.0, 1.0 + 1e-15]) == 0.0


@pytest.mark.parametrize("function", [metrics.pearson, metrics.spearman])
def test_correlations_refuse_what_is_not_finite(function):
    with pytest.raises(UserError, match="not finite .* --learning_rate"):
        function([1.0, 2.0], [1.0, float("nan")])


def test_compute_gives_names_and_python_floats():
    found = metrics.compute(("mcc", "f1"), np.array([0, 1]), np.array([0, 1]))
    assert found == pytest.approx({"mcc": 1, "f1": 1}, _CLOSE)
    assert {type(value) for value in found.values()} == {float}
    assert metrics.compute((), [0], [0]) == {}
