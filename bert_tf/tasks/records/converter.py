"""Examples to features and to records, within one process.

S max_seq_length
"""

import dataclasses

from bert_tf.data.record_writer import ExampleSerializer, text_values
from bert_tf.errors import UserError
from bert_tf.features import INPUT_KEYS, classifier_features
from bert_tf.tasks.examples import PaddingInputExample
from bert_tf.tasks.labels import CLASSIFICATION, Labels
from bert_tf.text import packing


@dataclasses.dataclass(frozen=True)
class Conversion:
    """What examples become: all that records depend on but the examples."""

    labels: Labels
    max_seq_length: int
    vocab_file: str
    do_lower_case: bool

    def __post_init__(self):
        packing.require_room(self.max_seq_length)

    def features(self):
        """Returns the tuple of features.Feature of such records."""
        return _features(self.labels, self.max_seq_length)

    def new_converter(self):
        """Returns a Converter.

        Raises:
          UserError: the vocabulary cannot be read, or lacks a special token.
        """
        tokenizer = packing.new_tokenizer(self.vocab_file, self.do_lower_case)
        return Converter(self.labels, self.max_seq_length, tokenizer)


def _features(labels, max_seq_length):
    return classifier_features(
        max_seq_length,
        label_length=labels.record_length,
        label_dtype=labels.record_dtype,
    )


class Converter:
    """Makes records of examples, by Labels and S.

    `tokenizer` is a tokenization.FullTokenizer, or has its methods `tokenize`,
    `convert_tokens_to_ids` and `convert_ids_to_tokens`. An unknown label is a
    UserError that names the guid.
    """

    def __init__(self, labels, max_seq_length, tokenizer):
        packing.require_room(max_seq_length)
        self._labels = labels
        self._max_seq_length = max_seq_length
        self._tokenizer = tokenizer
        self._special_ids = tokenizer.convert_tokens_to_ids(["[CLS]", "[SEP]"])
        self._serializer = ExampleSerializer(_features(labels, max_seq_length))

    def convert(self, examples):
        """Makes the records of InputExamples and PaddingInputExamples.

        Returns:
          pair: list of bytes, a record each; int, how many were cut.
        """
        records, num_cut = [], 0
        for example in examples:
            values, is_cut = self.values(example)
            records.append(self._serializer.serialize(values))
            num_cut += is_cut
        return records, num_cut

    def values(self, example):
        """Makes what a record holds of one example, and tells if it was cut.

        Returns:
          pair: dict, see `ExampleSerializer.serialize`; bool.
        """
        if isinstance(example, PaddingInputExample):
            label, is_real = self._labels.encode(None), 0
            input_ids, num_first, is_cut = [], 0, False
        else:
            label, is_real = label_of(example, self._labels), 1
            input_ids, num_first, is_cut = self._pack(example)
        text = text_values(input_ids, num_first, self._max_seq_length)
        own = {"label_ids": label, "is_real_example": [is_real]}
        return {**text, **own}, is_cut

    def log(self, example):
        """Writes what becomes of an InputExample to the log."""
        input_ids, _, _ = self._pack(example)
        label = "" if example.label is None else f", label {example.label}"
        packing.log_pieces(
            f"{example.guid}{label}",
            self._tokenizer.convert_ids_to_tokens(input_ids),
        )

    def _pack(self, example):
        tokenizer = self._tokenizer
        ids_a, ids_b = (
            tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text))
            if text
            else []
            for text in (example.text_a, example.text_b)
        )
        return packing.pack(
            ids_a, ids_b, self._max_seq_length, self._special_ids
        )


@dataclasses.dataclass(eq=False)
class InputFeatures:
    """What a record holds of one example; the lists are S int.

    Source: `InputFeatures` in run_classifier.py (2018).
    """

    input_ids: list
    input_mask: list
    segment_ids: list
    label_id: int
    is_real_example: bool = True  # False for padding.


def convert_single_example(
    ex_index, example, label_list, max_seq_length, tokenizer
):
    """Makes the features of one example.

    Args:
      ex_index: int, its number from 0; the first is written to the log.
      example: InputExample or PaddingInputExample.
      label_list: list of str, the labels in the order of their ids. An example
        without a label gets id 0.
      max_seq_length: int, S.
      tokenizer: see `Converter`.

    Returns:
      InputFeatures.

    Raises:
      UserError: its label is not in the list (names its guid), or S is below 3.

    Source: `convert_single_example` in run_classifier.py (2018), which wrote
      five examples to the log.
    """
    labels = Labels(CLASSIFICATION, tuple(label_list))
    converter = Converter(labels, max_seq_length, tokenizer)
    values, _ = converter.values(example)
    (label_id,) = values["label_ids"]
    (is_real,) = values["is_real_example"]
    if is_real and ex_index == 0:
        converter.log(example)
    return InputFeatures(
        *(list(values[name]) for name in INPUT_KEYS), label_id, bool(is_real)
    )


def label_of(example, labels):
    """Returns an InputExample's label as `Labels.encode` does.

    Raises:
      UserError: see there; names the example's guid.
    """
    try:
        return labels.encode(example.label)
    except UserError as error:
        raise UserError(f"Example {example.guid}: {error}") from error


def check_labels(examples, labels):
    """Checks the labels (Labels) of InputExamples to train or evaluate on.

    The processors of this package do so when they read the rows, and name file
    and line. Those of others may not.

    Raises:
      UserError: there is no example; one has no label or an unknown one (names
        its guid).
    """
    if not examples:
        raise UserError("There are no examples to train or evaluate on.")
    for example in examples:
        if example.label is None:
            raise UserError(f"Example {example.guid} has no label.")
        label_of(example, labels)
