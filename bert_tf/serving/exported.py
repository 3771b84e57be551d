"""Finding an export, and reading what it says of itself; no TensorFlow."""

import os

from bert_tf.errors import UserError
from bert_tf.formats.saved_model import DESCRIPTION_FILE
from bert_tf.storage import json_files


def find_export(path):
    """Finds a SavedModel that this project exported.

    Args:
      path: str, its folder, or the folder of the numbered ones.

    Returns:
      str, its folder; of numbered ones the last.

    Raises:
      UserError: there is none.
    """
    if os.path.isfile(os.path.join(path, "saved_model.pb")):
        found = path
    else:
        names = os.listdir(path) if os.path.isdir(path) else ()
        numbers = [name for name in names if name.isdecimal()]
        if not numbers:
            raise UserError(
                f"{path} is no SavedModel, and holds no numbered folder of "
                "one. Name the --export_dir of an export."
            )
        found = os.path.join(path, max(numbers, key=int))
    if not os.path.isfile(os.path.join(found, "assets", DESCRIPTION_FILE)):
        raise UserError(
            f"{found} has no assets/{DESCRIPTION_FILE}: it is no SavedModel "
            "that this project exported."
        )
    return found


def read_description(path):
    """Reads what an export says of itself.

    Args:
      path: str, its folder, see `find_export`.

    Returns:
      dict, see `Exportable.description`.

    Raises:
      UserError: it is damaged, or no model that takes texts.
    """
    assets = os.path.join(path, "assets")
    description = json_files.read_object(os.path.join(assets, DESCRIPTION_FILE))
    if "kind" not in description:
        raise UserError(f"{assets}/{DESCRIPTION_FILE} does not say its `kind`.")
    require_texts(description, path)
    return description


def require_texts(description, path):
    """Checks that a model, and not just a part of one, takes texts.

    Args:
      description: dict, see `Exportable.description`.
      path: str, where it is from.

    Raises:
      UserError: it does not.
    """
    if description["kind"] == "preprocessor":
        raise UserError(
            f"{path} is a preprocessor, and no model: name another export."
        )
    if "do_lower_case" not in description:
        raise UserError(
            f"{path} is an encoder without a vocabulary, and cannot take "
            "texts. Make it with one: vocab_file."
        )
