"""Texts to [CLS] A [SEP] B [SEP], exactly as in 2018.

S max_seq_length
"""

import logging

from bert_tf.errors import UserError
from bert_tf.tasks.examples import PaddingInputExample
from bert_tf.tasks.labels import CLASSIFICATION, Labels
from bert_tf.tokenization import FullTokenizer
from bert_tf.vocabulary import require_special_tokens

_logger = logging.getLogger("absl")

# What a vocabulary must have for that.
SPECIAL_TOKENS = ("[UNK]", "[CLS]", "[SEP]")

# [CLS] A [SEP] B [SEP] with nothing left of A and B.
_LEAST_LENGTH = 3

_PIECES_LOGGED = 100


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


def truncated_lengths(length_a, length_b, most):
    """Tells how much of a pair is kept: the longer loses a piece at a time.

    Of two equally long ones B loses the next piece. Worked example, 5 and 3
    pieces of which 5 may stay: 4 and 3, then 3 and 3, then 3 and 2.

    Args:
      length_a: int.
      length_b: int.
      most: int, how many pieces both may have together.

    Returns:
      pair of int, how many of the first pieces of A and of B are kept.

    Source: `_truncate_seq_pair` in run_classifier.py (2018).
    """
    excess = length_a + length_b - most
    if excess <= 0:
        return length_a, length_b
    if excess <= length_a - length_b:
        return length_a - excess, length_b
    if excess <= length_b - length_a:
        return length_a, length_b - excess
    return most - most // 2, most // 2


def pack(ids_a, ids_b, max_seq_length, special_ids):
    """Puts the pieces of one or two texts together, unpadded.

    Args:
      ids_a: list of int.
      ids_b: list of int, empty for a single text.
      max_seq_length: int, S, at least 3.
      special_ids: pair of int, the ids of [CLS] and [SEP].

    Returns:
      triple: list of at most S int; int, how many of them belong to segment 0;
      bool, whether pieces were cut off.
    """
    cls_id, sep_id = special_ids
    if not ids_b:
        kept = ids_a[: max_seq_length - 2]
        input_ids = [cls_id, *kept, sep_id]
        return input_ids, len(input_ids), len(kept) < len(ids_a)
    length_a, length_b = truncated_lengths(
        len(ids_a), len(ids_b), max_seq_length - 3
    )
    is_cut = length_a + length_b < len(ids_a) + len(ids_b)
    input_ids = [cls_id, *ids_a[:length_a], sep_id]
    num_first = len(input_ids)
    # As in 2018 a text of which nothing is left has no [SEP] either.
    if length_b:
        input_ids += [*ids_b[:length_b], sep_id]
    return input_ids, num_first, is_cut


def new_tokenizer(vocab_file, do_lower_case):
    """Returns a tokenization.FullTokenizer that can pack texts.

    Args:
      vocab_file: str.
      do_lower_case: bool.

    Raises:
      UserError: the vocabulary cannot be read, or lacks a special token.
    """
    tokenizer = FullTokenizer(vocab_file, do_lower_case)
    require_special_tokens(tokenizer.vocab, vocab_file, SPECIAL_TOKENS)
    return tokenizer


def require_room(max_seq_length):
    """Checks that texts can be packed at all.

    Args:
      max_seq_length: int, S.

    Raises:
      UserError: there is no room for them.
    """
    if max_seq_length < _LEAST_LENGTH:
        raise UserError(
            f"--max_seq_length={max_seq_length} leaves no room for text beside "
            f"[CLS] and two [SEP]; the minimum is {_LEAST_LENGTH}."
        )


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
    require_room(max_seq_length)
    if isinstance(example, PaddingInputExample):
        zeros = [0] * max_seq_length
        return InputFeatures(zeros, zeros[:], zeros[:], 0, False)
    (label_id,) = encode_label(example, Labels(CLASSIFICATION, (*label_list,)))
    input_ids, num_first, _ = pack(
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


def encode_label(example, labels):
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
        encode_label(example, labels)


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
