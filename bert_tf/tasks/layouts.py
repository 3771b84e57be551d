"""Which column of a file is what, and rows to examples by it."""

import dataclasses
import logging

from bert_tf.errors import UserError
from bert_tf.tasks.examples import InputExample

_logger = logging.getLogger("absl")

# Published files have fewer short rows than this share; more are a mistake.
_MOST_SHORT_ROWS = 0.01

# What GLUE's files call the rows' numbers.
ID_NAMES = ("index", "id")


@dataclasses.dataclass(frozen=True)
class Column:
    """A column: where it is known to be, and what headers call it."""

    position: int  # From 0; -1 is the last.
    names: tuple = ()


@dataclasses.dataclass(frozen=True)
class Layout:
    """What the columns of a file are."""

    text_a: Column
    text_b: Column | None = None
    label: Column | None = None  # None, too, where it is not asked for.
    guid: Column | None = None  # None for the number of the row.
    # What a header may call the ids for files of predictions; the first name
    # that it has is taken.
    id_names: tuple = ID_NAMES
    has_header: bool = True
    # A label in the file -> the task's.
    renamed_labels: dict = dataclasses.field(default_factory=dict)
    # Are a few rows with too few columns passed over? The published file may
    # have such.
    skips_short_rows: bool = False


def make_examples(rows, layout, labels, set_type):
    """Makes an InputExample of each row.

    The columns are where the header names them. Where it does not name all of
    them, they are where the layout has them.

    Args:
      rows: list of rows.Row, as read; the header among them if there is one.
      layout: Layout.
      labels: labels.Labels; without a label column an example gets the first.
      set_type: str that begins each guid.

    Raises:
      UserError: no row but the header; a row in place of the header; a row
        with too few columns or an unknown label (each names file and line).

    Source: the `_create_examples` of each processor in run_classifier.py
      (2018), which had the columns by position alone.
    """
    text_a, text_b, label = _locate(rows[0], layout, labels)
    row_id = None
    if layout.has_header:
        names = [name.strip() for name in rows[0]]
        known = (names.index(n) for n in layout.id_names if n in names)
        row_id = next(known, None)
        rows = rows_without_header(rows)
    last = max(text_a, text_b or 0, label or 0)
    if layout.skips_short_rows:
        rows = _without_short_rows(rows, last + 1)
    # As in 2018, so that those who look at the label of a test set see one.
    dummy = labels.names[0] if labels.names else None
    return [
        InputExample(
            guid=f"{set_type}-{_identify(row, layout)}",
            text_a=row[text_a],
            text_b=None if text_b is None else row[text_b],
            label=dummy
            if label is None
            else _label(row, label, layout, labels),
            row_id=None if row_id is None else row[row_id],
        )
        for row in rows
    ]


def rows_without_header(rows):
    """Returns the rows after the first; raises UserError if there are none."""
    if len(rows) == 1:
        raise UserError(
            f"{rows[0].path} has no rows: a header, but nothing after it."
        )
    return rows[1:]


def _identify(row, layout):
    # 2018 counts lines from 0, the header too.
    if layout.guid is None:
        return row.line_number - 1
    return row[layout.guid.position]


def _label(row, position, layout, labels):
    label = row[position]
    label = layout.renamed_labels.get(label, label)
    try:
        labels.encode(label)
    except UserError as error:
        hint = ""
        if row.line_number == 1:
            hint = " If this line is a header, delete it."
        raise UserError(
            f"{row.place}, column {position}: {error}{hint}"
        ) from error
    return label


def _locate(first_row, layout, labels):
    """Returns where text_a, text_b and label are; None for what is not."""
    columns = (layout.text_a, layout.text_b, layout.label)
    positions = [column and column.position for column in columns]
    if not layout.has_header:
        return positions
    header = [name.strip() for name in first_row]
    by_name = [
        column and _find(header, column.names, first_row) for column in columns
    ]
    columns = [column for column in columns if column]
    num_found = sum(found is not None for found in by_name)
    if num_found == len(columns):
        return by_name
    _require_header(first_row, layout, labels)
    # Without a label nothing else tells a row from a header of other names.
    is_bare = first_row[0].strip().lower() not in ID_NAMES
    if layout.label is None and is_bare and not num_found:
        names = [name for column in columns for name in column.names]
        raise UserError(
            f"{first_row.place}: there should be a header with "
            f"{' or '.join(map(repr, names))}, but this is "
            f"{' | '.join(first_row)[:80]!r}. Put a line with the columns' "
            "names before it."
        )
    _warn_of_another_header(first_row, columns)
    return positions


def _warn_of_another_header(first_row, columns):
    expected = [
        f"{column.names[0]!r} (column {column.position})"
        for column in columns
        if column.names
    ]
    if expected:
        _logger.warning(
            "%s: the header is not that of this task, which has %s; it is %r. "
            "Columns are taken by their place, as in 2018. If the file is "
            "another task's, the results mean nothing.",
            first_row.path,
            ", ".join(expected),
            " | ".join(first_row)[:200],
        )


def _find(header, names, first_row):
    found = [i for i, name in enumerate(header) if name in names]
    if len(found) > 1:
        raise UserError(
            f"{first_row.place}: the header names the column "
            f"{header[found[0]]!r} {len(found)} times (columns "
            f"{', '.join(map(str, found))}, counted from 0). Rename those that "
            "are not meant."
        )
    return found[0] if found else None


def _require_header(first_row, layout, labels):
    """Refuses a row of data where the header should be.

    It would be passed over in silence: an example less, and predictions that
    belong to the rows after theirs.
    """
    cell = ""
    if layout.label and -1 <= layout.label.position < len(first_row):
        cell = first_row[layout.label.position]
    try:
        labels.encode(layout.renamed_labels.get(cell, cell))
        has_label = bool(cell)
    except UserError:
        has_label = False
    if has_label or first_row[0].isdecimal():
        raise UserError(
            f"{first_row.place}: there should be a header, but this is a row "
            f"({' | '.join(first_row)[:80]!r}). Put a line with the columns' "
            "names before it; for a table of your own --has_header=false does."
        )


def _without_short_rows(rows, num_columns):
    short = [row for row in rows if len(row) < num_columns]
    if not short or len(short) > _MOST_SHORT_ROWS * len(rows):
        return rows
    _logger.warning(
        "%s: %d of %s rows are passed over, since they have fewer than %d "
        "columns; the published file has some that are broken in two. Lines "
        "%s.",
        short[0].path,
        len(short),
        f"{len(rows):,}",
        num_columns,
        ", ".join(str(row.line_number) for row in short[:10])
        + (", ..." if len(short) > 10 else ""),
    )
    return [row for row in rows if len(row) >= num_columns]
