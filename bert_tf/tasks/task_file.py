"""Which task the model in a folder was trained on."""

import logging
import os

from bert_tf.errors import UserError
from bert_tf.storage import files

# Beside the checkpoints.
TASK_FILE = "task.txt"


def write_task(folder, task):
    """Stores the name of a registry.Task in a folder; may raise UserError."""
    files.write_text(os.path.join(folder, TASK_FILE), f"{task.name}\n")


def require_same_task(folder, task, *, to_train):
    """Checks a task against the one that a folder's model was trained on.

    Args:
      folder: str; without a task file it fits all.
      task: registry.Task.
      to_train: bool, whether the model there is to be trained further. If not,
        another task is a warning: `labels.require_same_labels` checks that the
        labels are the same. AX has no training set; it takes MNLI's model.

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
