"""Finding an export, and reading what it says of itself; no TensorFlow."""

import os

from bert_tf.errors import UserError
from bert_tf.saved_model_folder import DESCRIPTION_FILE


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
