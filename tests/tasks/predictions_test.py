"""Files of predictions."""

import numpy as np
import pytest

from bert_tf.errors import UserError
from bert_tf.tasks import predictions
from bert_tf.tasks.labels import CLASSIFICATION, MULTI_LABEL, REGRESSION, Labels

_RTE = Labels(CLASSIFICATION, ("entailment", "not_entailment"))
_SEVERAL = Labels(MULTI_LABEL, ("e", "k", "m"))
_NUMBER = Labels(REGRESSION)


@pytest.mark.parametrize("task", ["CoLA", "MNLI", "MRPC"])
def test_test_results_are_written_as_in_2018(tmp_path, golden, task):
    path = golden / "tasks" / "classifier" / task / "test_results.tsv"
    # L is 2 or 3.
    values = np.loadtxt(path, np.float32, delimiter="\t")
    predictions.write_test_results(str(tmp_path / "x.tsv"), values)
    assert (tmp_path / "x.tsv").read_bytes() == path.read_bytes()


def test_test_results_of_few_rows_and_small_numbers(tmp_path):
    path = tmp_path / "x.tsv"
    # F63: a line for one row. Float64 is written as the model's float32.
    predictions.write_test_results(str(path), [[1e-5, 0.1, 1.0]])
    assert path.read_text() == "1e-05\t0.1\t1.0\n"
    predictions.write_test_results(str(path), [[2.5], [-0.125]])
    assert path.read_text() == "2.5\n-0.125\n"


def test_predicted_labels():
    values = [[0.25, 0.75], [0.5, 0.5]]
    found = predictions.predicted_labels(values, _RTE)
    assert found == ["not_entailment", "entailment"]
    values = [[0.75, 0.5, 0.625], [0.1, 0.2, 0.3]]
    assert predictions.predicted_labels(values, _SEVERAL) == ["e,m", ""]
    found = predictions.predicted_labels([[2.1], [-1.0]], _NUMBER)
    assert found == ["2.1", "-1.0"]


def test_predictions_with_labels(tmp_path):
    path = tmp_path / "x.tsv"
    values = [[0.25, 0.75], [0.875, 0.125]]
    predictions.write_predictions_with_labels(
        str(path), ["test-1", "test-2"], values, _RTE
    )
    assert path.read_text() == (
        "id\tprediction\tentailment\tnot_entailment\n"
        "test-1\tnot_entailment\t0.25\t0.75\n"
        "test-2\tentailment\t0.875\t0.125\n"
    )
    predictions.write_predictions_with_labels(
        str(path), ["test-1"], [[2.5]], _NUMBER
    )
    assert path.read_text() == "id\tprediction\ntest-1\t2.5\n"


def test_submission_of_labels(tmp_path):
    path = tmp_path / "RTE.tsv"
    values = [[0.25, 0.75], [0.875, 0.125]]
    predictions.write_submission(str(path), values, _RTE)
    assert path.read_text() == (
        "index\tprediction\n0\tnot_entailment\n1\tentailment\n"
    )


def test_submission_of_scores(tmp_path):
    path = tmp_path / "STS-B.tsv"
    values = [[2.71828], [-0.5], [5.25], [-1e-9], [4.9996]]
    predictions.write_submission(str(path), values, _NUMBER)
    lines = path.read_text().splitlines()
    scores = ["2.718", "0.000", "5.000", "0.000", "5.000"]
    assert lines[0] == "index\tprediction"
    assert lines[1:] == [f"{i}\t{score}" for i, score in enumerate(scores)]


@pytest.mark.parametrize(
    "write",
    [
        lambda path, values: predictions.write_test_results(path, values),
        lambda path, values: predictions.write_submission(path, values, _RTE),
        lambda path, values: predictions.write_predictions_with_labels(
            path, ["a", "b"], values, _RTE
        ),
    ],
)
def test_what_is_not_finite_is_refused(tmp_path, write):
    values = [[0.5, 0.5], [float("nan"), 0.5]]
    with pytest.raises(UserError, match=r"row 2 of 2 is \[nan, 0.5\], so the"):
        write(str(tmp_path / "x.tsv"), values)
    assert not (tmp_path / "x.tsv").exists()


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(UserError, match="gone/x.tsv cannot be written"):
        predictions.write_test_results(f"{tmp_path}/gone/x.tsv", [[1.0]])
