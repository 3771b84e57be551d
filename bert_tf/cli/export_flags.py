"""The flags by which a script writes a SavedModel, and of what it does.

What takes `values` takes the flags of export_savedmodel.py (FlagValues).
"""

import os

from absl import flags

from bert_tf.errors import UserError
from bert_tf.storage import files

PREPROCESSOR = "preprocessor"

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
    """Refuses one flag without the other, and a folder not to be written to."""
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


def check_source(values):
    """Checks that --kind, what it is made of, and where it goes fit."""
    check(True, values.export_dir)
    is_preprocessor = values.kind == PREPROCESSOR
    needed = "vocab_file" if is_preprocessor else "init_checkpoint"
    if not values[needed].value:
        raise UserError(f"--kind={values.kind} needs --{needed}.")
    for flag in ("init_checkpoint", "bert_config_file"):
        if is_preprocessor and values[flag].value:
            raise UserError(
                f"--{flag} does nothing with --kind={PREPROCESSOR}."
            )
    if values["top_k"].present and values.kind != "masked_lm":
        raise UserError("--top_k does nothing without --kind=masked_lm.")


def open_source(values):
    """Returns the serving.servable.Servable that the flags name."""
    from bert_tf.serving import hub_preprocessor, loading

    if values.kind == PREPROCESSOR:
        return hub_preprocessor.HubPreprocessor(
            vocab_file=values.vocab_file,
            do_lower_case=values.do_lower_case,
            max_seq_length=values.max_seq_length or 128,
        )
    is_case_given = values["do_lower_case"].present
    options = {"top_k": values.top_k} if values.kind == "masked_lm" else {}
    return loading.open_served(
        values.kind,
        values.init_checkpoint,
        bert_config_file=values.bert_config_file,
        vocab_file=values.vocab_file,
        do_lower_case=values.do_lower_case if is_case_given else None,
        max_seq_length=values.max_seq_length,
        **options,
    )
