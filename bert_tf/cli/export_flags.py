"""The flags by which a script writes a SavedModel."""

import os

from absl import flags

from bert_tf.errors import UserError
from bert_tf.storage import files

# A script's --help lists them as its own.
flags.disclaim_key_flags()


def define():
    """Defines --do_export, --export_dir and --verify_export."""
    flags.DEFINE_bool(
        "do_export",
        False,
        "Write a SavedModel that takes text, last of all that is done.",
    )
    define_export_dir()


def define_export_dir():
    """Defines --export_dir and --verify_export."""
    flags.DEFINE_string(
        "export_dir",
        None,
        "The folder of exports; each goes into the next free number, as 1.",
    )
    flags.DEFINE_bool(
        "verify_export",
        True,
        "Load the export in a new process, and compare it with the model.",
    )


def check(do_export, export_dir):
    """Checks that there is somewhere to export to, and a reason to.

    Args:
      do_export: bool, the flag.
      export_dir: str or None, the flag.

    Raises:
      UserError: only one is given, the folder is not on this machine, or
        nothing can be written there.
    """
    if do_export and not export_dir:
        raise UserError("--do_export needs --export_dir.")
    if export_dir and not do_export:
        raise UserError("--export_dir does nothing without --do_export.")
    if export_dir and files.is_remote(export_dir):
        raise UserError(
            f"--export_dir={export_dir}: name a folder on this machine, and "
            "copy the export from there."
        )
    if export_dir:
        _require_writable(export_dir)


def _require_writable(export_dir):
    """Checks that a folder is there, or can be made."""
    nearest = os.path.abspath(export_dir)
    while not os.path.lexists(nearest):
        nearest = os.path.dirname(nearest)
    if not os.path.isdir(nearest):
        raise UserError(
            f"--export_dir={export_dir}: {nearest} is there already, and is no "
            "folder. Name another place."
        )
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise UserError(
            f"--export_dir={export_dir}: nothing can be written in {nearest}. "
            "Name another place, or change its permissions."
        )
