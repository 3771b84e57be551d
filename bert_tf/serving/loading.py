"""Weights and what lies beside them, as a model that is served."""

import os

import tensorflow as tf

from bert_tf import (
    common_flags,
    fine_tuning,
    model_folder,
    models,
    weights_path,
)
from bert_tf.checkpoint import load_checkpoint
from bert_tf.errors import UserError
from bert_tf.serving.classifier import Classifier
from bert_tf.serving.masked_lm import MaskedLanguageModel
from bert_tf.tasks.labels import LABELS_FILE, read_stored

_FLAG = "init_checkpoint"


def open_served(kind, path, **given):
    """Makes a model that is served of a checkpoint.

    Args:
      kind: str, a key of KINDS.
      path: str, weights of any format, see `weights_path`.
      given: what is not to be found beside the weights, or another value of
        it: bert_config_file, vocab_file: str; do_lower_case: bool;
        max_seq_length: int, by default as long as the model goes; and what the
        kind's class takes.

    Returns:
      serving.served.Served.

    Raises:
      UserError: something is missing, or does not fit.
    """
    if kind not in KINDS:
        raise UserError(
            f"{kind!r} is no kind of model; there are {', '.join(KINDS)}."
        )
    checkpoint = weights_path.resolve(path, _FLAG)
    config, config_file = model_folder.choose_config(
        given.pop("bert_config_file", None), checkpoint
    )
    lower_case = given.pop("do_lower_case", None)
    flags = {
        "vocab_file": given.pop("vocab_file", None),
        "do_lower_case": True if lower_case is None else lower_case,
    }
    vocab_file, do_lower_case = fine_tuning.choose_vocabulary(
        flags,
        checkpoint,
        config,
        config_file,
        is_case_given=lower_case is not None,
    )
    max_seq_length = given.pop("max_seq_length", config.max_position_embeddings)
    common_flags.check_sequence_length(max_seq_length, config, config_file)
    return KINDS[kind](
        checkpoint,
        config,
        vocab_file=vocab_file,
        do_lower_case=do_lower_case,
        max_seq_length=max_seq_length,
        **given,
    )


def _open_classifier(checkpoint, config, *, is_pair=False, **others):
    folder = os.path.dirname(checkpoint)
    labels = read_stored(folder)
    if labels is None:
        raise UserError(
            f"--{_FLAG}: beside {checkpoint} there is no {LABELS_FILE}, which "
            "run_classifier.py leaves with what it trains."
        )
    model = models.classifier_model(config, labels.num_outputs)
    _load(model, checkpoint)
    return Classifier(model, config, labels=labels, is_pair=is_pair, **others)


def _open_masked_lm(checkpoint, config, **others):
    model = models.pretraining_model(config)
    _load(model, checkpoint)
    return MaskedLanguageModel(model, config, **others)


def _load(model, checkpoint):
    """Loads weights, the head's too."""
    report = load_checkpoint(model, checkpoint)
    if report.new:
        raise UserError(
            f"--{_FLAG}: {checkpoint} lacks {', '.join(report.new)}, without "
            "which there is nothing to serve."
        )


KINDS = {"classifier": _open_classifier, "masked_lm": _open_masked_lm}


def open_export(path):
    """Opens a SavedModel.

    Args:
      path: str, its folder.

    Returns:
      dict, a signature's name -> see `as_arrays`.
    """
    loaded = tf.saved_model.load(path)
    return {
        # What is loaded lives only as long as something refers to it.
        name: as_arrays(function, loaded)
        for name, function in loaded.signatures.items()
    }


def as_arrays(function, *kept):
    """Makes a function of tensors one of arrays.

    Args:
      function: takes tensors by name, returns a dict of them.
      kept: what has to live as long as the function.

    Returns:
      function that takes np.ndarray by name, returns a dict of them.
    """

    def run(**arrays):
        tensors = {name: tf.constant(value) for name, value in arrays.items()}
        outputs = function(**tensors)
        return {name: value.numpy() for name, value in outputs.items()}

    run.kept = kept
    return run
