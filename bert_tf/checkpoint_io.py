"""One checkpoint's variables: reading, comparing, writing.

What is written is what `tf.train.Saver` of 2018 wrote, file for file.
"""

import contextlib
import errno
import os
import re

import tensorflow as tf
from absl import logging

from bert_tf import files
from bert_tf.checkpoint_files import COMPANION_SUFFIX, is_file_of
from bert_tf.errors import UserError

GLOBAL_STEP = "global_step"
FORMER = ".former"  # Ends the prefix of a copy of what is overwritten.

_DATA_SUFFIX = ".data-00000-of-00001"
_LEFTOVER = re.compile(
    r"\.+model\.ckpt-|\.checkpoint\.incomplete|model\.ckpt-\d+\.former\."
)
_MAX_LISTED = 10  # Names in one list of a message.


def listed(names):
    """Joins names for a message, the first few of many."""
    rest = len(names) - _MAX_LISTED
    shown = ", ".join(names[:_MAX_LISTED])
    return f"{shown} and {rest} more" if rest > 0 else shown


class CheckpointReader:
    """One checkpoint's variables, read with errors a user can act on.

    Attributes:
      prefix: str.
      stored: dict, name -> str such as "float32 [2, 32]", sorted by name.
    """

    def __init__(self, prefix):
        self.prefix = prefix
        with self._explaining_damage():
            self._reader = tf.compat.v1.train.NewCheckpointReader(prefix)
        shapes = self._reader.get_variable_to_shape_map()
        dtypes = self._reader.get_variable_to_dtype_map()
        self.stored = {
            name: f"{dtypes[name].name} {shapes[name]}"
            for name in sorted(shapes)
        }

    @contextlib.contextmanager
    def _explaining_damage(self):
        try:
            yield
        # TensorFlow's reader gives IndexError where a file ends too early.
        except (tf.errors.OpError, IndexError) as error:
            raise UserError(
                f"The checkpoint {self.prefix} is damaged: {error}. Copy it "
                "again, or use another one."
            ) from error

    def slots(self):
        """Lists what belongs to an optimizer: slots lie below a variable."""
        return {
            name: description
            for name, description in self.stored.items()
            if name == GLOBAL_STEP or os.path.dirname(name) in self.stored
        }

    def global_step(self):
        """Returns the step (int) of the run that wrote it; 0 if of none."""
        if GLOBAL_STEP not in self.stored:
            return 0
        with self._explaining_damage():
            return int(self._reader.get_tensor(GLOBAL_STEP))

    def require_fit(self, variables, *, missing, file_only):
        """Raises UserError if any variable does not fit.

        Args:
          variables: dict, name -> variable; compared where the file has it.
          missing: list of names that the file lacks.
          file_only: list of names that the model lacks.
        """
        faults = []
        if variables.keys().isdisjoint(self.stored):
            faults.append(
                "The two have not one variable in common. In the file: "
                f"{listed(list(self.stored))}. In the model: "
                f"{listed(list(variables))}."
            )
        else:
            wrong = self._of_another_shape(variables)
            for fault, names in (
                ("Of another shape", wrong),
                ("Not in the file", missing),
                ("Not in the model", file_only),
            ):
                if names:
                    faults.append(f"{fault}: {listed(names)}.")
        if not faults:
            return
        if "_CHECKPOINTABLE_OBJECT_GRAPH" in self.stored:
            faults.append(
                "It is a TensorFlow 2 checkpoint by objects; one with the 2018 "
                "names is needed."
            )
        raise UserError(
            f"The checkpoint {self.prefix} does not fit the model. "
            f"{' '.join(faults)} Use the bert_config.json that belongs to it."
        )

    def _of_another_shape(self, variables):
        wrong = []
        for name, variable in variables.items():
            wanted = f"{variable.dtype.name} {variable.shape.as_list()}"
            stored = self.stored.get(name, wanted)
            if stored != wanted:
                wrong.append(f"{name} ({stored} in the file, {wanted} here)")
        return wrong

    def assign(self, variables):
        """Sets variables, all of them or (if the file is damaged) none."""
        with self._explaining_damage():
            values = {name: self._reader.get_tensor(name) for name in variables}
        for name, variable in variables.items():
            variable.assign(values[name])


