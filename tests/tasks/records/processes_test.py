"""Several processes give what one gives."""

import os
import subprocess
import sys

import pytest

from bert_tf.errors import UserError
from bert_tf.tasks.examples import InputExample, PaddingInputExample
from bert_tf.tasks.labels import CLASSIFICATION, Labels
from bert_tf.tasks.records import processes
from bert_tf.tasks.records.converter import Conversion


@pytest.fixture
def conversion(testdata):
    """A Conversion of the vocabulary of these tests; S is 12."""
    labels = Labels(CLASSIFICATION, ("0", "1"))
    return Conversion(labels, 12, str(testdata / "vocab.txt"), True)


class _Ending:
    """What ends the process that takes it out of its envelope."""

    def __reduce__(self):
        return os._exit, (3,)


def test_several_processes_give_the_same(conversion, monkeypatch):
    monkeypatch.setattr(processes, "_CHUNK", 3)
    examples = [
        InputExample(f"{i}", "water " * i, "stone", str(i % 2))
        for i in range(40)
    ] + [PaddingInputExample()]
    expected = conversion.new_converter().convert(examples)
    pairs = list(processes.convert_in_processes(examples, conversion, 2))
    assert len(pairs) == 14
    assert [record for records, _ in pairs for record in records] == expected[0]
    assert sum(num_cut for _, num_cut in pairs) == expected[1] > 0


def test_an_error_in_a_process_is_that_of_the_example(conversion):
    examples = [InputExample("dev-3", "a", label="9")]
    with pytest.raises(UserError, match="Example dev-3: the label '9'"):
        list(processes.convert_in_processes(examples, conversion, 2))


def test_a_process_that_ends_is_told(conversion):
    message = "ended unexpectedly.*--conversion_processes=1"
    with pytest.raises(UserError, match=message):
        list(processes.convert_in_processes([_Ending()], conversion, 1))


_ENDED = """
import os, signal, sys
from bert_tf.tasks import processes
from bert_tf.tasks.converter import Conversion
from bert_tf.tasks.examples import InputExample
from bert_tf.tasks.labels import CLASSIFICATION, Labels

if __name__ == "__main__":
    labels = Labels(CLASSIFICATION, ("0",))
    conversion = Conversion(labels, 12, sys.argv[1], True)
    examples = [InputExample("", "a", None, "0")] * 20_000
    for _ in processes.convert_in_processes(examples, conversion, 2):
        os.kill(os.getpid(), signal.SIGTERM)
"""


def test_a_program_that_is_ended_leaves_nothing_to_complain_of(
    testdata, tmp_path
):
    script = tmp_path / "ended.py"
    script.write_text(_ENDED)
    done = subprocess.run(
        [sys.executable, str(script), str(testdata / "vocab.txt")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(testdata.parents[1])},
        check=False,
    )
    # As a shell says of a program that SIGTERM ended; no leaked semaphores.
    assert (done.returncode, done.stderr) == (143, "")


def test_fastest_num_processes_depends_on_the_text(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    text = "x" * 3_000_000

    def fastest(*texts):
        return processes.fastest_num_processes(
            [InputExample("", *texts), PaddingInputExample()]
        )

    assert fastest("x") == 1
    assert fastest(text * 2) == 1
    assert fastest(text, text * 3) == 2
    assert fastest(text * 9) == 4
