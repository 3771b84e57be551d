"""Tests of making records of questions."""

import gzip
import json

import pytest
import tensorflow as tf

from bert_tf import features
from bert_tf.errors import UserError
from bert_tf.squad import converter
from bert_tf.squad.examples import Context, SquadExample, read_squad_examples

STRIDES = {"v1_short": 7, "v2_short": 7}


@pytest.fixture
def make(golden):
    def make(**changes):
        flags = {
            "vocab_file": str(golden / "tasks" / "vocab.txt"),
            "do_lower_case": True,
            "max_seq_length": 48,
            "max_query_length": 12,
            **changes,
        }
        return converter.Conversion(**flags).new_converter()

    return make


def read(record):
    entries = tf.train.Example.FromString(record).features.feature
    return {name: list(entries[name].int64_list.value) for name in entries}


@pytest.mark.parametrize(
    ("case", "part"),
    [
        ("v1", "train"),
        ("v2", "train"),
        ("v1", "eval"),
        ("v1_short", "eval"),
        ("v2", "eval"),
        ("v2_short", "eval"),
        ("v2_thresh", "eval"),
    ],
)
def test_records_are_those_of_2018(golden, make, case, part):
    version, is_training = case[:2], part == "train"
    squad = golden / "tasks" / "squad"
    name = "train" if is_training else "dev"
    examples = read_squad_examples(
        str(squad / f"{name}-{version}.json"),
        is_training=is_training,
        version_2_with_negative=version == "v2",
    )
    made = make(doc_stride=STRIDES.get(case, 16))
    records = (
        made.training_records(examples)
        if is_training
        else made.prediction_records(examples)
    )
    with gzip.open(squad / f"{case}.{part}_features.jsonl.gz", "rt") as lines:
        expected = [json.loads(line) for line in lines]
    assert [read(r) for rs in records for r in rs] == expected


def test_a_window_without_the_answer_is_trained_as_none(make):
    # F87: 31 words, the last is the answer; windows of 20, stride 8.
    example = SquadExample(
        qas_id="q",
        question_text="who",
        context=Context(" ".join(["the"] * 30 + ["river"])),
        orig_answer_text="river",
        start_position=30,
        end_position=30,
    )
    made = make(max_seq_length=24, doc_stride=8, max_query_length=8)
    (records,) = made.training_records([example])
    positions = [
        (entry["start_positions"], entry["end_positions"])
        for entry in map(read, records)
    ]
    assert positions == [([0], [0]), ([0], [0]), ([17], [17])]


def test_a_question_without_a_piece(make):
    # F83: [CLS] [SEP] the [SEP]
    example = SquadExample(qas_id="q", question_text="", context=Context("the"))
    (records,) = make().prediction_records([example])
    (record,) = map(read, records)
    assert record["input_mask"][:5] == [1, 1, 1, 1, 0]
    assert record["segment_ids"][:5] == [0, 0, 1, 1, 0]


def test_a_context_without_a_word_has_no_record(make):
    example = SquadExample(
        qas_id="q", question_text="who", context=Context(" \t")
    )
    assert list(make().prediction_records([example])) == [[]]


def test_the_last_batch_is_filled_up(make, tmp_path):
    made = make()
    path = str(tmp_path / "eval.tf_record")
    records = [[b"one"], [], [b"two", b"three"]]
    padding = made.padding_record()
    assert converter.write_records(path, records) == 3
    assert len(list(tf.data.TFRecordDataset(path))) == 3
    converter.write_records(path, records, padding=padding, batch_size=5)
    written = [r.numpy() for r in tf.data.TFRecordDataset(path)]
    assert written == [b"one", b"two", b"three", padding, padding]
    entries = read(padding)
    assert entries["unique_ids"] == [0]
    assert set(entries["input_mask"]) == {0}
    assert entries.keys() == {
        feature.name
        for feature in features.squad_features(48, is_training=False)
    }


def test_records_that_cannot_be_written(tmp_path):
    path = str(tmp_path / "nowhere" / "eval.tf_record")
    with pytest.raises(UserError, match="eval.tf_record"):
        converter.write_records(path, [[b"one"]])
