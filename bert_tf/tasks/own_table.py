"""--task_name=tsv: a table of your own, whose columns you name."""

import dataclasses
import itertools
import logging
import os

from bert_tf.errors import UserError
from bert_tf.tasks import labels as labels_lib
from bert_tf.tasks import rows as rows_lib
from bert_tf.tasks.examples import FileProcessor
from bert_tf.tasks.labels import Labels
from bert_tf.tasks.layouts import (
    Column,
    Layout,
    make_examples,
    rows_without_header,
)

_READERS = {"tsv": rows_lib.read_tsv, "csv": rows_lib.read_quoted}


@dataclasses.dataclass(frozen=True)
class TableOptions:
    """What the files train, dev and test of a table are like.

    Their names end in .tsv or .csv, as the format. A column is its name in the
    header, or its number, counted from 0; a name that is itself a number wins.

    Raises:
      UserError: options that do not fit together.
    """

    text_a_column: str
    text_b_column: str | None = None
    label_column: str | None = None  # Not used to predict.
    has_header: bool = True  # If not, columns are numbers.
    # "tsv": tabs between columns, quotes are text. "csv": commas between
    # columns, and a field may stand in quotes.
    data_format: str = "tsv"
    # See labels.Labels. A cell of several labels has commas between them and
    # may be empty.
    kind: str = labels_lib.CLASSIFICATION

    def __post_init__(self):
        if not self.text_a_column:
            raise UserError("--task_name=tsv needs --text_a_column.")
        if self.data_format not in _READERS:
            raise UserError(
                f"--data_format={self.data_format} is unknown; it is "
                f"{' or '.join(_READERS)}."
            )
        for flag in ("text_a_column", "text_b_column", "label_column"):
            column = getattr(self, flag)
            if not self.has_header and column and not _is_number(column):
                raise UserError(
                    f"--{flag}={column}: without a header a column is a "
                    "number, counted from 0."
                )


def _is_number(column):
    return column.isascii() and column.isdecimal()


class TableProcessor(FileProcessor):
    """Reads the files of a table."""

    def __init__(self, options, label_names=()):
        """Stores TableOptions, and labels from `choose_label_names`."""
        self.options = options
        self.labels = Labels(options.kind, tuple(label_names))

    def get_labels(self):
        """See base class; empty for a regression."""
        return list(self.labels.names)

    def _read(self, data_dir, name):
        rows, layout = _read_rows(self.options, data_dir, name)
        return make_examples(rows, layout, self.labels, name)


def choose_label_names(options, data_dir, given, folders):
    """Decides which labels a table has.

    Returns:
      tuple of str, in the order of their ids: those `given` (str or None, of
      --labels), else those of a model, in the first of `folders` (list of str)
      that has any, else those of the training file.

    Raises:
      UserError: see `read_label_names`; or there is nothing to go by.
    """
    if options.kind == labels_lib.REGRESSION:
        return ()
    if given:
        names = tuple(name.strip() for name in given.split(","))
        labels_lib.check_names(names, f"--labels={given}")
        return names
    for folder in folders:
        names = labels_lib.read_labels(folder)
        if names is not None:
            logging.getLogger("absl").info(
                "Labels are those in %s.",
                os.path.join(folder, labels_lib.LABELS_FILE),
            )
            return names
    if not (options.label_column and data_dir):
        raise UserError(
            "The labels are not known: none are beside the model, and there is "
            "no --label_column of --data_dir to read them from. Give them by "
            "--labels, in the order of their ids."
        )
    return read_label_names(options, data_dir)


def read_label_names(options, data_dir):
    """Reads which labels a table's training file has; not for a regression.

    Takes TableOptions; returns a tuple of str as `labels.sort_labels` does.

    Raises:
      UserError: the file cannot be read, has no such column, a row without a
        label, or fewer than two labels (for several a row: none).
    """
    rows, layout = _read_rows(options, data_dir, "train")
    path, position = rows[0].path, layout.label.position
    if options.has_header:
        rows = rows_without_header(rows)
    is_single = options.kind == labels_lib.CLASSIFICATION
    if is_single:
        names = [_one_label(row, position) for row in rows]
        if not options.has_header:
            _warn_of_header(names, rows[0])
    else:
        cells = (row[position] for row in rows)
        names = [name for c in cells for name in labels_lib.split_cell(c)]
    found = labels_lib.sort_labels(set(names))
    where = f"{path}, column {position}"
    labels_lib.check_names(found, where, least=2 if is_single else 1)
    return found


