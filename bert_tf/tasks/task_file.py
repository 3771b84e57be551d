"""Which task the model in a folder was trained on."""

import logging
import os

from bert_tf.errors import UserError
from bert_tf.storage import files

# Beside the checkpoints.
TASK_FILE = "task.txt"


def write_task(folder, task):
    """Stores the name of a registry.Task in a folder (str).

    Raises:
      UserError: it cannot be written.
    """
    files.write_text(os.path.join(folder, TASK_FILE), f"{task.name}\n")


def require_same_task(folder, task, *, to_train):
    """Checks a task against the one that a folder's model was trained on.

    Args:
      folder: str.
      task: registry.Task. A folder that says nothing fits all.
      to_train: bool, whether the model there is to be trained on. If not,
        another task whose labels are the same is a warning; that they are is
        what `labels.require_same_labels` checks. AX has no training set, and
        MNLI's model is the one for it.

    Raises:
      UserError: it is to be trained on another task.
    """
    path = os.path.join(folder, TASK_FILE)
    if not files.is_file(path):
        return
    stored = files.read_text(path).strip()
    if stored in (task.name, task.model_of):
        return
    if to_train:
        raise UserError(
            f"{path}: the model there was trained on {stored}, and "
            f"--task_name={task.name} would go on from it as if it were the "
            "same run. Give another --output_dir; to begin with that model's "
            "weights, name its folder as --init_checkpoint."
        )
    logging.getLogger("absl").warning(
        "%s: the model there was trained on %s, not on %s. The labels are the "
        "same, and so it is used.",
        path,
        stored,
        task.name,
    )
