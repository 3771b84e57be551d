"""Examples to features and to records, within one process.

S max_seq_length
"""

import dataclasses
import logging

from bert_tf.data.record_writer import encode_label, encode_record
from bert_tf.errors import UserError
from bert_tf.tasks.examples import PaddingInputExample
from bert_tf.tasks.labels import CLASSIFICATION, Labels, require_same_labels
from bert_tf.text import packing
from bert_tf.weights import model_folder

_logger = logging.getLogger("absl")

_PIECES_LOGGED = 100


@dataclasses.dataclass(frozen=True)
class Conversion:
    """What examples become: all that records depend on but the examples.

    `labels`: labels.Labels. `max_seq_length`: int, S. `vocab_file`: str.
    `do_lower_case`: bool.
    """

    labels: Labels
    max_seq_length: int
    vocab_file: str
    do_lower_case: bool

    def __post_init__(self):
        packing.require_room(self.max_seq_length)

    def features(self):
        """Returns the tuple of features.Feature of such records."""
        from bert_tf import features  # Deferred: it imports TensorFlow.

        return features.classifier_features(
            self.max_seq_length,
            label_length=self.labels.record_length,
            label_dtype=self.labels.record_dtype,
        )

    def require_same(self, folder, source):
        """Checks that a folder's model, if any, was trained on such records.

        Args:
          folder: str.
          source: str, where the labels come from, for the message.

        Raises:
          UserError: its labels, their kind or its vocabulary are others.
        """
        require_same_labels(folder, self.labels, source)
        model_folder.require_same_vocabulary(folder, self.vocab_file)

    def new_converter(self):
        """Returns a Converter.

        Raises:
          UserError: the vocabulary cannot be read, or lacks a special token.
        """
        tokenizer = packing.new_tokenizer(self.vocab_file, self.do_lower_case)
        return Converter(self.labels, self.max_seq_length, tokenizer)


class Converter:
    """Makes records of examples."""

    def __init__(self, labels, max_seq_length, tokenizer):
        """Stores its arguments.

        Args:
          labels: labels.Labels.
          max_seq_length: int, S.
          tokenizer: tokenization.FullTokenizer.
        """
        self._labels = labels
        self._max_seq_length = max_seq_length
        self._tokenizer = tokenizer
        self._special_ids = tokenizer.convert_tokens_to_ids(["[CLS]", "[SEP]"])

    def convert(self, examples):
        """Makes the records of some examples.

        Args:
          examples: list of InputExample and PaddingInputExample.

        Returns:
          pair: list of bytes, a record each; int, how many were cut.

        Raises:
          UserError: an unknown label (names the guid).
        """
        records, num_cut = [], 0
        dtype = self._labels.record_dtype
        for example in examples:
            if isinstance(example, PaddingInputExample):
                input_ids, num_first, label = [], 0, self._labels.encode(None)
            else:
                label = label_of(example, self._labels)
                input_ids, num_first, is_cut = self._pack(example)
                num_cut += is_cut
            label_entry = encode_label(tuple(label), dtype)
            records.append(
                encode_record(
                    input_ids, num_first, self._max_seq_length, label_entry
                )
            )
        return records, num_cut

    def log(self, example):
        """Writes what becomes of an InputExample to the log."""
        input_ids, _, _ = self._pack(example)
        pieces = self._tokenizer.convert_ids_to_tokens(input_ids)
        log_example(example, pieces)

    def _pack(self, example):
        return packing.pack(
            *tokenize(example, self._tokenizer),
            self._max_seq_length,
            self._special_ids,
        )


class InputFeatures:
    """What a record holds of one example.

    Attributes:
      input_ids, input_mask, segment_ids: list of S int.
      label_id: int.
      is_real_example: bool, false for padding.

    Source: `InputFeatures` in run_classifier.py (2018).
    """

    def __init__(
        self,
        input_ids,
        input_mask,
        segment_ids,
        label_id,
        is_real_example=True,
    ):
        self.input_ids = input_ids
        self.input_mask = input_mask
        self.segment_ids = segment_ids
        self.label_id = label_id
        self.is_real_example = is_real_example


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
      tokenizer: tokenization.FullTokenizer, or what has its methods
        `tokenize`, `convert_tokens_to_ids` and `convert_ids_to_tokens`.

    Returns:
      InputFeatures.

    Raises:
      UserError: its label is not in the list (names its guid), or S is below 3.

    Source: `convert_single_example` in run_classifier.py (2018), which wrote
      five examples to the log.
    """
    packing.require_room(max_seq_length)
    if isinstance(example, PaddingInputExample):
        zeros = [0] * max_seq_length
        return InputFeatures(zeros, zeros[:], zeros[:], 0, False)
    (label_id,) = label_of(example, Labels(CLASSIFICATION, (*label_list,)))
    input_ids, num_first, _ = packing.pack(
        *tokenize(example, tokenizer),
        max_seq_length,
        tokenizer.convert_tokens_to_ids(["[CLS]", "[SEP]"]),
    )
    if ex_index == 0:
        log_example(example, tokenizer.convert_ids_to_tokens(input_ids))
    padding = [0] * (max_seq_length - len(input_ids))
    num_second = len(input_ids) - num_first
    return InputFeatures(
        input_ids=input_ids + padding,
        input_mask=[1] * len(input_ids) + padding,
        segment_ids=[0] * num_first + [1] * num_second + padding,
        label_id=label_id,
    )


def tokenize(example, tokenizer):
    """Returns the ids of an InputExample's texts.

    Args:
      example: InputExample.
      tokenizer: see `convert_single_example`.

    Returns:
      list of two lists of int, the second empty where there is no `text_b`.
    """
    return [
        tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text))
        if text
        else []
        for text in (example.text_a, example.text_b)
    ]


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
    """Checks labels before anything is made of the examples.

    The processors of this package did so when they read the rows, and could
    name file and line; others may not.

    Args:
      examples: list of InputExample to train or evaluate on.
      labels: labels.Labels.

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


def log_example(example, pieces):
    """Writes an InputExample, of which `pieces` (list of str) came, to the log.

    It shows at a glance whether columns, letter case and vocabulary are right.
    """
    _logger.info(
        "Example %s%s: %s%s",
        example.guid,
        "" if example.label is None else f", label {example.label}",
        " ".join(pieces[:_PIECES_LOGGED]),
        " ..." if len(pieces) > _PIECES_LOGGED else "",
    )
