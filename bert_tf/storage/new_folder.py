"""Making a folder that is there only once it is whole."""

import contextlib
import functools
import os
import shutil

from bert_tf.errors import UserError
from bert_tf.storage import files


def require_new_folder(path, flag):
    """Checks that the folder which a flag (str, without dashes) names is new.

    Raises:
      UserError: `path` is remote, or there already.
    """
    if files.is_remote(path):
        raise UserError(f"--{flag}={path}: name a folder on this machine.")
    # An empty one may be a mount point, or where a shell stands: neither can be
    # replaced.
    if os.path.lexists(path):
        raise UserError(
            f"--{flag}={path} is there already. Name a folder that is not."
        )


@contextlib.contextmanager
def making_folder(path, flag):
    """Gives a folder to fill; on success it becomes `path` in one step.

    Yields:
      str, a folder beside it. After an exception it is removed.

    Raises:
      UserError: see `require_new_folder`; or the disk does not take it.
    """
    require_new_folder(path, flag)
    path = os.path.realpath(path)
    parent, name = os.path.split(path)
    files.make_output_folder(parent, flag)
    with _filling(parent, name, path) as beside:
        yield beside
        os.rename(beside, path)


@contextlib.contextmanager
def making_numbered_folder(parent, flag):
    """Gives a folder to fill; on success it gets the next free number.

    Several processes may do so at once, each for a number of its own. `parent`
    is local, and made if need be.

    Yields:
      list of one str, a folder in `parent`. After the context it holds the
      numbered folder. After an exception the folder is removed.

    Raises:
      UserError: the disk does not take it; `flag` is named.
    """
    files.make_output_folder(parent, flag)
    with _filling(parent, "export", parent) as beside:
        made = [beside]
        yield made
        made[0] = _take_number(beside, parent)


@contextlib.contextmanager
def _filling(parent, name, shown):
    """Gives a folder in `parent`; it is removed in the end unless renamed.

    `name` tells which folders of killed processes are like it, and `shown`
    is the path that messages name.
    """
    start = os.path.join(parent, f".{name}.")
    remove = functools.partial(shutil.rmtree, ignore_errors=True)
    files.remove_abandoned(start, remove)
    beside = f"{start}{os.getpid()}.incomplete"
    try:
        with files.naming_failures(shown, "written"):
            os.mkdir(beside)
            yield beside
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _take_number(folder, parent):
    """Renames a folder to the number after the largest in `parent`."""
    numbers = [int(name) for name in os.listdir(parent) if name.isdecimal()]
    number = max(numbers, default=0)
    while True:
        number += 1
        path = os.path.join(parent, str(number))
        try:
            os.rename(folder, path)
        except OSError:
            # Another process may have taken the number meanwhile.
            if not os.path.lexists(path):
                raise
        else:
            return path
