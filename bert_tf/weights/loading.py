"""A model's variables by their 2018 names, and loading weights into them.

Whatever format the weights are in, `open_checkpoint` gives them as 2018's.
"""

import contextlib
import dataclasses

from absl import logging

from bert_tf.checkpoints.checkpoint_io import OBJECT_GRAPH, CheckpointReader
from bert_tf.checkpoints.variable_table import (
    has_part_of,
    is_encoders,
    is_inner,
)
from bert_tf.checkpoints.weight_reader import GLOBAL_STEP, listed
from bert_tf.errors import UserError
from bert_tf.formats import saved_model
from bert_tf.formats.huggingface import HuggingFaceReader
from bert_tf.formats.model_garden import ModelGardenReader
from bert_tf.formats.model_garden_search import read_graph
from bert_tf.model.heads import Classifier
from bert_tf.weights import weights_path


def variable_names(model):
    """Names the variables of a built tf_keras.Model as 2018 did.

    Returns a dict, name (str, as "bert/pooler/dense/kernel") -> variable.

    Raises:
      UserError: the model has no variables yet, or two of one name.
    """
    variables = {}
    for variable in model.variables if model.built else ():
        name = variable.name.partition(":")[0]
        name = name.removeprefix(f"{Classifier.SCOPE}/")
        if name in variables:
            raise UserError(
                f"The model {model.name!r} has two variables called {name!r}; "
                "a checkpoint could hold only one. Give its parts other names."
            )
        variables[name] = variable
    if not variables:
        raise UserError(
            f"The model {model.name!r} has no variables yet: call it once, or "
            "its `build`, before loading or saving a checkpoint."
        )
    return variables


def training_variables(model, optimizer):
    """Names everything that a checkpoint of a training run holds.

    Both `model` and `optimizer`, an AdamWeightDecay, are built.

    Returns:
      dict: name (str) -> variable: the model's; "<name>/adam_m" and
      "<name>/adam_v" of those that the optimizer updates; "global_step",
      int64.
    """
    variables = {}
    for name, variable in variable_names(model).items():
        variables[name] = variable
        # 2018 kept no slots for a variable that got no gradient.
        with contextlib.suppress(KeyError):
            for kind, slot in optimizer.slots(variable).items():
                variables[f"{name}/{kind}"] = slot
    variables[GLOBAL_STEP] = optimizer.iterations
    return variables


@dataclasses.dataclass(frozen=True)
class LoadReport:
    """What `load_checkpoint` did; each a tuple of variable names."""

    loaded: tuple  # in the model and the file
    new: tuple  # in the model's heads only: initial values are kept
    unused: tuple  # in the file only
    slots: tuple  # optimizer slots and global_step in the file: ignored


def open_checkpoint(path, flag="init_checkpoint"):
    """Opens weights of any format, see `weights_path.resolve`: a WeightReader.

    Raises:
      UserError: no such weights, or damaged ones.
    """
    path = weights_path.resolve(path, flag)
    if weights_path.is_safetensors(path):
        return HuggingFaceReader(path)
    checkpoint = CheckpointReader(path)
    if OBJECT_GRAPH in checkpoint.stored:
        graph = read_graph(checkpoint)
        if saved_model.is_exported(graph):
            return saved_model.SavedVariablesReader(checkpoint, graph)
        return ModelGardenReader(checkpoint)
    return checkpoint


def load_checkpoint(model, path, *, flag="init_checkpoint"):
    """Starts a model from a checkpoint; all of the encoder, or an error.

    The encoder's variables must be the same on both sides. The pooler may be
    missing as a whole on either, since a head may not use it: Hugging Face's
    models for question answering have none. Variables of the heads are loaded
    where both sides have them. Nothing is changed if there is an error.

    Args:
      model: tf_keras.Model, built: a BertEncoder or a model around one.
      path, flag: see `weights_path.resolve`.

    Returns:
      LoadReport; its counts, and the names of heads on one side, are logged.

    Raises:
      UserError: no such checkpoint, a damaged one, or one of another model.

    Source: `get_assignment_map_from_checkpoint` in modeling.py (2018), which
      passed over what it did not find.
    """
    variables = variable_names(model)
    checkpoint = open_checkpoint(path, flag)
    file_only = [n for n in checkpoint.model() if n not in variables]
    missing = [name for name in variables if name not in checkpoint.stored]
    _require_heads(model, checkpoint)
    checkpoint.require_fit(
        variables,
        missing=[
            name
            for name in missing
            # A head or a pooler is in the file as a whole, or not at all.
            if is_inner(name) or has_part_of(checkpoint.stored, name, variables)
        ],
        file_only=[name for name in file_only if is_inner(name)],
    )
    loaded = [name for name in variables if name in checkpoint.stored]
    checkpoint.assign({name: variables[name] for name in loaded})
    slots = checkpoint.slots()
    report = LoadReport(*map(tuple, (loaded, missing, file_only, slots)))
    _log_report(checkpoint, report)
    return report


def _require_heads(model, checkpoint):
    """Checks the number of attention heads, where the weights show it."""
    encoder = getattr(model, "encoder", model)
    config = getattr(encoder, "config", None)
    found = checkpoint.num_attention_heads
    if found and config and found != config.num_attention_heads:
        raise UserError(
            f"{checkpoint.path} is of a model with {found} attention heads, "
            f"but `num_attention_heads` is {config.num_attention_heads}. Use "
            "the configuration that belongs to it."
        )


def _log_report(checkpoint, report):
    logging.info(
        "Loaded %d variables from %s (%s); ignored %d optimizer slots and "
        "steps.",
        len(report.loaded),
        checkpoint.path,
        checkpoint.format_name,
        len(report.slots),
    )
    if report.new:
        logging.info("Newly initialized: %s.", ", ".join(report.new))
    if any(map(is_encoders, report.new)):
        logging.warning(
            "%s holds no pooler (bert/pooler/...), so that it starts anew.",
            checkpoint.path,
        )
    if report.unused:
        logging.info("Not used, in the file only: %s.", listed(report.unused))
