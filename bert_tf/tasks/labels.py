"""Labels: the three kinds of them, as numbers in a record, and as a file."""

import dataclasses
import decimal
import functools
import math
import os
import re

from bert_tf.errors import UserError
from bert_tf.storage import files

CLASSIFICATION = "classification"  # One label of several.
REGRESSION = "regression"  # A number.
MULTI_LABEL = "multi_label"  # Any number of several labels, none included.

# Beside the checkpoints whose head has these labels.
LABELS_FILE = "labels.txt"
KIND_FILE = "label_kind.txt"

_LARGEST_FLOAT32 = 3.4028234e38
# Python's own float() and int() also take 1_000, blanks and other digits.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")


@dataclasses.dataclass(frozen=True)
class Labels:
    """What the labels of a task are."""

    kind: str  # CLASSIFICATION, REGRESSION or MULTI_LABEL.
    names: tuple = ()  # In the order of their ids; empty for a regression.

    @property
    def num_outputs(self):
        """int, L: how many numbers the model gives for an example."""
        return 1 if self.kind == REGRESSION else len(self.names)

    @property
    def record_length(self):
        """int, how many numbers a record's `label_ids` has."""
        return len(self.names) if self.kind == MULTI_LABEL else 1

    @property
    def record_dtype(self):
        """str, the type of these numbers."""
        return "float32" if self.kind == REGRESSION else "int64"

    @functools.cached_property
    def _id_of(self):
        return {name: i for i, name in enumerate(self.names)}

    def encode(self, label):
        """Returns a label as the numbers of a record.

        These are `record_length` int, or one float for a regression. The label
        is as in InputExample; None gives zeros.

        Raises:
          UserError: it is not among the names, or no finite number. The caller
            puts the label's place before the message.
        """
        if label is None:
            return [0] * self.record_length
        if self.kind == REGRESSION:
            return [_to_number(label)]
        if self.kind == CLASSIFICATION:
            return [self._id(label)]
        ids = [0] * self.record_length
        for name in split_cell(label):
            ids[self._id(name)] = 1
        return ids

    def _id(self, name):
        try:
            return self._id_of[name]
        except KeyError:
            raise UserError(
                f"the label {name!r} is unknown. The labels are "
                f"{spell(self.names)}."
            ) from None


def kind_of(*, multi_label, regression):
    """Returns the kind that the flags of these names (bool) stand for.

    Raises:
      UserError: both are set.
    """
    if multi_label and regression:
        raise UserError("Give --multi_label or --regression, not both.")
    if multi_label:
        return MULTI_LABEL
    return REGRESSION if regression else CLASSIFICATION


def _to_number(label):
    is_plain = not isinstance(label, str) or _NUMBER.fullmatch(label)
    number = float(label) if is_plain else math.nan
    if not abs(number) <= _LARGEST_FLOAT32:
        raise UserError(
            f"the label {label!r} is no number that a regression can learn; it "
            "must be finite, of the digits 0 to 9, with a point before the "
            "decimals and nothing around it."
        )
    return number


def split_cell(cell):
    """Splits a cell of several labels: a str with commas, or a list of str.

    Returns a list of str without white space at their ends, none empty.
    """
    names = cell.split(",") if isinstance(cell, str) else cell
    return [name.strip() for name in names if name.strip()]


def spell(names):
    """Quotes labels (sequence of str) for a message, up to the 20th."""
    # The quotes show blanks at a label's ends.
    shown = ", ".join(repr(name) for name in names[:20])
    return f"{shown} and {len(names) - 20} more" if len(names) > 20 else shown


def check_names(names, where, least=2):
    """Checks labels (tuple of str) that a user gave; `least` have to be there.

    Raises:
      UserError: too few, an empty one, one that is there twice or does not fit
        into a file of one label a line. The message begins with `where`.
    """
    if len(names) < least:
        raise UserError(
            f"{where}: {len(names)} label(s) ({spell(names) or 'none'}), but "
            f"there must be {least} at least."
        )
    for name in names:
        if name != name.strip() or len(name.splitlines()) != 1 or "\t" in name:
            raise UserError(
                f"{where}: {name!r} is no label. A label is not empty, has no "
                "white space at its ends, no tab and no line end."
            )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError(
            f"{where}: {spell(twice)} is there more than once; each label has "
            "one id."
        )


def sort_labels(names):
    """Orders labels (iterable of str), the same way on each run.

    Returns a tuple of str: by value if all are whole numbers of the digits 0 to
    9, else by code point.
    """
    names = sorted(names)
    if not all(map(_WHOLE_NUMBER.fullmatch, names)):
        return tuple(names)
    # "7" and "07", two labels of one value, stay in their order. Decimal, as
    # int() refuses thousands of digits.
    return tuple(sorted(names, key=decimal.Decimal))


def write_labels(folder, labels):
    """Stores Labels in a folder: their kind, and their names if they have any.

    Raises:
      UserError: a file cannot be written.
    """
    files.write_text(os.path.join(folder, KIND_FILE), f"{labels.kind}\n")
    if labels.names:
        path = os.path.join(folder, LABELS_FILE)
        files.write_text(path, "".join(f"{name}\n" for name in labels.names))


def read_labels(folder):
    """Reads the names (tuple of str) that `write_labels` stored in a folder.

    None if the folder has no such file.

    Raises:
      UserError: it cannot be read, or holds something else.
    """
    path = os.path.join(folder, LABELS_FILE)
    if not files.is_file(path):
        return None
    names = tuple(files.read_text(path).removesuffix("\n").split("\n"))
    check_names(names, path, least=1)
    return names


def read_stored(folder):
    """Reads the Labels that `write_labels` stored in a folder; else None.

    Raises:
      UserError: one cannot be read, or holds something else.
    """
    names, kind = read_labels(folder), _read_kind(folder)
    if names is None and kind is None:
        return None
    return Labels(kind or CLASSIFICATION, names or ())


def _read_kind(folder):
    path = os.path.join(folder, KIND_FILE)
    return files.read_text(path).strip() if files.is_file(path) else None


def require_same_labels(folder, labels, source):
    """Checks labels against those stored in a folder, if any are.

    `labels` are the Labels in use, `source` (str) is where they come from.

    Raises:
      UserError: they are of another kind, or differ, or only their order does.
    """
    kind = _read_kind(folder)
    if kind is not None and kind != labels.kind:
        raise UserError(
            f"{os.path.join(folder, KIND_FILE)}: the model there was trained "
            f"for {kind}, {source} is {labels.kind}. --multi_label and "
            "--regression make the difference for a table of your own; give "
            "what it was trained with, or train anew in another folder."
        )
    stored = read_labels(folder)
    if stored is not None and stored != labels.names:
        raise UserError(
            f"{os.path.join(folder, LABELS_FILE)} has the labels "
            f"{spell(stored)}, but {source} has {spell(labels.names)}. The "
            "model there knows them by their order. Give the same labels in "
            "the same order, or train anew in another folder."
        )
