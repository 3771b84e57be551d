"""Which checkpoint files there are: prefixes, data files, the state file.

A checkpoint is called by its prefix, `<folder>/model.ckpt-12`; its files are

    <prefix>.index                  where each variable lies in
    <prefix>.data-00000-of-00001    the values, in one or more files
    <prefix>.state.json             what 2018 did not keep; ours, optional

and the folder's state file, called `checkpoint`, says which one is the latest.
TensorFlow is not imported here, so that a wrong path is reported at once.
"""

import contextlib
import os
import re

from bert_tf.errors import UserError
from bert_tf.storage import files

STATE_FILE = "checkpoint"
COMPANION_SUFFIX = ".state.json"

_DATA_SUFFIX = re.compile(r"\.data-(\d{5})-of-(\d{5})")
_SUFFIX = re.compile(
    rf"(\.index|\.meta|{re.escape(COMPANION_SUFFIX)}|{_DATA_SUFFIX.pattern})$"
)
_STATE_ENTRY = re.compile(
    r'^\s*(model_checkpoint_path|all_model_checkpoint_paths)\s*:\s*"'
    r'((?:[^"\\]|\\.)*)"\s*$',
    re.MULTILINE,
)


def resolve_checkpoint(path, flag="init_checkpoint"):
    """Finds the checkpoint that a flag's value means; returns its prefix (str).

    `path` (str or os.PathLike) is a prefix; one of the checkpoint's files; or a
    folder whose state file names its latest checkpoint. Messages name `flag`
    (str, without dashes).

    Raises:
      UserError: there is no such checkpoint, or one of its files is missing or
        empty.

    Source: none. 2018 read a prefix only; with the name of a file it loaded
      nothing and said nothing.
    """
    path = os.fspath(path) if path else ""
    if not path:
        raise UserError(f"--{flag} must name a checkpoint.")
    prefix = _SUFFIX.sub("", path)
    if not files.is_file(f"{prefix}.index"):
        if not files.is_folder(path):
            raise UserError(
                f"--{flag}={path}: there is no such checkpoint, folder or file "
                f"({prefix}.index does not exist). "
                f"{_present(os.path.dirname(prefix))}"
            )
        prefix = latest_checkpoint(path)
        if prefix is None:
            raise UserError(
                f"--{flag}={path}: this folder has no state file "
                f"({STATE_FILE!r}) that names its latest checkpoint. Name one "
                f"in full. {_present(path)}"
            )
    _check_files(prefix, flag)
    return prefix


def _check_files(prefix, flag):
    # Remote files are not listed for this: reading them will tell.
    if files.is_remote(prefix):
        return
    if set(prefix) & set("*?["):
        raise UserError(
            f"--{flag}: TensorFlow takes {prefix} for a pattern, because of "
            "*, ? or [ in it. Give the folder another name."
        )
    folder, name = os.path.split(prefix)
    present = {
        entry[len(name) :]
        for entry in files.list_folder(folder)
        if entry.startswith(name)
    }
    # Of each number of data files there may be: are all there?
    totals = {m[2] for m in map(_DATA_SUFFIX.fullmatch, present) if m}
    is_complete = any(
        all(
            f".data-{part:05d}-of-{total}" in present
            for part in range(int(total))
        )
        for total in totals
    )
    if not is_complete:
        raise UserError(
            f"--{flag}: the checkpoint {prefix} is incomplete: beside its "
            ".index file there must be all its .data-?????-of-????? files. "
            "Copy it again."
        )
    if not os.path.getsize(f"{prefix}.index"):
        raise UserError(
            f"--{flag}: {prefix}.index is empty: the checkpoint was not "
            "written or copied to its end. Copy it again."
        )


def _present(folder):
    """Says, for a message, which checkpoints a local folder has."""
    folder = folder or "."
    if files.is_remote(folder) or not os.path.isdir(folder):
        return ""
    prefixes = prefixes_among(files.list_folder(folder))
    return f"Checkpoints in {folder}: {', '.join(prefixes) or 'none'}."


