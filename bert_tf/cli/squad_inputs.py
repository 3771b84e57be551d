"""What run_squad.py finds out from its flags, before TensorFlow.

Functions take the script's flags as an absl FlagValues. What is refused is a
UserError that names the flag, or the file and place.
"""

import dataclasses
import os
import random

from bert_tf.cli import checks, export_flags
from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.squad import examples, scores
from bert_tf.squad.converter import Conversion
from bert_tf.storage import files
from bert_tf.storage.results import write_results
from bert_tf.weights import model_choice, model_folder

# 2018's order of training examples.
_SHUFFLE_SEED = 12345

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


@dataclasses.dataclass(frozen=True, kw_only=True)
class Inputs:
    """What the flags name, read and checked."""

    config: BertConfig
    conversion: Conversion
    threshold: float | str  # --null_score_diff_threshold
    train: list  # of SquadExample
    num_train_steps: int
    predict: list  # of SquadExample
    dataset: list | None  # the articles of `predict`, if they have answers


def check(flags):
    """Finds what is wrong with flags and data; returns the Inputs."""
    check_switches(flags.flag_values_dict())
    threshold = _threshold(flags)
    model = model_choice.choose_model(
        flags.flag_values_dict(), is_case_given=flags["do_lower_case"].present
    )
    conversion = Conversion(
        vocab_file=model.vocab_file,
        do_lower_case=model.do_lower_case,
        max_seq_length=flags.max_seq_length,
        doc_stride=flags.doc_stride,
        max_query_length=flags.max_query_length,
    )
    for folder in model.folders(flags.output_dir, to_train=flags.do_train):
        model_folder.require_same_vocabulary(folder, model.vocab_file)
    train, num_train_steps = _read_train(flags)
    predict, dataset = _read_predict(flags)
    return Inputs(
        config=model.config,
        conversion=conversion,
        threshold=threshold,
        train=train,
        num_train_steps=num_train_steps,
        predict=predict,
        dataset=dataset,
    )


def check_switches(values):
    """Refuses flags (dict, by name) that do nothing or do not go together."""
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


def _threshold(flags):
    """Returns --null_score_diff_threshold as float or AUTO."""
    return scores.parse_threshold(
        flags.null_score_diff_threshold, flags.version_2_with_negative
    )


def _read_train(flags):
    """Returns the training examples and how many steps they are gone through.

    Source: the order is that of `main` in run_squad.py (2018).
    """
    if not flags.do_train:
        return [], 0
    read = examples.read_squad_examples(
        flags.train_file,
        is_training=True,
        version_2_with_negative=flags.version_2_with_negative,
    )
    num_train_steps = checks.count_steps(
        len(read),
        num_train_epochs=flags.num_train_epochs,
        train_batch_size=flags.train_batch_size,
    )
    random.Random(_SHUFFLE_SEED).shuffle(read)
    return read, num_train_steps


def _read_predict(flags):
    """Returns the examples to answer and the articles, if with answers."""
    if not (flags.do_predict or flags.do_eval or flags.eval_steps):
        return [], None
    dataset = examples.read_dataset(flags.predict_file)
    read = examples.make_examples(
        dataset, flags.predict_file, is_training=False
    )
    return read, _with_answers(flags, dataset)


def _with_answers(flags, dataset):
    """Returns the articles, or None if they have no answers to score by."""
    reason = scores.reason_not_to_score(dataset, flags.version_2_with_negative)
    if reason is None:
        return dataset
    wanted = [flag for flag in ("do_eval", "eval_steps") if flags[flag].value]
    if _threshold(flags) == scores.AUTO:
        wanted.append(f"null_score_diff_threshold={scores.AUTO}")
    if wanted:
        raise UserError(
            f"--{wanted[0]} needs answers to compare with, but in "
            f"--predict_file={flags.predict_file} {reason}."
        )
    return None


def score_predictions(flags):
    """Scores --predictions_file: no model, no vocabulary, no TensorFlow."""
    check_switches(flags.flag_values_dict())
    dataset = _with_answers(flags, examples.read_dataset(flags.predict_file))
    measured = scores.score_files(
        dataset,
        flags.predictions_file,
        version_2_with_negative=flags.version_2_with_negative,
        null_odds_file=flags.null_odds_file,
    )
    folder = os.path.dirname(flags.predictions_file)
    if flags.output_dir:
        folder = flags.output_dir
        files.make_output_folder(folder, "output_dir")
    write_results(os.path.join(folder, "eval_results.txt"), measured)
