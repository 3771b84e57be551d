"""What --init_checkpoint names: the weights, and what lies beside them.

A path may be

    a 2018 or Model Garden checkpoint's prefix, or one of its files
    a folder that training wrote: the newest checkpoint
    the folder of a release: bert_model.ckpt, bert_config.json, vocab.txt
    a Hugging Face folder: model.safetensors, config.json, vocab.txt
    one of its files: model.safetensors, model.safetensors.index.json

TensorFlow is not imported here, so that a wrong path is reported at once.
"""

import os

from absl import logging

from bert_tf import (
    checkpoint_files,
    files,
    huggingface_config,
    safetensors_files,
)
from bert_tf.config import BertConfig
from bert_tf.errors import UserError

CONFIG_FILE = "bert_config.json"
VOCAB_FILE = "vocab.txt"
RELEASE_PREFIX = "bert_model.ckpt"

_SAFETENSORS = (".safetensors", ".safetensors.index.json")
_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".bin.index.json")
# Other forms in which Hugging Face folders hold weights.
_OTHERS = (".h5", ".msgpack", ".ot", ".onnx", ".gguf")
_CONVERSION = (
    'python -c "import torch, safetensors.torch as s; s.save_file({name: '
    "tensor.contiguous().clone() for name, tensor in torch.load("
    "'pytorch_model.bin', map_location='cpu', weights_only=True).items()}, "
    "'model.safetensors', metadata={'format': 'pt'})\""
)
# Keys that only Hugging Face writes into a configuration.
_HUGGING_FACE_KEYS = (
    "architectures",
    "model_type",
    "output_hidden_states",
    "pruned_heads",
    "torch_dtype",
    "transformers_version",
)


def is_safetensors(path):
    """Tells whether a resolved path (str) is of safetensors files."""
    return path.endswith(_SAFETENSORS)


def resolve(path, flag="init_checkpoint"):
    """Finds the weights that a flag's value means.

    Args:
      path: str or os.PathLike, see the top of this file.
      flag: str, the flag's name without dashes, for the messages.

    Returns:
      str: a checkpoint's prefix, or a safetensors file or index.

    Raises:
      UserError: there are no weights, several, or only such as are not read.
    """
    path = os.fspath(path) if path else ""
    if files.is_folder(path):
        return _resolve_folder(path, flag)
    if path and files.is_file(path):
        if is_safetensors(path):
            return path
        _refuse_other_weights(path, [os.path.basename(path)], flag)
    return checkpoint_files.resolve_checkpoint(path, flag)


def _resolve_folder(path, flag):
    state = os.path.join(path, checkpoint_files.STATE_FILE)
    release = os.path.join(path, RELEASE_PREFIX)
    if files.is_file(state):
        return checkpoint_files.resolve_checkpoint(path, flag)
    if files.is_file(f"{release}.index"):
        return checkpoint_files.resolve_checkpoint(release, flag)
    for name in (safetensors_files.FILE, safetensors_files.INDEX):
        if files.is_file(os.path.join(path, name)):
            return os.path.join(path, name)
    entries = [] if files.is_remote(path) else sorted(os.listdir(path))
    prefixes = [
        os.path.join(path, entry.removesuffix(".index"))
        for entry in entries
        if entry.endswith(".index") and not entry.startswith(".")
    ]
    # BioBERT, for one, calls its checkpoint model.ckpt-1000000.
    if len(prefixes) == 1:
        return checkpoint_files.resolve_checkpoint(prefixes[0], flag)
    if not prefixes:
        _refuse_other_weights(path, entries, flag)
    return checkpoint_files.resolve_checkpoint(path, flag)


def _refuse_other_weights(path, names, flag):
    pickles = [name for name in names if name.endswith(_PICKLES)]
    if pickles:
        raise UserError(
            f"--{flag}={path}: {pickles[0]} is a pickle, which can run any "
            "program when it is read, and is not read here. Where PyTorch is "
            "installed, in the folder of that file, make a safetensors file of "
            f"it: {_CONVERSION}"
        )
    others = [name for name in names if name.endswith(_OTHERS)]
    if others:
        raise UserError(
            f"--{flag}={path}: weights in the form of {others[0]} are not "
            "read. Look for the model's model.safetensors or its 2018 "
            "checkpoint (bert_model.ckpt.index and .data-...)."
        )


