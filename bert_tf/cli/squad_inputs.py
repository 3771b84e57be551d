"""Which flags of run_squad.py go together."""

from bert_tf.cli import checks, export_flags
from bert_tf.errors import UserError
from bert_tf.squad import scores

# See checks.check_pairs.
_NEEDED = (
    ("do_train", "train_file"),
    ("do_train", "output_dir"),
    ("do_predict", "predict_file"),
    ("do_predict", "output_dir"),
    ("do_eval", "predict_file"),
    ("do_export", "output_dir"),
)
_IDLE_WITHOUT = (
    ("predictions_file", "do_eval"),
    ("null_odds_file", "predictions_file"),
    ("null_odds_file", "version_2_with_negative"),
    ("early_stopping_patience", "eval_steps"),
    ("eval_steps", "do_train"),
    ("eval_steps", "predict_file"),
)
_JOBS = ("do_train", "do_predict", "do_eval", "do_export")


def check(values):
    """Checks the flags that say what is done.

    Args:
      values: dict, flag -> value, all of run_squad.py.

    Raises:
      UserError: nothing is to be done, or flags do not go together.
    """
    checks.require_job(values, _JOBS)
    checks.check_tpu(values["use_tpu"], values["tpu_name"], values["master"])
    checks.check_pairs(values, needs=_NEEDED, idle_without=_IDLE_WITHOUT)
    export_flags.check(values["do_export"], values["export_dir"])
    is_scored = values["do_predict"] or values["do_eval"]
    is_auto = values["null_score_diff_threshold"] == scores.AUTO
    if values["do_export"] and is_auto and not is_scored:
        raise UserError(
            f"--null_score_diff_threshold={scores.AUTO} with --do_export needs "
            "--do_predict, which finds the threshold. Give it, or a number."
        )
    if values["predictions_file"]:
        _require_scoring_alone(values)
    elif not values["output_dir"]:
        raise UserError(
            "--do_eval without --predictions_file needs --output_dir."
        )


def _require_scoring_alone(values):
    others = [job for job in _JOBS if values[job] and job != "do_eval"]
    if others:
        raise UserError(
            "--predictions_file is scored by --do_eval alone, without a model: "
            f"drop --{' and --'.join(others)}, or drop it."
        )
