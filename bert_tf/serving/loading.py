"""Weights and what lies beside them, as a model that is served."""

import os

import tensorflow as tf

from bert_tf.errors import UserError
from bert_tf.model import models
from bert_tf.model.encoder import BertEncoder
from bert_tf.serving.classifier import Classifier
from bert_tf.serving.hub_encoder import HubEncoder
from bert_tf.serving.masked_lm import ServedMaskedLM
from bert_tf.serving.question_answering import QuestionAnswering
from bert_tf.tasks.labels import LABELS_FILE, read_stored
from bert_tf.text import packing
from bert_tf.weights import model_choice, model_folder, weights_path
from bert_tf.weights.loading import load_checkpoint

_FLAG = "init_checkpoint"

# run_squad.py's default.
_LONGEST_WINDOW = 384


def open_served(
    kind,
    path,
    *,
    bert_config_file=None,
    vocab_file=None,
    do_lower_case=None,
    max_seq_length=None,
    **options,
):
    """Makes a model that is served of a checkpoint.

    Args:
      kind: str, a key of KINDS.
      path: str, weights of any format, see `weights_path`.
      bert_config_file, vocab_file: str, or None for what lies beside the
        weights; an encoder may be without vocabulary.
      do_lower_case: bool, or None for what is said beside them, else true.
      max_seq_length: int, or None for that of the training, if it is said
        beside the weights; else as long as the model goes, and of question
        answering 384 at most.
      options: what the kind's class takes.

    Returns:
      serving.servable.Servable.

    Raises:
      UserError: something is missing, or does not fit.
    """
    if kind not in KINDS:
        raise UserError(
            f"{kind!r} is no kind of model; there are {', '.join(KINDS)}."
        )
    checkpoint = weights_path.resolve(path, _FLAG)
    config, config_file = model_folder.choose_config(
        bert_config_file, checkpoint
    )
    if max_seq_length is None:
        max_seq_length = _longest(kind, checkpoint, config)
    packing.require_room(max_seq_length)
    model_choice.check_sequence_length(max_seq_length, config, config_file)
    if (
        kind != "encoder"
        or vocab_file
        or model_folder.find_vocabulary(None, checkpoint)
    ):
        vocab_file, do_lower_case = model_choice.choose_vocabulary(
            {
                "vocab_file": vocab_file,
                "do_lower_case": do_lower_case in (None, True),
            },
            checkpoint,
            config,
            config_file,
            is_case_given=do_lower_case is not None,
        )
    return KINDS[kind](
        checkpoint,
        config,
        vocab_file=vocab_file,
        do_lower_case=do_lower_case,
        max_seq_length=max_seq_length,
        **options,
    )


def _longest(kind, checkpoint, config):
    """Returns the most pieces (int) that a text has, where no one says so."""
    longest = config.max_position_embeddings
    if kind == "question_answering":
        longest = min(longest, _LONGEST_WINDOW)
    trained = model_folder.length_beside(checkpoint) or longest
    return min(trained, config.max_position_embeddings)


def _open_classifier(checkpoint, config, *, is_pair=None, **others):
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


def _open_question_answering(checkpoint, config, **others):
    model = models.question_answering_model(config)
    _load(model, checkpoint)
    return QuestionAnswering(model, config, **others)


def _open_masked_lm(checkpoint, config, **others):
    model = models.pretraining_model(config)
    _load(model, checkpoint)
    return ServedMaskedLM(model, config, **others)


def _open_encoder(checkpoint, config, **others):
    encoder = BertEncoder(config)
    load_checkpoint(encoder, checkpoint)
    return HubEncoder(encoder, config, **others)


def _load(model, checkpoint):
    """Loads weights, which must have the head's too."""
    report = load_checkpoint(model, checkpoint)
    if report.new:
        raise UserError(
            f"--{_FLAG}: {checkpoint} lacks {', '.join(report.new)}, without "
            "which there is nothing to serve."
        )


KINDS = {
    "classifier": _open_classifier,
    "question_answering": _open_question_answering,
    "masked_lm": _open_masked_lm,
    "encoder": _open_encoder,
}


def open_export(path):
    """Opens the folder of a SavedModel.

    Returns:
      dict, a signature's name -> see `as_arrays`.

    Raises:
      UserError: it cannot be loaded.
    """
    try:
        loaded = tf.saved_model.load(path)
    except (tf.errors.OpError, OSError, ValueError, IndexError) as error:
        raise UserError(
            f"{path} cannot be loaded; it may be damaged or not whole: {error}"
        ) from error
    return {
        # What is loaded lives only as long as something refers to it.
        name: as_arrays(function, loaded)
        for name, function in loaded.signatures.items()
    }


def as_arrays(function, *kept):
    """Makes a function of arrays, by name, of one of tensors.

    Both return a dict of them. `kept` has to live as long as the function.
    """

    def run(**arrays):
        tensors = {name: tf.constant(value) for name, value in arrays.items()}
        outputs = function(**tensors)
        return {name: value.numpy() for name, value in outputs.items()}

    run.kept = kept
    return run
