"""Scores of predictions, by the official evaluators.

They come with tf-models-official, which gave some of their results other names
and one another unit; here all have the official ones, in percent.
"""

import contextlib
import json
import logging
import math

from bert_tf.errors import UserError
from bert_tf.storage import files, json_files

_logger = logging.getLogger("absl")

# --null_score_diff_threshold: the threshold with the best F1.
AUTO = "auto"

_LISTED = 5


def score(dataset, predictions, *, version_2_with_negative):
    """Compares predictions with the answers of a dataset.

    Args:
      dataset: list of articles, see examples.read_dataset; with answers.
      predictions: dict, id -> str, empty for no answer.
      version_2_with_negative: bool, whether a question may have no answer.

    Returns:
      dict, str -> number in percent. Version 1.1: `exact_match`, `f1`; a
      question without a prediction counts as wrong. Version 2, for questions
      with a prediction: `exact`, `f1`, `total` (a count), and the same with
      HasAns_ and NoAns_ before them.

    Raises:
      UserError: no question has a prediction.
    """
    predictions = _for_questions(dataset, predictions)
    if version_2_with_negative:
        return {
            key: value
            for key, value in _evaluate_v2(dataset, predictions, None).items()
            if not key.startswith(("final_", "pr_"))
        }
    from official.nlp.tools import squad_evaluate_v1_1

    with _silence():
        found = squad_evaluate_v1_1.evaluate(dataset, predictions)
    return {
        "exact_match": 100.0 * found["exact_match"],
        "f1": 100.0 * found["final_f1"],
    }


def score_files(
    dataset, predictions_file, *, version_2_with_negative, null_odds_file=None
):
    """Does so for files; with null odds see `score_thresholds` too.

    Raises:
      UserError: a file cannot be read or is something else, or they do not fit.
    """
    predictions = read_predictions(predictions_file)
    null_odds = read_null_odds(null_odds_file) if null_odds_file else None
    results = score(
        dataset, predictions, version_2_with_negative=version_2_with_negative
    )
    if null_odds is not None:
        results |= score_thresholds(dataset, predictions, null_odds)
    return results


def _evaluate_v2(dataset, predictions, null_odds):
    from official.nlp.tools import squad_evaluate_v2_0

    with _silence():
        return squad_evaluate_v2_0.evaluate(dataset, predictions, null_odds)


def score_thresholds(dataset, best_texts, null_odds):
    """Finds the thresholds of no answer (version 2) with the best scores.

    A run of its own: the evaluator takes the texts as they are before a
    threshold is applied, and always scores them at a threshold of 1.

    Args:
      dataset: list of articles.
      best_texts: dict, id -> str, what is predicted if there is an answer.
      null_odds: dict, id -> float, how much better no answer scores.

    Returns:
      dict: `best_exact`, `best_f1` and `pr_*_ap` in percent, and thresholds.

    Raises:
      UserError: a prediction has no null odds.
    """
    asked = {qa["id"] for qa in _questions(dataset)}
    texts = {key: text for key, text in best_texts.items() if key in asked}
    without = [key for key in texts if key not in null_odds]
    if without:
        raise UserError(
            f"There are no null odds for {len(without)} predictions "
            f"({_first(without)}). They must be of the same run."
        )
    odds = {key: null_odds[key] for key in texts}
    found = _evaluate_v2(dataset, texts, odds)
    return {
        # The names of the original evaluator, see the top.
        key.replace("final_", "best_"): value
        for key, value in found.items()
        if key.startswith(("final_", "pr_"))
    }


def find_best_threshold(dataset, thresholds, null_odds):
    """Picks the --null_score_diff_threshold (float) with the best F1.

    It is below all null odds if no answer at all is best, for which the
    evaluator has no threshold. `thresholds`: from `score_thresholds`.
    """
    asked = [qa for qa in _questions(dataset) if qa["id"] in null_odds]
    num_impossible = sum(not qa["answers"] for qa in asked)
    if thresholds["best_f1"] <= 100.0 * num_impossible / len(asked):
        return min(null_odds.values()) - 1.0
    return thresholds["best_f1_thresh"]


