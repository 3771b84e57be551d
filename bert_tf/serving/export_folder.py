"""Finding an export, and reading what it says of itself; no TensorFlow."""

import os

from bert_tf.errors import UserError
from bert_tf.formats.saved_model import DESCRIPTION_FILE
from bert_tf.storage import json_files


def find_export(path):
    """Finds the folder (str) of a SavedModel that this project exported.

    `path`: str, that folder, or one of numbered ones, of which the last counts.

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
    """Returns what an export, see `find_export`, says of itself (dict).

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
    """Checks that a description (dict) is of a model that takes texts.

    Raises:
      UserError: it is not; names where it is from (path, str).
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
