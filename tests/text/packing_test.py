"""Texts to [CLS] A [SEP] B [SEP]."""

import itertools
import logging

import pytest

from bert_tf import tokenization
from bert_tf.errors import UserError
from bert_tf.tasks import packing
from bert_tf.tasks.examples import InputExample, PaddingInputExample
from bert_tf.tasks.labels import CLASSIFICATION, Labels

_CLS_SEP = (1, 2)


@pytest.fixture
def tokenizer(tmp_path):
    """A tokenizer of "a" to "f", with ids from 4."""
    pieces = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", *"abcdef"]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces) + "\n")
    return tokenization.FullTokenizer(str(tmp_path / "vocab.txt"))


def _piece_by_piece(length_a, length_b, most):
    """Drops a piece at a time, as 2018 did."""
    while length_a + length_b > most:
        if length_a > length_b:
            length_a -= 1
        else:
            length_b -= 1
    return length_a, length_b


def test_truncated_lengths_of_the_worked_example():
    assert packing.truncated_lengths(5, 3, 5) == (3, 2)
    assert packing.truncated_lengths(5, 3, 7) == (4, 3)
    assert packing.truncated_lengths(5, 3, 8) == (5, 3)


def test_truncated_lengths_are_those_of_dropping_piece_by_piece():
    for lengths in itertools.product(range(8), range(8), range(16)):
        expected = _piece_by_piece(*lengths)
        assert packing.truncated_lengths(*lengths) == expected, lengths


@pytest.mark.parametrize(
    ("ids_a", "ids_b", "length", "expected"),
    [
        ([7, 8], [], 4, ([1, 7, 8, 2], 4, False)),
        ([7, 8, 9], [], 4, ([1, 7, 8, 2], 4, True)),
        ([], [], 4, ([1, 2], 2, False)),
        ([7], [8, 9], 6, ([1, 7, 2, 8, 9, 2], 3, False)),
        ([7], [8, 9], 5, ([1, 7, 2, 8, 2], 3, True)),
        ([], [8, 9], 5, ([1, 2, 8, 9, 2], 2, False)),
        # Of B nothing is left: no second [SEP].
        ([7], [8, 9], 4, ([1, 7, 2], 3, True)),
        ([7], [8, 9], 3, ([1, 2], 2, True)),
    ],
)
def test_pack(ids_a, ids_b, length, expected):
    assert packing.pack(ids_a, ids_b, length, _CLS_SEP) == expected


def test_convert_single_example_of_a_pair(tokenizer):
    example = InputExample("train-1", "a x", "c", "yes")
    made = packing.convert_single_example(
        5, example, ["no", "yes"], 8, tokenizer
    )
    assert made.input_ids == [1, 4, 3, 2, 6, 2, 0, 0]
    assert made.input_mask == [1, 1, 1, 1, 1, 1, 0, 0]
    assert made.segment_ids == [0, 0, 0, 0, 1, 1, 0, 0]
    assert made.label_id == 1
    assert made.is_real_example is True


def test_convert_single_example_takes_an_empty_text_b_for_none(tokenizer):
    example = InputExample("test-1", "abc a b c", "")
    made = packing.convert_single_example(1, example, ["0", "1"], 5, tokenizer)
    assert made.input_ids == [1, 3, 4, 5, 2]
    assert made.segment_ids == [0] * 5
    assert made.label_id == 0


def test_convert_single_example_of_padding(tokenizer):
    made = packing.convert_single_example(
        0, PaddingInputExample(), ["0", "1"], 5, tokenizer
    )
    assert made.input_ids == made.input_mask == made.segment_ids == [0] * 5
    assert made.label_id == 0
    assert made.is_real_example is False


def test_convert_single_example_logs_the_first_only(tokenizer, caplog):
    example = InputExample("train-1", "a " * 120, "x", "no")
    with caplog.at_level(logging.INFO):
        for index in (0, 1):
            packing.convert_single_example(
                index, example, ["no", "yes"], 128, tokenizer
            )
    (record,) = caplog.records
    pieces = " ".join(["[CLS]", *"a" * 99])
    assert record.getMessage() == f"Example train-1, label no: {pieces} ..."


def test_convert_single_example_refuses_an_unknown_label(tokenizer):
    example = InputExample("train-7", "a", label="maybe")
    message = "Example train-7: the label 'maybe' is unknown"
    with pytest.raises(UserError, match=message):
        packing.convert_single_example(0, example, ["no", "yes"], 8, tokenizer)


def test_convert_single_example_needs_room(tokenizer):
    example = InputExample("train-7", "a", label="no")
    with pytest.raises(UserError, match="--max_seq_length=2 leaves no room"):
        packing.convert_single_example(0, example, ["no"], 2, tokenizer)


def test_encode_label_names_the_example():
    labels = Labels(CLASSIFICATION, ("0", "1"))
    assert packing.encode_label(InputExample("x", "a", label="1"), labels) == [
        1
    ]
    with pytest.raises(UserError, match="Example x: the label '2'"):
        packing.encode_label(InputExample("x", "a", label="2"), labels)


def test_check_labels_of_a_processor_of_ones_own():
    labels = Labels(CLASSIFICATION, ("0", "1"))
    good = InputExample("x", "a", label="1")
    packing.check_labels([good], labels)
    with pytest.raises(UserError, match="no examples to train or evaluate on"):
        packing.check_labels([], labels)
    with pytest.raises(UserError, match="Example y has no label"):
        packing.check_labels([good, InputExample("y", "a")], labels)
    with pytest.raises(UserError, match="Example y: the label 'b' is unknown"):
        packing.check_labels([good, InputExample("y", "a", label="b")], labels)
