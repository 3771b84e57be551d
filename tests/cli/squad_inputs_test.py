"""Which flags of run_squad.py go together; run_squad_test.py has more."""

import collections

import pytest

from bert_tf.cli import squad_inputs
from bert_tf.errors import UserError


def _values(**given):
    return collections.defaultdict(lambda: None, given)


@pytest.mark.parametrize(
    "given",
    [
        {"do_eval": True, "predict_file": "d", "predictions_file": "p"},
        {"do_predict": True, "predict_file": "d", "output_dir": "o"},
        {"do_export": True, "output_dir": "o", "export_dir": "e"},
    ],
)
def test_check_takes_what_goes_together(given):
    squad_inputs.check_switches(_values(**given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "Give at least one of --do_train"),
        ({"do_train": True}, "--do_train needs --train_file"),
        ({"do_export": True}, "--do_export needs --output_dir"),
        (
            {"do_eval": True, "predict_file": "d"},
            "--do_eval without --predictions_file needs --output_dir",
        ),
        (
            {"do_eval": True, "predict_file": "d", "null_odds_file": "n"},
            "--null_odds_file does nothing without --predictions_file",
        ),
        (
            {
                "do_eval": True,
                "predict_file": "d",
                "predictions_file": "p",
                "do_export": True,
                "output_dir": "o",
                "export_dir": "e",
            },
            "without a model: drop --do_export",
        ),
        (
            {
                "do_export": True,
                "output_dir": "o",
                "export_dir": "e",
                "null_score_diff_threshold": "auto",
            },
            "=auto with --do_export needs --do_predict",
        ),
    ],
)
def test_check_refuses(given, message):
    with pytest.raises(UserError, match=message):
        squad_inputs.check_switches(_values(**given))
