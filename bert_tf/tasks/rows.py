"""Files of rows: TSV as 2018 read it, and CSV with quotes.

Every row knows its file and line, for messages about it.
"""

import os
import re

from bert_tf.errors import UserError
from bert_tf.storage import files


class Row(list):
    """The fields (str) of one row.

    A list, as 2018's `DataProcessor` gave: own processors index it as before.
    Only the error for a missing index is another one, with file and line.

    Attributes:
      path: str, the file.
      line_number: int from 1, the line on which the row begins.
    """

    __slots__ = ("line_number", "path")

    def __init__(self, fields, path, line_number):
        super().__init__(fields)
        self.path = path
        self.line_number = line_number

    @property
    def place(self):
        """str, where the row stands, to begin a message with."""
        return f"{self.path}, line {self.line_number}"

    def __getitem__(self, index):
        try:
            return super().__getitem__(index)
        except IndexError as error:
            start = "".join(self[:1])[:40]
            raise UserError(
                f"{self.place}: {len(self)} column(s), but column {index} is "
                f"needed, counted from 0. The line begins {start!r}. "
                "Mend or delete it; columns are separated by one tab (in a "
                "CSV file by a comma)."
            ) from error


def require_data_dir(data_dir):
    """Refuses a --data_dir (str or None) that is no folder: UserError."""
    if not data_dir:
        raise UserError("--data_dir must be given.")
    if not files.is_folder(data_dir):
        raise UserError(f"--data_dir={data_dir}: there is no such folder.")


def find_file(data_dir, *names, expected=""):
    """Finds a file of a data set in --data_dir; returns its path.

    `names` (str) are those that it may have; the first that is there is taken.
    `expected` is what the message adds where there is none, after a blank.

    Raises:
      UserError: no folder, or no such file in it.
    """
    require_data_dir(data_dir)
    paths = [os.path.join(data_dir, name) for name in names]
    for path in paths:
        if files.is_folder(path):
            raise UserError(f"{path} is a folder, but should be a file.")
        if files.is_file(path):
            return path
    raise UserError(
        f"There is no {' nor '.join(paths)}.{expected}"
        f"{_listing(data_dir, os.path.dirname(names[0]))} --data_dir is the "
        "folder that holds the files of the one task, unpacked."
    )


def _listing(folder, subfolder):
    if files.is_remote(folder):
        return ""
    names = sorted(os.listdir(folder))
    inner = os.path.join(folder, subfolder)
    if subfolder and os.path.isdir(inner):
        names += sorted(os.path.join(subfolder, n) for n in os.listdir(inner))
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f" The folder has {shown or 'nothing in it'}."


def read_tsv(path):
    """Reads a UTF-8 file of rows whose columns are separated by tabs.

    Quotes are text like any other. A row ends at LF or CR LF alone. Blank
    lines at the end are passed over. Returns a list of Row, at least one.

    Raises:
      UserError: it cannot be read, holds no row, or a line is not UTF-8, has a
        NUL byte, or is blank and more rows follow (each names the line).

    Source: `DataProcessor._read_tsv` in run_classifier.py (2018), that is
      Python's csv without a quote character. It gave an empty row for a blank
      line, kept a byte-order mark, and failed at fields over 131,072
      characters and at a CR inside a line, which here is text.
    """
    text = _read(path)
    _refuse_cr_alone(path, text.removesuffix("\n").removesuffix("\r"))
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    parsed = ((n, line, line.split("\t")) for n, line in enumerate(lines, 1))
    return _without_blanks(path, "\t", parsed)


def _read(path):
    text = files.read_text(path)
    if "\0" in text:
        number = text.count("\n", 0, text.index("\0")) + 1
        raise UserError(
            f"{path}, line {number}: a NUL byte, so this is no UTF-8 text. "
            "Convert the file to UTF-8."
        )
    return text


def _refuse_cr_alone(path, content):
    if "\r" in content and "\n" not in content:
        raise UserError(
            f"{path}: the lines end in CR alone. Convert the file to LF or CR "
            "LF."
        )


def _without_blanks(path, delimiter, parsed):
    """Makes Rows of (line number, text, fields); refuses gaps."""
    rows, blank_line = [], None
    for number, text, fields in parsed:
        # Columns that are all empty are a row.
        if delimiter not in text and not text.strip():
            blank_line = blank_line or number
            continue
        if blank_line:
            raise UserError(
                f"{path}, line {blank_line}: blank, but more rows follow. "
                "Every row needs a line and every line a row; delete it."
            )
        rows.append(Row(fields, path, number))
    if not rows:
        raise UserError(f"{path} is empty; it should hold one row a line.")
    return rows


def read_quoted(path, delimiter=",", quotechar='"'):
    """Reads a file of rows in which a field may stand in quotes.

    A field that begins with a quote ends at the next one, with a doubled quote
    inside for a quote; it may hold delimiters and line ends. In the middle of
    a field a quote is text. `delimiter` and `quotechar` have one character
    each. For the rest see `read_tsv`.

    Raises:
      UserError: as `read_tsv`; also a quote that is never closed, or is closed
        in the middle of a field (names the line on which it opens).
    """
    text = _read(path)
    _refuse_cr_alone(path, text.rstrip("\r\n"))
    parsed = _parse(text, path, delimiter, quotechar)
    return _without_blanks(path, delimiter, parsed)


def _parse(text, path, delimiter, quotechar):
    """Yields (line number, text, fields) for each row."""
    d, q = re.escape(delimiter), re.escape(quotechar)
    pattern = re.compile(
        f"{q}(?P<quoted>[^{q}]*(?:{q}{q}[^{q}]*)*){q}(?={d}|\r?(?:\n|\\Z))"
        f"|(?P<broken>{q})"
        f"|(?P<plain>[^{d}\n]*)"
    )
    position, number = 0, 1
    while position < len(text):
        start, first_number, fields = position, number, []
        while True:
            match = pattern.match(text, position)
            if match["broken"]:
                raise UserError(
                    f"{path}, line {number}: a field begins with {quotechar} "
                    "but does not end with one. Inside such a field write "
                    f"{quotechar * 2} for a quote; where quotes mean nothing, "
                    "use a TSV file, in which they are text."
                )
            position = match.end()
            if match["quoted"] is not None:
                fields.append(match["quoted"].replace(quotechar * 2, quotechar))
                number += match["quoted"].count("\n")
                position += text.startswith("\r", position)
            else:
                fields.append(match["plain"])
            if not text.startswith(delimiter, position):
                break
            position += len(delimiter)
        if match["quoted"] is None:
            fields[-1] = fields[-1].removesuffix("\r")
        yield first_number, text[start:position], fields
        position, number = position + 1, number + 1