def _one_label(row, position):
    label = row[position]
    if not label or label != label.strip():
        raise UserError(
            f"{row.place}, column {position}: the label is {label!r}. It must "
            "not be empty nor have white space at its ends."
        )
    return label


def _warn_of_header(names, first_row):
    if names.count(names[0]) == 1 and len(names) > 1:
        logging.getLogger("absl").warning(
            "%s: no other row has the label %r of this one. If it is a header, "
            "set --has_header=true.",
            first_row.place,
            names[0],
        )


def _read_rows(options, data_dir, name):
    """Returns the rows of a file and their Layout."""
    # A file to predict need not have the label's column.
    label_column = None if name == "test" else options.label_column
    if name != "test" and not label_column:
        raise UserError(
            "To train or evaluate, --task_name=tsv needs --label_column."
        )
    path = rows_lib.find_file(data_dir, f"{name}.{options.data_format}")
    rows = _READERS[options.data_format](path)
    layout = _layout(rows[0], options, label_column)
    if options.has_header:
        _refuse_stray_delimiters(rows)
    else:
        _refuse_uneven_rows(rows)
    return rows, layout


def _refuse_uneven_rows(rows):
    """Refuses a row that has more or fewer columns than the first one.

    Without a header nothing else tells that a delimiter is inside a text.
    """
    num_columns = len(rows[0])
    for row in rows:
        if len(row) != num_columns:
            raise UserError(
                f"{row.place}: {len(row)} column(s), but the first row has "
                f"{num_columns}. Give all rows as many; in a CSV file a text "
                "with commas may stand in quotes."
            )


def _refuse_stray_delimiters(rows):
    """Refuses a row with text beyond the columns that the header names.

    A delimiter is inside one of its texts, which would be cut short there, or
    put in the place of the next column.
    """
    num_columns = len(rows[0])
    for row in rows:
        if len(row) > num_columns and any(row[num_columns:]):
            raise UserError(
                f"{row.place}: {len(row)} columns, but the header has "
                f"{num_columns}. The line goes on with "
                f"{row[num_columns][:40]!r}. Take out what separates columns "
                "but does not here; in a CSV file a text may stand in quotes."
            )


def _layout(first_row, options, label_column):
    """Returns the Layout of a file that begins with `first_row`."""
    header = None
    if options.has_header:
        header = [name.strip() for name in first_row]
    wanted = {
        "--text_a_column": options.text_a_column,
        "--text_b_column": options.text_b_column,
        "--label_column": label_column,
    }
    found = {
        flag: _find_column(column, flag, header, first_row)
        for flag, column in wanted.items()
        if column
    }
    for one, other in itertools.combinations(found, 2):
        position = found[one].position
        if found[other].position == position:
            raise UserError(
                f"{one} and {other} both mean column {position}, counted from "
                f"0, of {first_row.path}. Each is another column."
            )
    text_a, text_b, label = map(found.get, wanted)
    return Layout(
        text_a, text_b, label, has_header=options.has_header, id_names=()
    )


def _find_column(column, flag, header, first_row):
    """Returns the Column that a flag's value names or numbers."""
    count = header.count(column) if header else 0
    if count > 1:
        raise UserError(
            f"{first_row.place}: the header has {column!r} {count} times. "
            f"Rename one, or give {flag} as a number, counted from 0."
        )
    if count == 1:
        return Column(header.index(column), (column,))
    if _is_number(column):
        if int(column) < len(first_row):
            return Column(int(column))
        raise UserError(
            f"{first_row.place}: {flag}={column}, counted from 0, but there "
            f"are {len(first_row)} column(s)."
        )
    raise UserError(
        f"{first_row.place}: {flag}={column}, but the header has "
        f"{labels_lib.spell(header)}. Name one of these or its number, counted "
        "from 0; without a header set --has_header=false."
    )
