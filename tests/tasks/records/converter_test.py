"""Examples to features and to records, within one process."""

import logging

import pytest
import tensorflow as tf

from bert_tf.errors import UserError
from bert_tf.tasks.examples import InputExample, PaddingInputExample
from bert_tf.tasks.labels import CLASSIFICATION, MULTI_LABEL, REGRESSION, Labels
from bert_tf.tasks.records import converter
from bert_tf.tasks.records.converter import Conversion
from bert_tf.text import tokenization

_ONE = Labels(CLASSIFICATION, ("no", "yes"))


@pytest.fixture
def tokenizer(tmp_path):
    """A tokenizer of "a" to "f", with ids from 4."""
    pieces = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", *"abcdef"]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces) + "\n")
    return tokenization.FullTokenizer(str(tmp_path / "vocab.txt"))


@pytest.fixture
def convert(tmp_path):
    """Gives a function of labels and examples; S is 5."""
    pieces = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", *"abcdef"]
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(pieces) + "\n")

    def run(labels, *examples):
        conversion = Conversion(labels, 5, str(path), True)
        records, num_cut = conversion.new_converter().convert(examples)
        parsed = tf.io.parse_example(
            records,
            {
                feature.name: tf.io.FixedLenFeature(
                    feature.shape, feature.dtype
                )
                for feature in conversion.features()
            },
        )
        return {k: v.numpy().tolist() for k, v in parsed.items()}, num_cut

    return run


def test_convert_examples_and_padding(convert):
    records, num_cut = convert(
        _ONE,
        InputExample("1", "A", None, "yes"),
        InputExample("2", "a b c d", None, "no"),
        InputExample("3", "a b", "c d", None),
        PaddingInputExample(),
    )
    assert num_cut == 2
    assert records["input_ids"] == [
        [1, 4, 2, 0, 0],
        [1, 4, 5, 6, 2],
        [1, 4, 2, 6, 2],
        [0, 0, 0, 0, 0],
    ]
    assert [sum(mask) for mask in records["input_mask"]] == [3, 5, 5, 0]
    assert records["segment_ids"][2] == [0, 0, 0, 1, 1]
    assert records["label_ids"] == [[1], [0], [0], [0]]
    assert records["is_real_example"] == [[1], [1], [1], [0]]


def test_convert_several_labels_and_numbers(convert):
    several = Labels(MULTI_LABEL, ("e", "k", "m"))
    records, _ = convert(
        several, InputExample("1", "a", None, "m,e"), PaddingInputExample()
    )
    assert records["label_ids"] == [[1, 0, 1], [0, 0, 0]]
    records, _ = convert(
        Labels(REGRESSION),
        InputExample("1", "a", None, "2.5"),
        PaddingInputExample(),
    )
    assert records["label_ids"] == [[2.5], [0.0]]


def test_convert_names_the_example_of_an_unknown_label(convert):
    with pytest.raises(UserError, match="Example 7: the label 'x' is unknown"):
        convert(_ONE, InputExample("7", "a", None, "x"))


def test_log_shows_the_pieces(tmp_path, caplog):
    path = tmp_path / "vocab.txt"
    path.write_text("[UNK]\n[CLS]\n[SEP]\na\n")
    converter = Conversion(_ONE, 5, str(path), True).new_converter()
    with caplog.at_level(logging.INFO):
        converter.log(InputExample("test-1", "A b"))
    assert caplog.messages == ["Example test-1: [CLS] a [UNK] [SEP]"]


def test_a_vocabulary_without_special_tokens_is_refused(tmp_path):
    (tmp_path / "vocab.txt").write_text("[CLS]\na\n")
    conversion = Conversion(_ONE, 5, str(tmp_path / "vocab.txt"), True)
    with pytest.raises(UserError, match=r"but not \[UNK\], \[SEP\]"):
        conversion.new_converter()


def test_a_conversion_needs_room():
    with pytest.raises(UserError, match="--max_seq_length=2 leaves no room"):
        Conversion(_ONE, 2, "vocab.txt", True)


def test_convert_single_example_of_a_pair(tokenizer):
    example = InputExample("train-1", "a x", "c", "yes")
    made = converter.convert_single_example(
        5, example, ["no", "yes"], 8, tokenizer
    )
    assert made.input_ids == [1, 4, 3, 2, 6, 2, 0, 0]
    assert made.input_mask == [1, 1, 1, 1, 1, 1, 0, 0]
    assert made.segment_ids == [0, 0, 0, 0, 1, 1, 0, 0]
    assert made.label_id == 1
    assert made.is_real_example is True


def test_convert_single_example_takes_an_empty_text_b_for_none(tokenizer):
    example = InputExample("test-1", "abc a b c", "")
    made = converter.convert_single_example(
        1, example, ["0", "1"], 5, tokenizer
    )
    assert made.input_ids == [1, 3, 4, 5, 2]
    assert made.segment_ids == [0] * 5
    assert made.label_id == 0


def test_convert_single_example_of_padding(tokenizer):
    made = converter.convert_single_example(
        0, PaddingInputExample(), ["0", "1"], 5, tokenizer
    )
    assert made.input_ids == made.input_mask == made.segment_ids == [0] * 5
    assert made.label_id == 0
    assert made.is_real_example is False


def test_convert_single_example_logs_the_first_only(tokenizer, caplog):
    example = InputExample("train-1", "a " * 120, "x", "no")
    with caplog.at_level(logging.INFO):
        for index in (0, 1):
            converter.convert_single_example(
                index, example, ["no", "yes"], 128, tokenizer
            )
    (record,) = caplog.records
    pieces = " ".join(["[CLS]", *"a" * 99])
    assert record.getMessage() == f"Example train-1, label no: {pieces} ..."


def test_convert_single_example_refuses_an_unknown_label(tokenizer):
    example = InputExample("train-7", "a", label="maybe")
    message = "Example train-7: the label 'maybe' is unknown"
    with pytest.raises(UserError, match=message):
        converter.convert_single_example(
            0, example, ["no", "yes"], 8, tokenizer
        )


def test_convert_single_example_needs_room(tokenizer):
    example = InputExample("train-7", "a", label="no")
    with pytest.raises(UserError, match="--max_seq_length=2 leaves no room"):
        converter.convert_single_example(0, example, ["no"], 2, tokenizer)


def test_encode_label_names_the_example():
    labels = Labels(CLASSIFICATION, ("0", "1"))
    assert converter.label_of(InputExample("x", "a", label="1"), labels) == [1]
    with pytest.raises(UserError, match="Example x: the label '2'"):
        converter.label_of(InputExample("x", "a", label="2"), labels)


def test_check_labels_of_a_processor_of_ones_own():
    labels = Labels(CLASSIFICATION, ("0", "1"))
    good = InputExample("x", "a", label="1")
    converter.check_labels([good], labels)
    with pytest.raises(UserError, match="no examples to train or evaluate on"):
        converter.check_labels([], labels)
    with pytest.raises(UserError, match="Example y has no label"):
        converter.check_labels([good, InputExample("y", "a")], labels)
    with pytest.raises(UserError, match="Example y: the label 'b' is unknown"):
        converter.check_labels(
            [good, InputExample("y", "a", label="b")], labels
        )
