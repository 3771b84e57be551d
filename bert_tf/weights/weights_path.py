"""What --init_checkpoint names.

A path may be

    a 2018 or Model Garden checkpoint's prefix, or one of its files
    a folder that training wrote: the newest checkpoint
    a SavedModel of an encoder, ours or Model Garden's
    the folder of a release: bert_model.ckpt, bert_config.json, vocab.txt
    a Hugging Face folder: model.safetensors, config.json, vocab.txt
    one of its files: model.safetensors, model.safetensors.index.json

TensorFlow is not imported here, so that a wrong path is reported at once.
"""

import os

from bert_tf.checkpoints import checkpoint_files
from bert_tf.errors import UserError
from bert_tf.formats import safetensors_files, saved_model
from bert_tf.storage import files

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


def is_safetensors(path):
    """Tells whether a resolved path (str) is of safetensors files."""
    return path.endswith(_SAFETENSORS)


def resolve(path, flag="init_checkpoint"):
    """Finds a checkpoint's prefix, or a safetensors file or index, by a flag.

    The top of this file says what `path` (str or os.PathLike) may be. Messages
    name `flag` (str, without dashes).

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
    if files.is_file(os.path.join(path, checkpoint_files.STATE_FILE)):
        return checkpoint_files.resolve_checkpoint(path, flag)
    release = os.path.join(path, RELEASE_PREFIX)
    if files.is_file(f"{release}.index"):
        return checkpoint_files.resolve_checkpoint(release, flag)
    saved = saved_model.find_prefix(path)
    if saved:
        return checkpoint_files.resolve_checkpoint(saved, flag)
    for name in (safetensors_files.FILE, safetensors_files.INDEX):
        if files.is_file(os.path.join(path, name)):
            return os.path.join(path, name)
    entries = [] if files.is_remote(path) else files.list_folder(path)
    prefixes = checkpoint_files.prefixes_among(entries)
    if prefixes:
        # BioBERT, for one, calls its only checkpoint model.ckpt-1000000. Of
        # several the error names each.
        only = os.path.join(path, prefixes[0]) if len(prefixes) == 1 else path
        return checkpoint_files.resolve_checkpoint(only, flag)
    _refuse_other_weights(path, entries, flag)
    safetensors = [entry for entry in entries if is_safetensors(entry)]
    raise UserError(
        f"--{flag}={path}: this folder holds neither a checkpoint (.index, "
        f".data-...) nor {safetensors_files.FILE}"
        + (f"; name one of {', '.join(safetensors)}." if safetensors else ".")
    )


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


def find_weights(output_dir, init_checkpoint):
    """Finds the weights that a run begins with; None for random ones.

    These are the newest checkpoint in `output_dir` (str or None), else what
    --init_checkpoint (str or None, checked in any case) names.

    Raises:
      UserError: see `resolve` and `checkpoint_files.latest_checkpoint`.
    """
    given = None if init_checkpoint is None else resolve(init_checkpoint)
    return checkpoint_files.latest_checkpoint(output_dir or "") or given


def untrained(output_dir):
    """Returns the UserError of a run's folder (str) without a trained model."""
    return UserError(
        f"--output_dir={output_dir} holds no checkpoint, and no "
        "--init_checkpoint is given: there is no trained model. Give one, "
        "or --do_train."
    )
