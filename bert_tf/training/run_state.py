"""What a resume needs and a 2018 checkpoint has no place for.

It stands beside each checkpoint as a small JSON file: where in the shuffled
records the run had come to, and the state of the dropout layers. Without it a
resume starts a new pass over the records, as in 2018.
"""

import os

import tensorflow as tf
from absl import logging

from bert_tf.errors import UserError
from bert_tf.model.dropout import dropout_states
from bert_tf.storage import files


class RunState:
    """The position in the records and the random state of a run.

    Attributes:
      seed: int, what the order of the records is drawn from.
      examples_read: int, how many of them were used.
    """

    def __init__(self, model, paths, *, seed):
        """Begins at the first of the records in the files `paths`."""
        self._model = model
        # Names without folders: a run may be moved as a whole.
        self._files = [[os.path.basename(p), files.size(p)] for p in paths]
        self.seed = seed
        self.examples_read = 0

    def restore(self, companion):
        """Goes back to where a checkpoint was taken.

        Args:
          companion: dict from `describe`, or None where there was none.
        """
        if companion is None:
            logging.info("Records: a new pass (nothing tells where it was).")
            return
        _check_companion(companion)
        states = self._dropout_states()
        if states.keys() == companion["dropout_states"].keys():
            for name, state in states.items():
                state.assign(companion["dropout_states"][name])
        if companion["input_files"] != self._files:
            logging.info("Records: a new pass (the input files are others).")
            return
        self.seed = companion["seed"]
        self.examples_read = companion["examples_read"]
        logging.info(
            "Records: going on after the %d that were read, in the order of "
            "seed %d.",
            self.examples_read,
            self.seed,
        )

    def describe(self, examples_read):
        """Returns the dict to keep with a checkpoint; `examples_read`: int."""
        return {
            "seed": self.seed,
            "examples_read": examples_read,
            "input_files": self._files,
            "dropout_states": {
                name: state.numpy().tolist()
                for name, state in self._dropout_states().items()
            },
        }

    def _dropout_states(self):
        # Each of several devices has a state of its own, and a variable shows
        # only the first. Restoring that one everywhere would make all devices
        # drop the same numbers; fresh states do not.
        if tf.distribute.get_strategy().num_replicas_in_sync > 1:
            return {}
        return dropout_states(self._model)


def _check_companion(companion):
    """Raises UserError unless `companion` has the form of `describe`."""
    try:
        numbers = [companion["seed"], companion["examples_read"]]
        states = list(companion["dropout_states"].values())
        is_whole = "input_files" in companion and all(
            isinstance(number, int) and number >= 0 for number in numbers
        )
        is_whole &= all(
            len(state) == 3 and all(isinstance(n, int) for n in state)
            for state in states
        )
    except (TypeError, KeyError, AttributeError):
        is_whole = False
    if not is_whole:
        raise UserError(
            "The .state.json file beside the checkpoint is not what training "
            "writes. Remove it to go on from the checkpoint with a new pass "
            "over the records."
        )
