"""A SavedModel as a folder: weights, and what lies beside them.

    saved_model.pb
    variables/variables.index, .data-...    a checkpoint
    assets/                                 vocab.txt, bert_config.json, ...

TensorFlow is not imported here, unless a file is of a form that only it reads.
"""

import os

from bert_tf.storage import files

# The asset that tells what an export of this project is.
DESCRIPTION_FILE = "export.json"

_PREFIX = os.path.join("variables", "variables")
_LOWER_CASE = "do_lower_case/.ATTRIBUTES/VARIABLE_VALUE"


def find_prefix(folder):
    """Finds the checkpoint in a SavedModel.

    Args:
      folder: str.

    Returns:
      str, its prefix; None if the folder is no SavedModel with variables.
    """
    prefix = os.path.join(folder, _PREFIX)
    wanted = (os.path.join(folder, "saved_model.pb"), f"{prefix}.index")
    return prefix if all(map(files.is_file, wanted)) else None


def assets_of(prefix):
    """Returns the folder (str) of the assets beside a checkpoint's prefix.

    None if the checkpoint is not part of a SavedModel.
    """
    folder = os.path.dirname(os.path.dirname(prefix))
    if os.path.join(folder, _PREFIX) != prefix or not find_prefix(folder):
        return None
    return os.path.join(folder, "assets")


def find_vocabulary(prefix):
    """Finds the vocabulary among the assets, by whatever name it has there.

    Args:
      prefix: str, the checkpoint of a SavedModel, or another one.

    Returns:
      str, its path; None if not exactly one asset's name has "vocab" in it.
    """
    assets = assets_of(prefix)
    if assets is None or files.is_remote(assets) or not files.is_folder(assets):
        return None
    names = [name for name in files.list_folder(assets) if "vocab" in name]
    return os.path.join(assets, names[0]) if len(names) == 1 else None


def stored_lower_case(prefix):
    """Reads the variable in which Model Garden's modules keep the letter case.

    Args:
      prefix: str, the checkpoint of a SavedModel, or another one.

    Returns:
      bool, or None where there is no such variable.
    """
    if assets_of(prefix) is None:
        return None
    import tensorflow as tf

    with files.naming_failures(prefix, "read"):
        reader = tf.train.load_checkpoint(prefix)
        if not reader.has_tensor(_LOWER_CASE):
            return None
        return bool(reader.get_tensor(_LOWER_CASE))
