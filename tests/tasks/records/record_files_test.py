"""Examples to TFRecord files: 2018's records, and when they are made."""

import dataclasses
import gzip
import json
import logging
import os
import subprocess
import sys

import pytest

from bert_tf.errors import UserError
from bert_tf.tasks import registry
from bert_tf.tasks.examples import InputExample, PaddingInputExample
from bert_tf.tasks.labels import CLASSIFICATION, Labels
from bert_tf.tasks.records import fingerprint, record_files
from bert_tf.tasks.records.converter import Conversion
from bert_tf.text import tokenization

_LABELS = Labels(CLASSIFICATION, ("0", "1"))
_EXAMPLES = [
    InputExample("train-1", "the water is cold", "a stone", "1"),
    InputExample("train-2", "the stone " * 9, None, "0"),
]


@pytest.fixture
def conversion(testdata):
    """A Conversion of the vocabulary of these tests; S is 12."""
    return Conversion(_LABELS, 12, str(testdata / "vocab.txt"), True)


@pytest.mark.parametrize(
    ("task_name", "method", "file_name"),
    [
        (task_name, *case)
        for task_name in ("CoLA", "MNLI", "MRPC", "XNLI")
        for case in (("dev", "eval"), ("test", "predict"))
        # 2018's XNLI had no test set.
        if (task_name, *case) != ("XNLI", "test", "predict")
    ],
)
def test_records_are_those_of_2018(
    tmp_path, golden, read_records, task_name, method, file_name
):
    folder = golden / "tasks" / "classifier" / task_name
    task = registry.find_task(task_name)
    processor = registry.make_processor(task)
    vocab_file = str(golden / "tasks" / "vocab.txt")
    conversion = Conversion(task.labels(processor), 40, vocab_file, True)
    examples = getattr(processor, f"get_{method}_examples")(str(folder))
    output_file = str(tmp_path / f"{file_name}.tf_record")
    made = record_files.prepare_records(examples, output_file, conversion)
    with gzip.open(folder / f"{file_name}_features.jsonl.gz") as stream:
        expected = [json.loads(line) for line in stream]
    assert read_records(output_file) == expected
    assert made["num_records"] == len(expected)
    record_files.file_based_convert_examples_to_features(
        examples,
        processor.get_labels(),
        40,
        tokenization.FullTokenizer(vocab_file),
        str(tmp_path / "2018"),
    )
    assert read_records(tmp_path / "2018") == expected


def test_records_are_made_once(tmp_path, conversion, caplog):
    path = str(tmp_path / "train.tf_record")
    with caplog.at_level(logging.INFO):
        made = record_files.prepare_records(_EXAMPLES, path, conversion)
    assert made == {"num_records": 2, "num_cut": 1}
    making, example, took, summary = caplog.messages
    assert making == f"Making {path} with one process, since there is none yet."
    assert example.startswith("Example train-1, label 1: [CLS] the water is")
    assert took.startswith("Made it in 0.")
    assert summary == (
        "train.tf_record has 2 records, of which 1 (50.0%) were cut to "
        "--max_seq_length=12."
    )
    caplog.clear()
    before = os.stat(path)
    with caplog.at_level(logging.INFO):
        again = record_files.prepare_records(_EXAMPLES, path, conversion)
    assert again == made
    assert os.stat(path) == before
    assert "Using the records in" in caplog.messages[0]
    assert caplog.messages[1] == summary


def test_records_are_made_again_where_something_changed(
    tmp_path, conversion, caplog, read_records
):
    path = str(tmp_path / "train.tf_record")
    record_files.prepare_records(_EXAMPLES, path, conversion)
    longer = dataclasses.replace(conversion, max_seq_length=21)
    with caplog.at_level(logging.INFO):
        record_files.prepare_records(_EXAMPLES, path, longer)
    assert "since --max_seq_length changed." in caplog.messages[0]
    assert "of which none was cut" in caplog.messages[-1]
    assert [len(r["input_ids"]) for r in read_records(path)] == [21, 21]


def test_damaged_records_are_made_again(tmp_path, conversion, caplog):
    path = tmp_path / "train.tf_record"
    record_files.prepare_records(_EXAMPLES, str(path), conversion)
    whole = path.read_bytes()
    path.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
    with caplog.at_level(logging.INFO):
        record_files.prepare_records(_EXAMPLES, str(path), conversion)
    assert "since its content is not what it was" in caplog.messages[0]
    assert path.read_bytes() == whole


