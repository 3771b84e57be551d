"""Examples to TFRecord files, made only when they have to be.

Several processes convert where that is faster; the file is that of one.
"""

import collections
import concurrent.futures
import contextlib
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time

from bert_tf.data import record_writer
from bert_tf.errors import UserError
from bert_tf.tasks.examples import PaddingInputExample
from bert_tf.tasks.labels import CLASSIFICATION, Labels
from bert_tf.tasks.records import fingerprint
from bert_tf.tasks.records.converter import Converter

_logger = logging.getLogger("absl")

# A process takes this many examples at a time.
_CHUNK = 2000
# With fewer characters for each, processes take as long to start as they save.
_CHARACTERS_PER_PROCESS = 5_000_000


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
      dict: num_records, padding included; num_cut, how many of the examples had
      more pieces than fit.

    Raises:
      UserError: no example, an unknown label (names the guid), a vocabulary
        without a special token, or a file that cannot be read or written.

    Source: `file_based_convert_examples_to_features` in run_classifier.py
      (2018), which converted again on each run.
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
        _log_counts(output_file, counts, conversion)
        return counts
    if num_processes is None:
        num_processes = _fastest_num_processes(examples)
    _logger.info(
        "Making %s with %s, since %s.",
        output_file,
        "one process" if num_processes == 1 else f"{num_processes} processes",
        reason,
    )
    converter = conversion.new_converter()
    converter.log(examples[0])
    start = time.monotonic()
    converted = (
        map(converter.convert, _chunks(examples))
        if num_processes == 1
        else convert_in_processes(examples, conversion, num_processes)
    )
    num_cut = _write(output_file, converted)
    counts = {"num_records": len(examples), "num_cut": num_cut}
    fingerprint.store(output_file, made_of, counts)
    _logger.info("Made it in %.1f s.", time.monotonic() - start)
    _log_counts(output_file, counts, conversion)
    return counts


def _log_counts(output_file, counts, conversion):
    num_records, num_cut = counts["num_records"], counts["num_cut"]
    share = num_cut / num_records
    _logger.info(
        "%s has %s records, of which %s cut to --max_seq_length=%d.",
        os.path.basename(output_file),
        f"{num_records:,}",
        f"{num_cut:,} ({share:.1%}) were" if num_cut else "none was",
        conversion.max_seq_length,
    )


def file_based_convert_examples_to_features(
    examples, label_list, max_seq_length, tokenizer, output_file
):
    """Writes the records of examples with a tokenizer of your own.

    The arguments are those of `converter.convert_single_example`; the file's
    folder exists.

    Raises:
      UserError: an unknown label (names the guid), S below 3, or a file that
        cannot be written.

    Source: the function of this name in run_classifier.py (2018).
    """
    labels = Labels(CLASSIFICATION, tuple(label_list))
    converter = Converter(labels, max_seq_length, tokenizer)
    _write(output_file, map(converter.convert, _chunks(examples)))


def _write(output_file, converted):
    """Writes (records, number cut) pairs; returns the sum of numbers cut."""
    num_cut = 0

    def batches():
        nonlocal num_cut
        for records, num_cut_here in converted:
            num_cut += num_cut_here
            yield records

    fingerprint.forget(output_file)
    record_writer.write(output_file, batches())
    return num_cut


def _chunks(examples):
    for start in range(0, len(examples), _CHUNK):
        yield examples[start : start + _CHUNK]


def _fastest_num_processes(examples):
    """Returns an estimate, at most the cores that this program may use."""
    characters = sum(
        len(example.text_a) + len(example.text_b or "")
        for example in examples
        if not isinstance(example, PaddingInputExample)
    )
    cores = (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )
    return max(1, min(cores, characters // _CHARACTERS_PER_PROCESS))


@contextlib.contextmanager
def _unwinding_when_ended():
    """Lets SIGTERM unwind this process as Ctrl-C does.

    Otherwise Python cleans up what the processes share, with a warning that
    alarms, and the unfinished file stays.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Only the main thread can give a signal a meaning.
        return
    before = signal.signal(
        signal.SIGTERM, lambda number, _: sys.exit(128 + number)
    )
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def convert_in_processes(examples, conversion, num_processes):
    """Converts examples by several processes.

    The processes start from nothing: one forked off after TensorFlow has
    started its threads may hang. They do not import it, but they do import the
    main program's file, which must do nothing when it is imported.

    Yields what `Converter.convert` gives, for some examples at a time.

    Raises:
      UserError: an unknown label (names the guid); a process that ended.
    """
    with _unwinding_when_ended():
        executor = concurrent.futures.ProcessPoolExecutor(
            num_processes,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start_process,
            initargs=(conversion,),
        )
        waiting = collections.deque()
        try:
            for chunk in _chunks(examples):
                waiting.append(executor.submit(_convert_chunk, chunk))
                # Enough for each to find the next one ready, few enough to fit
                # in memory.
                if len(waiting) > 2 * num_processes:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except concurrent.futures.process.BrokenProcessPool as error:
            raise UserError(
                "A process that converts examples ended unexpectedly, perhaps "
                "for want of memory. Try it with --conversion_processes=1."
            ) from error
        finally:
            executor.shutdown(cancel_futures=True)


# What a process of `convert_in_processes` works with, made when it starts.
_converter = None


def _start_process(conversion):
    global _converter
    # The parent is interrupted too and then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _converter = conversion.new_converter()


def _end_with_parent():
    # A parent that is killed cannot end its processes.
    multiprocessing.parent_process().join()
    os._exit(1)


def _convert_chunk(examples):
    return _converter.convert(examples)
