"""What every reader of a checkpoint gives: the 2018 variables, one at a time.

A reader says what is stored before any value is read, so that a checkpoint that
does not fit is refused while it costs nothing:

    reader = open_checkpoint(path)            # loading.py picks the format
    reader.stored["bert/pooler/dense/kernel"] # float32 [768, 768]
    reader.require_fit(variables, missing=[], file_only=[])
    reader.assign(variables)
"""

import os
import typing

from bert_tf.errors import UserError

GLOBAL_STEP = "global_step"

# The last two are of TensorFlow's own Adam.
_OF_A_RUN = (GLOBAL_STEP, "beta1_power", "beta2_power")
_MAX_LISTED = 10  # Names in one list of a message.


def listed(names):
    """Joins names for a message, the first few of many."""
    names = list(names)
    rest = len(names) - _MAX_LISTED
    shown = ", ".join(names[:_MAX_LISTED])
    return f"{shown} and {rest} more" if rest > 0 else shown


class Stored(typing.NamedTuple):
    """What a variable is before it is read."""

    dtype: str  # as "float32": that of `WeightReader.read`
    shape: tuple  # of int

    def __str__(self):
        return f"{self.dtype} {list(self.shape)}"


class WeightReader:
    """A checkpoint of any format, its variables named and laid out as in 2018.

    Attributes:
      path: str, for messages.
      stored: dict, 2018 name -> Stored, sorted by name. What has no 2018 name
        stands under the name that it has in the file.
    """

    # Of what kind the checkpoint is, as a person would say it.
    format_name = None
    # N, where the weights show it.
    num_attention_heads = None

    def __init__(self, path, stored):
        self.path = path
        self.stored = dict(sorted(stored.items()))

    def read(self, name):
        """Reads one of `stored` (str); returns an np.ndarray as that says.

        Raises:
          UserError: the file is damaged.
        """
        raise NotImplementedError

    def slots(self):
        """Returns the entries of `stored` that belong to a run, not to a model.

        These are the step, and optimizer slots, which lie below a variable.
        """
        return {
            name: entry
            for name, entry in self.stored.items()
            if name in _OF_A_RUN or os.path.dirname(name) in self.stored
        }

    def model(self):
        """Returns the entries of `stored` that belong to a model."""
        slots = self.slots()
        return {n: entry for n, entry in self.stored.items() if n not in slots}

    def global_step(self):
        """Returns the step (int) of the run that wrote it; 0 if of none.

        Raises:
          UserError: what is stored as the step is no whole number.
        """
        stored = self.stored.get(GLOBAL_STEP)
        if stored is None:
            return 0
        if stored.shape or not stored.dtype.startswith("int"):
            raise UserError(
                f"{self.path}: {GLOBAL_STEP} is {stored}; it must be one whole "
                "number. The checkpoint is damaged, or of another program."
            )
        return int(self.read(GLOBAL_STEP))

    def require_fit(self, variables, *, missing, file_only):
        """Checks that what is stored is what a model has.

        Args:
          variables: dict, name -> variable; compared where the file has it.
          missing: list of names that the file lacks.
          file_only: list of names that the model lacks.

        Raises:
          UserError: any variable does not fit; all are listed.
        """
        faults = []
        if variables.keys().isdisjoint(self.stored):
            faults.append(
                "The two have not one variable in common. In the file: "
                f"{listed(self.stored)}. In the model: {listed(variables)}."
            )
        else:
            lists = {
                "Of another shape": self._of_another_shape(variables),
                "Not in the file": missing,
                "Not in the model": file_only,
            }
            faults += [
                f"{x}: {listed(names)}." for x, names in lists.items() if names
            ]
        if faults:
            raise UserError(
                f"The checkpoint {self.path} does not fit the model. "
                f"{' '.join(faults)} {self._remedy()}"
            )

    def _remedy(self):
        return "Use the configuration that belongs to it, and all of its files."

    def _of_another_shape(self, variables):
        wrong = []
        for name, variable in variables.items():
            wanted = Stored(variable.dtype.name, tuple(variable.shape))
            stored = self.stored.get(name, wanted)
            if stored != wanted:
                wrong.append(f"{name} ({stored} in the file, {wanted} here)")
        return wrong

    def assign(self, variables):
        """Sets variables, all of them or (if the file is damaged) none.

        `variables` is a dict, name (one of `stored`) -> variable.
        """
        values = {name: self.read(name) for name in variables}
        for name, variable in variables.items():
            variable.assign(values[name])
