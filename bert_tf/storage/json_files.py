"""Small JSON files: reading those that come from elsewhere, and writing."""

import json

from bert_tf.errors import UserError
from bert_tf.storage import files

# The largest known, a vocabulary in JSON, has a few.
_MAX_BYTES = 2**24


def parse(path, text):
    """Parses JSON (str or bytes) in which no key stands twice.

    `path` is where it comes from, for the messages.

    Raises:
      UserError: it is not JSON, or says one thing twice.
    """

    def refuse_duplicates(pairs):
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            twice = sorted({key for key in keys if keys.count(key) > 1})
            raise UserError(
                f"{path}: {', '.join(twice[:3])} stands twice in its JSON; "
                "which one counts cannot be known."
            )
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=refuse_duplicates)
    except UserError:
        raise
    # Numbers too long to convert are a ValueError, as bad JSON and bad UTF-8.
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON ({error}).") from error


def read_object(path):
    """Reads a file that holds a JSON object; returns a dict.

    Raises:
      UserError: unreadable, too large, or no JSON object.
    """
    with files.naming_failures(path, "read"):
        size = files.size(path)
    if size > _MAX_BYTES:
        raise UserError(
            f"{path} has {size:,} bytes; of a configuration or an index no "
            f"more than {_MAX_BYTES:,} are read. Is it another file?"
        )
    held = parse(path, files.read_text(path))
    if not isinstance(held, dict):
        raise UserError(
            f"{path}: it must hold a JSON object, this is a "
            f"{type(held).__name__}."
        )
    return held


def to_text(contents):
    """Returns the text of a file: keys sorted, one a line, as 2018 wrote it."""
    return json.dumps(contents, indent=2, sort_keys=True) + "\n"
