"""Recognizing records that were made before.

Beside each file of records stands a small JSON file that tells what they were
made of. If nothing of it has changed, the records are used again.

A vocabulary or file that cannot be read or written is a UserError.
"""

import hashlib
import json
import unicodedata

from bert_tf.storage import files
from bert_tf.tasks.examples import PaddingInputExample

# Raise this when the same input gives other records than before.
_FORMAT = 1

# How the log names a part that has changed.
_NAMES = {
    "format": "this program's way of making records",
    "examples": "the data",
    "labels": "the labels",
    "kind": "the kind of labels",
    "max_seq_length": "--max_seq_length",
    "vocabulary": "the vocabulary",
    "do_lower_case": "--do_lower_case",
    "unicode": "Python's version of Unicode",
}


def fingerprint(examples, conversion):
    """Returns what records are made of, as a dict for JSON.

    The guids of examples do not count, as they are not in the records.
    """
    vocabulary = files.read_bytes(conversion.vocab_file)
    return {
        "format": _FORMAT,
        "examples": _digest(examples),
        "labels": list(conversion.labels.names),
        "kind": conversion.labels.kind,
        "max_seq_length": conversion.max_seq_length,
        "vocabulary": hashlib.sha256(vocabulary).hexdigest(),
        "do_lower_case": bool(conversion.do_lower_case),
        "unicode": unicodedata.unidata_version,
    }


def digest(sets, conversion):
    """Returns a str that only these sets of examples, so converted, have.

    `sets` are lists of InputExample; `conversion` is a converter.Conversion.
    """
    made_of = [fingerprint(examples, conversion) for examples in sets]
    text = json.dumps(made_of, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _digest(examples):
    digest = hashlib.sha256()
    for example in examples:
        content = None
        if not isinstance(example, PaddingInputExample):
            content = (example.text_a, example.text_b, example.label)
        # A tuple's text is unambiguous; a line end in it is escaped.
        digest.update(f"{content!r}\n".encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def companion(output_file):
    """Returns the path (str) of the JSON file beside a file of records."""
    return f"{output_file}.json"


def store(output_file, made_of, counts):
    """Writes the JSON file beside a complete file of records.

    `made_of` is from `fingerprint`; `counts` is a dict of what else to remember
    of the records.
    """
    content = {
        "made_of": made_of,
        "counts": counts,
        "bytes": files.size(output_file),
        "crc32": files.checksum(output_file),
    }
    text = json.dumps(content, indent=1, ensure_ascii=False)
    files.write_text(companion(output_file), text + "\n")


def forget(output_file):
    """Empties the JSON file, before other records are written.

    After an interruption it would otherwise tell of the records before.
    """
    if files.is_file(companion(output_file)):
        files.write_text(companion(output_file), "{}\n")


def compare(output_file, made_of):
    """Finds out whether `output_file` holds what would be made of `made_of`.

    Returns:
      pair: what `store` was given as `counts`, and ""; or None and the reason.
    """
    if not files.is_file(output_file):
        return None, "there is none yet"
    stored = _read(companion(output_file))
    if stored is None:
        return None, "nothing tells what it was made of"
    if stored["bytes"] != files.size(output_file):
        return None, "its size is not what it was when it was made"
    before = stored["made_of"]
    changed = [
        _NAMES[part] for part in made_of if made_of[part] != before.get(part)
    ]
    if changed:
        return None, f"{' and '.join(changed)} changed"
    # Last, since all of the file is read for it.
    if stored["crc32"] != files.checksum(output_file):
        return None, "its content is not what it was when it was made"
    return stored["counts"], ""


def _read(path):
    if not files.is_file(path):
        return None
    try:
        stored = json.loads(files.read_text(path))
    except json.JSONDecodeError:
        return None
    parts = {"made_of": dict, "counts": dict, "bytes": int, "crc32": int}
    is_complete = isinstance(stored, dict) and all(
        isinstance(stored.get(name), kind) for name, kind in parts.items()
    )
    return stored if is_complete else None