def prefixes_among(entries):
    """Lists the prefixes (str) of the checkpoints among a folder's entries."""
    return sorted(
        entry.removesuffix(".index")
        for entry in entries
        if entry.endswith(".index") and not entry.startswith(".")
    )


def latest_checkpoint(folder):
    """Returns a folder's latest prefix by its state file; None without one.

    Raises:
      UserError: the state file cannot be understood; the checkpoint that it
        names is not there; or a run's checkpoints are there without a state
        file. (`tf.train.latest_checkpoint` then gives None, and a run would
        begin again from nothing.)
    """
    prefixes = read_state(folder)
    if not prefixes:
        _refuse_unnamed_checkpoints(folder)
        return None
    if not files.is_file(f"{prefixes[-1]}.index"):
        raise UserError(
            f"{os.path.join(folder, STATE_FILE)} names {prefixes[-1]} as the "
            "latest checkpoint, but its files are not there. Put them back, "
            "or write another name into that file, or use another folder. "
            f"{_present(folder)}"
        )
    return prefixes[-1]


def _refuse_unnamed_checkpoints(folder):
    if files.is_remote(folder) or not os.path.isdir(folder):
        return
    # A run that was stopped while it wrote its first, at step 0, has lost
    # nothing.
    found = [
        entry
        for entry in files.list_folder(folder)
        if re.fullmatch(r"model\.ckpt-[1-9]\d*\.index", entry)
    ]
    found.sort(key=lambda entry: int(re.search(r"\d+", entry)[0]))
    if found:
        raise UserError(
            f"The folder {folder} holds checkpoints of a run "
            f"({', '.join(found)}) but no state file {STATE_FILE!r} that says "
            "which one is the latest. Write one with the line "
            f'model_checkpoint_path: "{found[-1].removesuffix(".index")}", or '
            "use another folder."
        )


def read_state(folder):
    """Lists the prefixes that a folder's state file keeps, the latest last.

    There are none if there is no state file.

    Raises:
      UserError: it names no checkpoint.
    """
    path = os.path.join(folder, STATE_FILE)
    if not files.is_file(path):
        return []
    entries = {"model_checkpoint_path": [], "all_model_checkpoint_paths": []}
    for key, value in _STATE_ENTRY.findall(files.read_text(path)):
        # A value that is no text counts as none.
        with contextlib.suppress(UnicodeError):
            raw = value.encode().decode("unicode_escape").encode("latin-1")
            entries[key].append(os.path.join(folder, raw.decode()))
    if not entries["model_checkpoint_path"]:
        raise UserError(
            f"{path} does not name the latest checkpoint (a line "
            'model_checkpoint_path: "model.ckpt-...", as TensorFlow writes '
            f"it). Write that line, or remove the file. {_present(folder)}"
        )
    latest = entries["model_checkpoint_path"][-1]
    older = entries["all_model_checkpoint_paths"]
    return [prefix for prefix in older if prefix != latest] + [latest]


def write_state(folder, prefixes):
    """Replaces a folder's state file, in one step.

    `prefixes` are paths (str) in that folder; the latest is last.
    """
    names = [_escape(os.path.basename(prefix)) for prefix in prefixes]
    lines = [f'model_checkpoint_path: "{names[-1]}"\n']
    lines += [f'all_model_checkpoint_paths: "{name}"\n' for name in names]
    files.write_text(os.path.join(folder, STATE_FILE), "".join(lines))


def _escape(text):
    # A string of the protocol buffers' text format: bytes, the unusual ones in
    # octal.
    return "".join(
        chr(byte)
        if 32 <= byte < 127 and chr(byte) not in '"\\'
        else f"\\{byte:03o}"
        for byte in text.encode()
    )


def is_file_of(entry, prefix):
    """Tells whether a folder's entry (str) is one of a checkpoint's files."""
    name = os.path.basename(prefix)
    return bool(
        entry.startswith(name) and _SUFFIX.fullmatch(entry[len(name) :])
    )