def parse_threshold(text, version_2_with_negative):
    """Reads --null_score_diff_threshold (str): returns a float, or AUTO.

    Raises:
      UserError: it is neither, or AUTO where there always is an answer.
    """
    if text == AUTO:
        if version_2_with_negative:
            return AUTO
        raise UserError(
            f"--null_score_diff_threshold={AUTO} needs "
            "--version_2_with_negative: otherwise every question has an answer."
        )
    try:
        threshold = float(text)
    except ValueError:
        threshold = math.nan
    if not math.isfinite(threshold):
        raise UserError(
            f"--null_score_diff_threshold={text} must be a finite number or "
            f"{AUTO}."
        )
    return threshold


def reason_not_to_score(dataset, version_2_with_negative):
    """Tells (str) why predictions cannot be scored by a dataset, or None."""
    questions = list(_questions(dataset))
    without = [qa["id"] for qa in questions if "answers" not in qa]
    if without:
        return f"{len(without)} questions have no `answers` ({_first(without)})"
    bad = [qa["id"] for qa in questions if not _are_answers(qa["answers"])]
    if bad:
        return (
            f"`answers` of {_first(bad)} must be a list of objects with a "
            "`text`"
        )
    empty = [qa["id"] for qa in questions if not qa["answers"]]
    if empty and not version_2_with_negative:
        return (
            f"{len(empty)} questions have no answer ({_first(empty)}), for "
            "which --version_2_with_negative is needed"
        )
    if len(empty) == len(questions):
        return "no question has an answer"
    return None


def _are_answers(answers):
    return isinstance(answers, list) and all(
        isinstance(answer, dict) and isinstance(answer.get("text"), str)
        for answer in answers
    )


def read_predictions(path):
    """Reads a predictions.json: dict, id -> str. Refuses all else."""
    return _read_entries(path, str, "a text")


def read_null_odds(path):
    """Reads a null_odds.json: dict, id -> finite number. Refuses all else."""
    odds = _read_entries(path, (int, float), "a number")
    for key, value in odds.items():
        if not math.isfinite(value):
            raise UserError(f"{path}: the entry of {key} is {value}.")
    return odds


def _read_entries(path, kind, spelled):
    held = json_files.parse(path, files.read_text(path))
    if not isinstance(held, dict):
        raise UserError(
            f"{path} must hold an object, id to {spelled}, but holds a "
            f"{type(held).__name__}."
        )
    for key, value in held.items():
        if not isinstance(value, kind) or isinstance(value, bool):
            raise UserError(
                f"{path}: the entry of {key} must be {spelled}, but is "
                f"{json.dumps(value)[:40]}."
            )
    return held


def _for_questions(dataset, predictions):
    """Returns the predictions that are for questions; tells what is amiss."""
    asked = {qa["id"] for qa in _questions(dataset)}
    missing = sorted(asked - predictions.keys())
    if len(missing) == len(asked):
        raise UserError(
            f"None of the {len(predictions)} predictions is for one of the "
            f"{len(asked)} questions. They are of another file."
        )
    for ids, what in (
        (missing, "questions have no prediction"),
        (sorted(predictions.keys() - asked), "predictions are for no question"),
    ):
        if ids:
            _logger.warning("%d %s (%s).", len(ids), what, _first(ids))
    # The evaluator of version 2 fails at others.
    return {key: text for key, text in predictions.items() if key in asked}


def _first(ids):
    more = ", ..." if len(ids) > _LISTED else ""
    return ", ".join(ids[:_LISTED]) + more


def _questions(dataset):
    for article in dataset:
        for paragraph in article["paragraphs"]:
            yield from paragraph["qas"]


@contextlib.contextmanager
def _silence():
    # The evaluators log a line for each question without a prediction.
    level = _logger.level
    _logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        _logger.setLevel(level)
