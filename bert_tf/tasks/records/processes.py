"""Converting examples by several processes, with the result of one."""

import collections
import concurrent.futures
import contextlib
import multiprocessing
import os
import signal
import sys
import threading

from bert_tf.errors import UserError
from bert_tf.tasks.examples import PaddingInputExample

# So many examples go to a process at a time.
_CHUNK = 2000
# With fewer characters for each, processes take as long to start as they save.
_CHARACTERS_PER_PROCESS = 5_000_000


def chunks(examples):
    """Cuts a list of examples into such as a process takes at a time."""
    for start in range(0, len(examples), _CHUNK):
        yield examples[start : start + _CHUNK]


def fastest_num_processes(examples):
    """Estimates with how many processes examples are converted fastest.

    Args:
      examples: list of InputExample and PaddingInputExample.

    Returns:
      int, at most the number of cores this program may use.
    """
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


def convert_in_processes(examples, conversion, num_processes):
    """Converts examples.

    The processes start from nothing: one forked off after TensorFlow has
    started its threads may hang. They do not import it, but they do import the
    main program's file, which must do nothing when it is imported.

    Args:
      examples: list of InputExample and PaddingInputExample.
      conversion: converter.Conversion.
      num_processes: int.

    Yields:
      what `Converter.convert` gives, for each of the chunks in order.

    Raises:
      UserError: an unknown label (names the guid); a process that ended.
    """
    with _unwinding_when_ended():
        yield from _convert(examples, conversion, num_processes)


@contextlib.contextmanager
def _unwinding_when_ended():
    """Lets SIGTERM unwind this process as Ctrl-C does.

    Else what the processes share is left to Python to clean up, which says so
    in words that alarm, and the unfinished file stays.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Only there a signal can be given a meaning.
        return
    before = signal.signal(
        signal.SIGTERM, lambda number, _: sys.exit(128 + number)
    )
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _convert(examples, conversion, num_processes):
    executor = concurrent.futures.ProcessPoolExecutor(
        num_processes,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_process,
        initargs=(conversion,),
    )
    waiting = collections.deque()
    try:
        for chunk in chunks(examples):
            waiting.append(executor.submit(_convert_chunk, chunk))
            # Enough for each to find the next one ready, few enough to fit in
            # memory.
            if len(waiting) > 2 * num_processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except concurrent.futures.process.BrokenProcessPool as error:
        raise UserError(
            "A process that converts examples ended unexpectedly, perhaps for "
            "want of memory. Try it with --conversion_processes=1."
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
