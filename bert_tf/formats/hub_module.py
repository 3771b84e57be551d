"""What --bert_hub_module_handle names: an encoder in TensorFlow Hub's form."""

import os

from bert_tf.errors import UserError
from bert_tf.formats import saved_model_folder
from bert_tf.storage import files, json_files

_FLAG = "bert_hub_module_handle"
_URLS = ("http://", "https://")


def choose_init_checkpoint(init_checkpoint, handle):
    """Finds the weights that one of two flags names.

    Args:
      init_checkpoint: str or None, that flag.
      handle: str or None, --bert_hub_module_handle: the folder of a SavedModel,
        or the URL of one, which tensorflow_hub then fetches.

    Returns:
      str or None: `init_checkpoint`, or the module's folder, which stands for
      it; see `weights_path`.

    Raises:
      UserError: both are given, or it is no SavedModel of an encoder.

    Source: run_classifier_with_tfhub.py (2018), a script of its own.
    """
    if not handle:
        return init_checkpoint
    if init_checkpoint is not None:
        raise UserError(
            f"--{_FLAG} and --init_checkpoint both say what to begin from; "
            "give one of them."
        )
    folder = _fetch(handle) if handle.startswith(_URLS) else handle
    _require_encoder(folder)
    return folder


def _fetch(url):
    """Returns the folder (str) into which tensorflow_hub put a module."""
    import tensorflow_hub

    try:
        return tensorflow_hub.resolve(url)
    # No network, no such page: OSError. No handle that it knows: ValueError.
    except (OSError, ValueError) as error:
        raise UserError(
            f"--{_FLAG}={url} cannot be fetched: {error}. Fetch it another "
            "way, unpack it, and name its folder."
        ) from error


def _require_encoder(folder):
    if not saved_model_folder.find_prefix(folder):
        raise UserError(
            f"--{_FLAG}={folder} is no SavedModel of an encoder: there must be "
            "a saved_model.pb and variables/variables.index in it. Name the "
            "folder that holds them; of an export that is a numbered one."
        )
    path = os.path.join(folder, "assets", saved_model_folder.DESCRIPTION_FILE)
    kind = "encoder"
    if files.is_file(path):
        kind = json_files.read_object(path).get("kind")
    if kind != "encoder":
        raise UserError(
            f"--{_FLAG}={folder} is an export of the kind {kind!r}; an "
            "'encoder' is wanted."
        )
