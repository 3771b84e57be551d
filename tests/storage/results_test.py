"""Tests of files of results."""

import numpy as np
import pytest

from bert_tf.errors import UserError
from bert_tf.storage.results import write_results


def test_results_are_written_as_in_2018(tmp_path):
    path = tmp_path / "eval_results.txt"
    results = {
        "next_sentence_accuracy": np.float32(0.2),
        "global_step": 12,
        "masked_lm_accuracy": np.float32(0.0),
        "loss": np.float32(5.7322392),
    }
    write_results(str(path), results)
    assert path.read_text() == (
        "global_step = 12\n"
        "loss = 5.7322392\n"
        "masked_lm_accuracy = 0.0\n"
        "next_sentence_accuracy = 0.2\n"
    )


def test_results_that_are_not_finite_are_refused(tmp_path):
    path = tmp_path / "eval_results.txt"
    results = {"loss": np.float32("nan"), "global_step": 3}
    with pytest.raises(UserError, match="^loss came out as no finite number"):
        write_results(str(path), results)
    assert not path.exists()