def test_the_bytes_do_not_depend_on_the_processes(tmp_path, conversion, caplog):
    examples = [*_EXAMPLES * 5, PaddingInputExample()]
    paths = [tmp_path / "one", tmp_path / "two"]
    with caplog.at_level(logging.INFO):
        for count, path in enumerate(paths, 1):
            record_files.prepare_records(
                examples, str(path), conversion, num_processes=count
            )
    assert f"Making {paths[1]} with 2 processes" in caplog.text
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_no_file_is_left_half_written(tmp_path, conversion):
    path = str(tmp_path / "train.tf_record")
    record_files.prepare_records(_EXAMPLES, path, conversion)
    before = (tmp_path / "train.tf_record").read_bytes()
    bad = [*_EXAMPLES, InputExample("train-3", "a", None, "2")]
    with pytest.raises(UserError, match="Example train-3: the label '2'"):
        record_files.prepare_records(bad, path, conversion)
    names = ["train.tf_record", "train.tf_record.json"]
    assert sorted(os.listdir(tmp_path)) == names
    assert (tmp_path / "train.tf_record").read_bytes() == before
    # What stands there is not trusted any more, however.
    made_of = fingerprint.fingerprint(_EXAMPLES, conversion)
    assert fingerprint.compare(path, made_of)[0] is None


def test_no_example_is_refused(conversion):
    with pytest.raises(UserError, match="no examples to make x of"):
        record_files.prepare_records([], "x", conversion)


def test_a_file_that_cannot_be_written_is_named(tmp_path, conversion):
    path = str(tmp_path / "gone" / "x")
    with pytest.raises(UserError, match="gone/x cannot be written"):
        record_files.prepare_records(_EXAMPLES, path, conversion)


def test_remote_files_are_written_and_known_again(conversion, read_records):
    # TensorFlow's in-memory file system stands for gs://.
    import tensorflow as tf

    tf.io.gfile.makedirs("ram://records")
    path = "ram://records/x"
    made = record_files.prepare_records(_EXAMPLES, path, conversion)
    assert record_files.prepare_records(_EXAMPLES, path, conversion) == made
    assert len(read_records(path)) == 2
    assert sorted(tf.io.gfile.listdir("ram://records")) == ["x", "x.json"]


def test_2018s_function_needs_room(testdata):
    tokenizer = tokenization.FullTokenizer(str(testdata / "vocab.txt"))
    with pytest.raises(UserError, match="--max_seq_length=1 leaves no room"):
        record_files.file_based_convert_examples_to_features(
            _EXAMPLES, ["0", "1"], 1, tokenizer, "x"
        )


def test_2018s_function_makes_what_was_known_forgotten(tmp_path, conversion):
    path = str(tmp_path / "train.tf_record")
    record_files.prepare_records(_EXAMPLES, path, conversion)
    tokenizer = tokenization.FullTokenizer(conversion.vocab_file)
    record_files.file_based_convert_examples_to_features(
        _EXAMPLES[::-1], ["0", "1"], 12, tokenizer, path
    )
    made_of = fingerprint.fingerprint(_EXAMPLES, conversion)
    assert fingerprint.compare(path, made_of)[0] is None


# Several processes.


class _Ending:
    """What ends the process that takes it out of its envelope."""

    def __reduce__(self):
        return os._exit, (3,)


def test_several_processes_give_the_same(conversion, monkeypatch):
    monkeypatch.setattr(record_files, "_CHUNK", 3)
    examples = [
        InputExample(f"{i}", "water " * i, "stone", str(i % 2))
        for i in range(40)
    ] + [PaddingInputExample()]
    expected = conversion.new_converter().convert(examples)
    pairs = list(record_files.convert_in_processes(examples, conversion, 2))
    assert len(pairs) == 14
    assert [record for records, _ in pairs for record in records] == expected[0]
    assert sum(num_cut for _, num_cut in pairs) == expected[1] > 0


def test_an_error_in_a_process_is_that_of_the_example(conversion):
    examples = [InputExample("dev-3", "a", label="9")]
    with pytest.raises(UserError, match="Example dev-3: the label '9'"):
        list(record_files.convert_in_processes(examples, conversion, 2))


def test_a_process_that_ends_is_told(conversion):
    message = "ended unexpectedly.*--conversion_processes=1"
    with pytest.raises(UserError, match=message):
        list(record_files.convert_in_processes([_Ending()], conversion, 1))


_ENDED = """
import os, signal, sys
from bert_tf.tasks.examples import InputExample
from bert_tf.tasks.labels import CLASSIFICATION, Labels
from bert_tf.tasks.records import record_files
from bert_tf.tasks.records.converter import Conversion

if __name__ == "__main__":
    labels = Labels(CLASSIFICATION, ("0",))
    conversion = Conversion(labels, 12, sys.argv[1], True)
    examples = [InputExample("", "a", None, "0")] * 20_000
    for _ in record_files.convert_in_processes(examples, conversion, 2):
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
        return record_files._fastest_num_processes(
            [InputExample("", *texts), PaddingInputExample()]
        )

    assert fastest("x") == 1
    assert fastest(text * 2) == 1
    assert fastest(text, text * 3) == 2
    assert fastest(text * 9) == 4
