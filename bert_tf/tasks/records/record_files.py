"""Examples to TFRecord files, made only when they have to be."""

import dataclasses
import logging
import os
import time

from bert_tf.data import record_file
from bert_tf.errors import UserError
from bert_tf.tasks.labels import CLASSIFICATION, Labels
from bert_tf.tasks.records import fingerprint, processes
from bert_tf.tasks.records.converter import Converter
from bert_tf.text import packing

_logger = logging.getLogger("absl")


@dataclasses.dataclass(frozen=True)
class RecordFile:
    """A file of records.

    `path`: str. `num_records`: int, padding included. `num_cut`: int, how many
    of the examples had more pieces than fit.
    """

    path: str
    num_records: int
    num_cut: int


def prepare_records(examples, output_file, conversion, *, num_processes=None):
    """Writes the records of examples, unless they are there already.

    They are the same whatever the number of processes, and stand under their
    name only when they are complete.

    Args:
      examples: list of InputExample, with PaddingInputExample after them.
      output_file: str, in an existing folder, such as out/train.tf_record.
      conversion: converter.Conversion.
      num_processes: int; None for what is fastest. With several, the file of
        the main program is imported by each and must do nothing then.

    Returns:
      RecordFile.

    Raises:
      UserError: no example, an unknown label (names the guid), a vocabulary
        without a special token, or a file that cannot be read or written.

    Source: `file_based_convert_examples_to_features` in run_classifier.py
      (2018), which began anew on each run.
    """
    if not examples:
        raise UserError(f"There are no examples to make {output_file} of.")
    made_of = fingerprint.fingerprint(examples, conversion)
    counts, reason = fingerprint.compare(output_file, made_of)
    if counts is not None:
        _logger.info(
            "Using the records in %s again: data, vocabulary and flags are the "
            "same.",
            output_file,
        )
        return _report(RecordFile(output_file, **counts), conversion)
    if num_processes is None:
        num_processes = processes.fastest_num_processes(examples)
    _logger.info(
        "Making %s with %s, since %s.",
        output_file,
        "one process" if num_processes == 1 else f"{num_processes} processes",
        reason,
    )
    converter = conversion.new_converter()
    converter.log(examples[0])
    start = time.monotonic()
    fingerprint.forget(output_file)
    converted = (
        map(converter.convert, processes.chunks(examples))
        if num_processes == 1
        else processes.convert_in_processes(examples, conversion, num_processes)
    )
    num_cut = _write(output_file, converted)
    counts = {"num_records": len(examples), "num_cut": num_cut}
    fingerprint.store(output_file, made_of, counts)
    _logger.info("Made it in %.1f s.", time.monotonic() - start)
    return _report(RecordFile(output_file, **counts), conversion)


def _report(made, conversion):
    share = made.num_cut / made.num_records
    _logger.info(
        "%s has %s records, of which %s cut to --max_seq_length=%d.",
        os.path.basename(made.path),
        f"{made.num_records:,}",
        f"{made.num_cut:,} ({share:.1%}) were" if made.num_cut else "none was",
        conversion.max_seq_length,
    )
    return made


def file_based_convert_examples_to_features(
    examples, label_list, max_seq_length, tokenizer, output_file
):
    """Writes the records of examples with a tokenizer of your own.

    Args:
      examples: list of InputExample and PaddingInputExample.
      label_list: list of str, the labels in the order of their ids.
      max_seq_length: int, S.
      tokenizer: see `packing.convert_single_example`.
      output_file: str, in an existing folder.

    Raises:
      UserError: an unknown label (names the guid), S below 3, or a file that
        cannot be written.

    Source: the function of this name in run_classifier.py (2018).
    """
    packing.require_room(max_seq_length)
    labels = Labels(CLASSIFICATION, tuple(label_list))
    converter = Converter(labels, max_seq_length, tokenizer)
    fingerprint.forget(output_file)
    _write(output_file, map(converter.convert, processes.chunks(examples)))


def _write(output_file, converted):
    """Writes (records, number cut) pairs; returns the sum of numbers cut."""
    num_cut = 0

    def batches():
        nonlocal num_cut
        for records, num_cut_here in converted:
            num_cut += num_cut_here
            yield records

    record_file.write(output_file, batches())
    return num_cut
