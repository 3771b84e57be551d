"""Keeping a run's checkpoints, and taking the run up again.

What is on disk are 2018 checkpoints: variables, slots and step by name.
"""

import json
import os

import tensorflow as tf

from bert_tf.checkpoints import checkpoint_files, checkpoint_io
from bert_tf.checkpoints.checkpoint_io import CheckpointReader
from bert_tf.checkpoints.variable_table import is_inner
from bert_tf.errors import UserError
from bert_tf.storage import files


class CheckpointKeeper:
    """Writes a run's checkpoints, keeps the last few, and restores one.

        keeper = CheckpointKeeper(
            output_dir, training_variables(model, optimizer))
        if keeper.latest():
            keeper.restore(keeper.latest())
        keeper.save(step)      # output_dir/model.ckpt-<step>

    Whatever happens during `save`, the folder's state file names a checkpoint
    that is whole: the former one until the new one is.

    Args:
      output_dir: str, the folder; `save` makes it.
      variables: dict, name (str) -> variable, see `training_variables`.
      keep_checkpoint_max: int, how many to keep; 0 or None for all. Those that
        an earlier run left, as the state file lists them, count.

    Source: `tf.train.Saver` as the Estimator of 2018 used it.
    """

    def __init__(self, output_dir, variables, keep_checkpoint_max=5):
        if keep_checkpoint_max is not None and keep_checkpoint_max < 0:
            raise UserError(
                f"--keep_checkpoint_max is {keep_checkpoint_max}; it must be 1 "
                "or more, or 0 to keep all checkpoints."
            )
        self.output_dir = os.fspath(output_dir)
        self.variables = variables
        self.keep_checkpoint_max = keep_checkpoint_max

    def latest(self):
        """Returns the latest checkpoint's prefix, or None.

        Raises:
          UserError: see `checkpoint_files.latest_checkpoint`.
        """
        return checkpoint_files.latest_checkpoint(self.output_dir)

    def restore(self, prefix):
        """Takes up a run from a prefix (str): variables, slots and step.

        Raises:
          UserError: a damaged checkpoint, one of another model, or one without
            the optimizer's slots.
        """
        checkpoint = CheckpointReader(prefix)
        missing = [n for n in self.variables if n not in checkpoint.stored]
        if missing and not checkpoint.slots():
            raise UserError(
                f"{prefix} holds no optimizer state, so that no run can be "
                "taken up from it. To start from it, give it as "
                "--init_checkpoint and use another --output_dir."
            )
        inner = filter(is_inner, checkpoint.model())
        file_only = [name for name in inner if name not in self.variables]
        checkpoint.require_fit(
            self.variables, missing=missing, file_only=file_only
        )
        checkpoint.assign(self.variables)

    def read_companion(self, prefix):
        """Reads what `save` was given beside a prefix's variables (dict).

        None if nothing was kept (by the 2018 code, for one).

        Raises:
          UserError: the file is not what `save` wrote.
        """
        path = prefix + checkpoint_files.COMPANION_SUFFIX
        if not files.is_file(path):
            return None
        try:
            return json.loads(files.read_text(path))
        except json.JSONDecodeError as error:
            raise UserError(
                f"{path} is damaged: {error}. Remove it to go on from the "
                "checkpoint with a new pass over the data."
            ) from error

    def save(self, step, companion=None):
        """Writes a checkpoint and removes those above `keep_checkpoint_max`.

        `companion`, a dict that JSON can hold, or None, is what else a resumed
        run needs; see `read_companion`. Returns the prefix (str).

        Raises:
          UserError: it cannot be written; the former checkpoint stays the
            latest.
        """
        if companion is not None:
            companion = json.dumps(companion, allow_nan=False)
        with tf.device("CPU:0"):
            values = {
                name: tf.convert_to_tensor(variable)
                for name, variable in self.variables.items()
            }
        prefix = os.path.join(self.output_dir, f"model.ckpt-{step}")
        kept = self._kept()
        with checkpoint_io.explaining_failure(prefix):
            tf.io.gfile.makedirs(self.output_dir)
            if kept and kept[-1] == prefix:
                kept = self._set_aside(kept)
            checkpoint_io.write(prefix, values, companion)
            kept, surplus = self._divide(kept, prefix)
            checkpoint_files.write_state(self.output_dir, kept)
        checkpoint_io.remove_leftovers(self.output_dir)
        for old in surplus:
            checkpoint_io.remove(old)
        return prefix

    def _kept(self):
        """Lists the prefixes in the state file, as far as they are ours."""
        # Another folder's files are never removed, whatever a copied state file
        # says.
        own = os.path.abspath(self.output_dir)
        return [
            os.path.join(self.output_dir, os.path.basename(prefix))
            for prefix in checkpoint_files.read_state(self.output_dir)
            if os.path.abspath(os.path.dirname(prefix)) == own
        ]

    def _set_aside(self, kept):
        """Lets a copy of the latest checkpoint take its place."""
        former = f"{kept[-1]}{checkpoint_io.FORMER}"
        checkpoint_io.copy(kept[-1], former)
        kept = [*kept[:-1], former]
        checkpoint_files.write_state(self.output_dir, kept)
        return kept

    def _divide(self, kept, prefix):
        """Decides which checkpoints stay, of the former ones and `prefix`.

        Returns:
          Two lists of str: those to be named in the state file, the new one
          last; and those to be removed.
        """
        others, surplus = [], []
        for old in kept:
            if old.endswith(checkpoint_io.FORMER):
                # What the copy stood for was perhaps not written to its end.
                surplus.append(old.removesuffix(checkpoint_io.FORMER))
            elif old != prefix:
                others.append(old)
        if self.keep_checkpoint_max:
            too_many = max(0, len(others) + 1 - self.keep_checkpoint_max)
            surplus += others[:too_many]
            others = others[too_many:]
        else:
            # 2018 named only the latest where all were to be kept.
            others = []
        return [*others, prefix], [old for old in surplus if old != prefix]