def write(prefix, variables, companion=None):
    """Writes a checkpoint, all or nothing, as far as one prefix goes.

    Everything is first written under names that begin with a dot; the .index
    file, without which there is no checkpoint, gets its name last.

    Args:
      prefix: str, in an existing folder.
      variables: dict, name (str) -> tensor.
      companion: str, the text of the companion file, or None for no such file.

    Raises:
      OSError, tf.errors.OpError: it cannot be written.
    """
    beside = _incomplete(prefix)
    names = sorted(variables)  # As a Saver does.
    tf.raw_ops.SaveV2(
        prefix=beside,
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        tensors=[variables[name] for name in names],
    )
    suffixes = [_DATA_SUFFIX, ".index"]
    if companion is not None:
        files.write_text(f"{beside}{COMPANION_SUFFIX}", companion)
        suffixes.insert(0, COMPANION_SUFFIX)
    elif tf.io.gfile.exists(f"{prefix}{COMPANION_SUFFIX}"):
        tf.io.gfile.remove(f"{prefix}{COMPANION_SUFFIX}")
    for suffix in suffixes:
        _flush(f"{beside}{suffix}")
    for suffix in suffixes:
        tf.io.gfile.rename(
            f"{beside}{suffix}", f"{prefix}{suffix}", overwrite=True
        )


def _incomplete(prefix):
    """Returns the prefix under which a checkpoint is while it is written."""
    folder, name = os.path.split(prefix)
    return os.path.join(folder, f".{name}.incomplete")


def _flush(path):
    # Else a machine that loses power could keep the new names without the
    # contents.
    if not files.is_remote(path):
        with open(path, "rb") as stream:
            os.fsync(stream.fileno())


@contextlib.contextmanager
def explaining_failure(prefix):
    """Turns a failure to write `prefix` (str) into a UserError."""
    try:
        yield
    except (OSError, UserError, tf.errors.OpError) as raised:
        remove(_incomplete(prefix))
        # A UserError of `files` is about the system's own.
        error = raised.__cause__ or raised
        reason = str(error)
        if isinstance(error, tf.errors.ResourceExhaustedError) or (
            isinstance(error, OSError)
            and error.errno in (errno.ENOSPC, errno.EDQUOT)
        ):
            reason = "no space left on the device"
        raise UserError(
            f"The checkpoint {prefix} could not be written: {reason}. The one "
            "before it, if any, is whole and still the latest. Make room or "
            "mend the folder, then give the same command again."
        ) from raised


def _files_of(prefix):
    folder = os.path.dirname(prefix)
    if not tf.io.gfile.isdir(folder):
        return []
    return [
        os.path.join(folder, entry)
        for entry in tf.io.gfile.listdir(folder)
        if is_file_of(entry, prefix)
    ]


def copy(prefix, new_prefix):
    """Copies a checkpoint's files to another prefix (str) in the folder."""
    for path in _files_of(prefix):
        suffix = path.removeprefix(prefix)
        tf.io.gfile.copy(path, f"{new_prefix}{suffix}", overwrite=True)


def remove(prefix):
    """Removes a checkpoint's files; only warns about what it cannot."""
    # The data last: without its .index file it is taken for no checkpoint.
    _remove_files(sorted(_files_of(prefix), key=_is_data))


def _is_data(path):
    return path.endswith(_DATA_SUFFIX)


def remove_leftovers(folder):
    """Removes what interrupted writing left in a folder (str)."""
    entries = tf.io.gfile.listdir(folder)
    _remove_files(
        os.path.join(folder, entry)
        for entry in entries
        if _LEFTOVER.match(entry)
    )


def _remove_files(paths):
    for path in paths:
        try:
            tf.io.gfile.remove(path)
        except tf.errors.OpError as error:
            logging.warning("%s could not be removed: %s", path, error)
