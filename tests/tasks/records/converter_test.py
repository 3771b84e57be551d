"""Examples to records, within one process."""

import logging

import pytest
import tensorflow as tf

from bert_tf.errors import UserError
from bert_tf.tasks.converter import Conversion
from bert_tf.tasks.examples import InputExample, PaddingInputExample
from bert_tf.tasks.labels import (
    CLASSIFICATION,
    MULTI_LABEL,
    REGRESSION,
    Labels,
)

_ONE = Labels(CLASSIFICATION, ("no", "yes"))


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