def config_beside(checkpoint):
    """Returns the configuration (path or None) beside resolved weights."""
    name = (
        huggingface_config.FILE if is_safetensors(checkpoint) else CONFIG_FILE
    )
    return _beside(checkpoint, name)


def _beside(checkpoint, name):
    path = os.path.join(os.path.dirname(checkpoint), name)
    return path if files.is_file(path) else None


def read_config(path):
    """Reads a configuration of 2018's or of Hugging Face's.

    Args:
      path: str. A file called config.json, or one with keys that only Hugging
        Face writes, is Hugging Face's: its "gelu" is then "gelu_erf".

    Returns:
      BertConfig.

    Raises:
      UserError: unreadable, not JSON, or impossible values.
    """
    is_hugging_face = os.path.basename(path) == huggingface_config.FILE or any(
        key in huggingface_config.read_object(path)
        for key in _HUGGING_FACE_KEYS
    )
    if is_hugging_face:
        return huggingface_config.read(path)
    return BertConfig.from_json_file(path)


def choose_config(bert_config_file, checkpoint):
    """Reads the configuration that the flags mean; see `find_config`.

    Raises:
      UserError: none is given or found, or it is no configuration.
    """
    config, path = find_config(bert_config_file, checkpoint)
    if config is None:
        raise UserError(
            "--bert_config_file must be given: there is "
            + (f"none beside {checkpoint}." if checkpoint else "no checkpoint "
            "beside which one could lie.")
        )
    return config, path


def find_config(bert_config_file, checkpoint):
    """Reads the configuration that the flags mean, if any; the log says which.

    Args:
      bert_config_file: str or None, the flag.
      checkpoint: str or None, the weights, resolved.

    Returns:
      (BertConfig, str): the configuration and the file it is from; or two
      None.

    Raises:
      UserError: it is no configuration.
    """
    beside = config_beside(checkpoint) if checkpoint else None
    if bert_config_file:
        files.require_file(bert_config_file, "bert_config_file")
        config = read_config(bert_config_file)
        if beside and not _is_same_file(beside, bert_config_file):
            _warn_of_another(config, bert_config_file, beside)
        return config, bert_config_file
    if beside is None:
        return None, None
    logging.info("--bert_config_file is not given; %s is used.", beside)
    return read_config(beside), beside


def _is_same_file(one, other):
    if files.is_remote(one) or files.is_remote(other):
        return one == other
    return os.path.samefile(one, other)


def _warn_of_another(config, config_file, beside):
    """Warns where the weights' own configuration says something else."""
    own, given = read_config(beside).to_dict(), config.to_dict()
    others = [
        f"{key} {given[key]!r} (there {own[key]!r})"
        for key in given
        if given[key] != own[key] and not key.endswith("_dropout_prob")
    ]
    if others:
        logging.warning(
            "%s lies beside the weights, but --bert_config_file=%s has %s.",
            beside,
            config_file,
            ", ".join(others),
        )


def find_vocabulary(vocab_file, checkpoint):
    """Finds the vocabulary that the flags mean, if any; the log says which.

    Args:
      vocab_file: str or None, the flag.
      checkpoint: str or None, the weights, resolved.

    Returns:
      str, its path, or None.

    Raises:
      UserError: the flag names no file.
    """
    if vocab_file:
        files.require_file(vocab_file, "vocab_file")
        return vocab_file
    beside = _beside(checkpoint, VOCAB_FILE) if checkpoint else None
    if beside:
        logging.info("--vocab_file is not given; %s is used.", beside)
    return beside


def choose_vocabulary(vocab_file, checkpoint):
    """Finds the vocabulary that the flags mean; see `find_vocabulary`.

    Raises:
      UserError: none is given or found.
    """
    path = find_vocabulary(vocab_file, checkpoint)
    if path is None:
        raise UserError(
            "--vocab_file must be given"
            + (f": there is none beside {checkpoint}." if checkpoint else ".")
        )
    return path
