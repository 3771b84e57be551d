"""One checkpoint's variables: reading, comparing, writing.

What is written is what `tf.train.Saver` of 2018 wrote, file for file.
"""

import contextlib
import errno
import os
import re

import tensorflow as tf
from absl import logging

from bert_tf.checkpoints.checkpoint_files import COMPANION_SUFFIX, is_file_of
from bert_tf.checkpoints.weight_reader import Stored, WeightReader
from bert_tf.errors import UserError
from bert_tf.storage import files

# The entry of a TensorFlow 2 checkpoint that says which object has which value.
OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
FORMER = ".former"  # Ends the prefix of a copy of what is overwritten.

_DATA_SUFFIX = ".data-00000-of-00001"
_PART_BYTES = 2**29  # 512 MiB: BERT-Base has one part
_LEFTOVER = re.compile(
    r"\.+model\.ckpt-|\.checkpoint\..*incomplete|model\.ckpt-\d+\.former\."
)


class CheckpointReader(WeightReader):
    """A checkpoint of TensorFlow's, read with errors a user can act on.

    Of one with the 2018 names it is all that is needed.
    """

    format_name = "2018 checkpoint"

    def __init__(self, prefix):
        with _explaining_damage(prefix):
            self._reader = tf.compat.v1.train.NewCheckpointReader(prefix)
        dtypes = self._reader.get_variable_to_dtype_map()
        shapes = self._reader.get_variable_to_shape_map()
        super().__init__(
            prefix,
            {
                name: Stored(dtypes[name].name, tuple(shape))
                for name, shape in shapes.items()
            },
        )

    def read(self, name):
        """See WeightReader."""
        with _explaining_damage(self.path):
            return self._reader.get_tensor(name)

    def _remedy(self):
        if OBJECT_GRAPH in self.stored:
            return (
                "It is a TensorFlow 2 checkpoint by objects; "
                "convert_checkpoint.py makes one with the 2018 names of it."
            )
        return super()._remedy()


@contextlib.contextmanager
def _explaining_damage(prefix):
    try:
        yield
    except tf.errors.PermissionDeniedError as error:
        raise UserError(
            f"The checkpoint {prefix} cannot be read: permission denied."
        ) from error
    # TensorFlow's reader gives IndexError where a file ends too early.
    except (tf.errors.OpError, IndexError) as error:
        raise UserError(
            f"The checkpoint {prefix} is damaged: {error}. Copy it "
            "again, or use another one."
        ) from error


def write(prefix, variables, companion=None):
    """Writes a checkpoint, all or nothing, as far as one prefix goes.

    Everything is first written under names that begin with a dot. The .index
    file, without which there is no checkpoint, gets its name last.

    Args:
      prefix: str, in an existing folder.
      variables: dict, name (str) -> tensor.
      companion: str, the companion file's text, or None for no such file.

    Raises:
      OSError, tf.errors.OpError: it cannot be written.
    """
    beside = _incomplete(prefix)
    _save(beside, variables)
    suffixes = [_DATA_SUFFIX, ".index"]
    if companion is not None:
        files.write_text(f"{beside}{COMPANION_SUFFIX}", companion)
        suffixes.insert(0, COMPANION_SUFFIX)
    elif tf.io.gfile.exists(f"{prefix}{COMPANION_SUFFIX}"):
        tf.io.gfile.remove(f"{prefix}{COMPANION_SUFFIX}")
    if not files.is_remote(prefix):
        # Else a machine that loses power could keep the new names without the
        # contents.
        for suffix in suffixes:
            with open(f"{beside}{suffix}", "rb") as stream:
                os.fsync(stream.fileno())
    for suffix in suffixes:
        tf.io.gfile.rename(
            f"{beside}{suffix}", f"{prefix}{suffix}", overwrite=True
        )


def write_in_parts(prefix, names, read):
    """Writes a checkpoint of any size in little memory.

    Not all or nothing: for a folder that nobody reads yet. A checkpoint larger
    than _PART_BYTES gets several data files, as 2018's sharded Saver wrote.

    Args:
      prefix: str, in an existing folder.
      names: iterable of str.
      read: function of a name that gives the value, an np.ndarray or bytes.

    Raises:
      OSError, tf.errors.OpError: it cannot be written.
    """
    parts, part, num_bytes = [f"{prefix}.part-0"], {}, 0
    for name in sorted(names):
        value = tf.convert_to_tensor(read(name))
        size = value.shape.num_elements() * value.dtype.size
        if part and num_bytes + size > _PART_BYTES:
            _save(parts[-1], part)
            parts.append(f"{prefix}.part-{len(parts)}")
            part, num_bytes = {}, 0
        part[name] = value
        num_bytes += size
    _save(parts[-1], part)
    tf.raw_ops.MergeV2Checkpoints(
        checkpoint_prefixes=parts,
        destination_prefix=prefix,
        delete_old_dirs=False,
    )


def _save(prefix, tensors):
    """Writes tensors (by name) in the order in which a Saver does."""
    names = sorted(tensors)
    tf.raw_ops.SaveV2(
        prefix=prefix,
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        tensors=[tensors[name] for name in names],
    )


def _incomplete(prefix):
    """Returns the prefix under which a checkpoint is while it is written."""
    folder, name = os.path.split(prefix)
    return os.path.join(folder, f".{name}.incomplete")


def reason_of(raised):
    """Says (str) why writing failed, for a message."""
    # A UserError of `files` is about the system's own.
    error = raised.__cause__ or raised
    is_full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
    if is_full or isinstance(error, tf.errors.ResourceExhaustedError):
        return "no space left on the device"
    return str(error)


@contextlib.contextmanager
def explaining_failure(prefix):
    """Turns a failure to write `prefix` (str) into a UserError."""
    try:
        yield
    except (OSError, UserError, tf.errors.OpError) as raised:
        remove(_incomplete(prefix))
        raise UserError(
            f"The checkpoint {prefix} could not be written: "
            f"{reason_of(raised)}. The one "
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
    paths = sorted(
        _files_of(prefix), key=lambda path: path.endswith(_DATA_SUFFIX)
    )
    _remove_files(paths)


def remove_leftovers(folder):
    """Removes what interrupted writing left in a folder (str)."""
    _remove_files(
        os.path.join(folder, entry)
        for entry in tf.io.gfile.listdir(folder)
        if _LEFTOVER.match(entry)
    )


def _remove_files(paths):
    for path in paths:
        try:
            tf.io.gfile.remove(path)
        except tf.errors.OpError as error:
            logging.warning("%s could not be removed: %s", path, error)
