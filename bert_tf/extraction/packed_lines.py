"""A file of lines to packed texts, kept on disk: memory does not grow.

A line is a text, or two with " ||| " between.

N lines, P pieces of all lines
"""

import array
import contextlib
import logging
import os
import re
import tempfile

import numpy as np

from bert_tf.errors import UserError
from bert_tf.storage import files
from bert_tf.storage.progress import Heartbeat
from bert_tf.text import packing

_logger = logging.getLogger("absl")

# The first part is greedy: the last bar is the one that counts.
_PAIR = re.compile(r"(.*) \|\|\| (.*)")

_LINES_AT_ONCE = 1024


def split_line(line):
    """Splits a line (bytes) into a pair of str; "" is second for one text.

    Worked examples: "a ||| b" is a pair; "a|||b" one text, for want of blanks;
    of "a ||| b ||| c" the first text is "a ||| b". Bytes that are not UTF-8 are
    left out.

    Source: `read_examples` in extract_features.py (2018). TensorFlow's reader
      of lines, which it used, leaves out every CR, and not only at the end.
    """
    text = line.replace(b"\r", b"").decode("utf-8", "ignore").strip()
    match = _PAIR.fullmatch(text)
    return match.groups() if match else (text, "")


class PackedLines:
    """The lines of a file as [CLS] A [SEP] or [CLS] A [SEP] B [SEP], unpadded.

    They are in two files without a name, 4 bytes a piece and 8 a line, and can
    be read more than once:

        with packed_lines.pack_file(path, tokenizer, 128) as lines:
            for input_ids, num_first in lines:
                ...

    Attributes:
      num_lines, num_pieces: int, N and P.
      num_cut: int, how many lines had more pieces than fit.
      num_pairs: int, how many lines have pieces of a second text.
      longest: int, the most pieces of a line.
    """

    def __init__(self, ids_file, lengths_file):
        """Stores two binary files to read and write, both empty."""
        self._ids_file = ids_file
        self._lengths_file = lengths_file
        self.num_lines = self.num_pieces = 0
        self.num_cut = self.num_pairs = self.longest = 0

    def add(self, input_ids, num_first, is_cut):
        """Adds what `packing.pack` returns."""
        self._ids_file.write(array.array("i", input_ids))
        self._lengths_file.write(array.array("i", [len(input_ids), num_first]))
        self.num_lines += 1
        self.num_pieces += len(input_ids)
        self.num_cut += is_cut
        self.num_pairs += num_first < len(input_ids)
        self.longest = max(self.longest, len(input_ids))

    def blocks(self):
        """Yields many lines at once, in order, as pairs of int32 np.ndarray.

        The first has the pieces of the lines, one after the other. The second,
        [lines, 2], has for each line how many these are and how many of them
        belong to segment 0.
        """
        ids_at = lengths_at = 0
        while lengths_at < 8 * self.num_lines:
            # Another loop over the lines may have moved the files' positions.
            self._lengths_file.seek(lengths_at)
            content = self._lengths_file.read(8 * _LINES_AT_ONCE)
            lengths = np.frombuffer(content, np.int32).reshape(-1, 2)
            size = 4 * int(lengths[:, 0].sum())
            self._ids_file.seek(ids_at)
            yield np.frombuffer(self._ids_file.read(size), np.int32), lengths
            lengths_at += len(content)
            ids_at += size

    def __iter__(self):
        """Yields (int32 np.ndarray, the pieces; int, those of segment 0)."""
        for ids, lengths in self.blocks():
            ends = lengths[:, 0].cumsum()
            for i, (length, num_first) in enumerate(lengths.tolist()):
                yield ids[ends[i] - length : ends[i]], num_first


@contextlib.contextmanager
def pack_file(path, tokenizer, max_seq_length, *, folder=None):
    """Reads a file, or a pipe, once and packs its lines; gives PackedLines.

    Lines end at LF alone. Every line counts: an empty one is [CLS] [SEP]. The
    tokenizer is a FullTokenizer. `max_seq_length` is the most pieces of a line,
    [CLS] and [SEP] included; `folder` a local one for the files, or None for
    the system's.

    Raises:
      UserError: the file cannot be read, or has no line; there is no room.

    Source: `convert_examples_to_features` in extract_features.py (2018), which
      held all of them padded.
    """
    with (
        tempfile.TemporaryFile(dir=folder) as ids_file,
        tempfile.TemporaryFile(dir=folder) as lengths_file,
    ):
        lines = PackedLines(ids_file, lengths_file)
        special_ids = tokenizer.convert_tokens_to_ids(["[CLS]", "[SEP]"])
        heartbeat = Heartbeat("Read %s lines so far.")
        with (
            files.naming_failures(path, "read"),
            files.open_binary(path) as stream,
        ):
            for line in stream:
                ids = map(tokenizer.tokenize_to_ids, split_line(line))
                lines.add(*packing.pack(*ids, max_seq_length, special_ids))
                heartbeat.beat(lines.num_lines)
        if not lines.num_lines:
            raise UserError(f"{path} is empty: there is no line to work on.")
        _log(path, lines, tokenizer, max_seq_length)
        yield lines


def _log(path, lines, tokenizer, max_seq_length):
    _logger.info(
        "Read %s lines, %s pieces, from %s.",
        f"{lines.num_lines:,}",
        f"{lines.num_pieces:,}",
        path,
    )
    first, _ = next(iter(lines))
    packing.log_pieces(
        f"{path}, line 0", tokenizer.convert_ids_to_tokens(first.tolist())
    )
    if lines.num_cut:
        _logger.warning(
            "Lines with more pieces than --max_seq_length=%d, which are cut: "
            "%s.",
            max_seq_length,
            f"{lines.num_cut:,}",
        )


def local_folder(path):
    """Returns the folder of a path (str), or None if it is remote."""
    return None if files.is_remote(path) else os.path.dirname(path) or "."
