"""Texts to [CLS] A [SEP] B [SEP], exactly as in 2018.

S max_seq_length
"""

import logging

from bert_tf.errors import UserError
from bert_tf.text.tokenization import FullTokenizer
from bert_tf.text.vocabulary import require_special_tokens

# What a vocabulary must have for that.
SPECIAL_TOKENS = ("[UNK]", "[CLS]", "[SEP]")


def truncated_lengths(length_a, length_b, most):
    """Tells how many of the first pieces of A and of B are kept (two int).

    The longer loses a piece at a time. Of two equally long ones B loses the
    next piece. Worked example, 5 and 3 pieces of which 5 may stay: 4 and 3,
    then 3 and 3, then 3 and 2.

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

    `ids_a` and `ids_b` are lists of int, the second empty for a single text; S
    is at least 3; `special_ids` are those of [CLS] and [SEP].

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

    Raises:
      UserError: the vocabulary cannot be read, or lacks a special token.
    """
    tokenizer = FullTokenizer(vocab_file, do_lower_case)
    require_special_tokens(tokenizer.vocab, vocab_file, SPECIAL_TOKENS)
    return tokenizer


def require_room(max_seq_length):
    """Raises a UserError if --max_seq_length leaves no room for text."""
    if max_seq_length < 3:
        raise UserError(
            f"--max_seq_length={max_seq_length} leaves no room for text beside "
            "[CLS] and two [SEP]; the minimum is 3."
        )


_PIECES_LOGGED = 100


def log_pieces(name, pieces):
    """Writes the pieces (list of str) of an example (str) to the log.

    They show at a glance whether columns, letter case and vocabulary are right.
    """
    logging.getLogger("absl").info(
        "Example %s: %s%s",
        name,
        " ".join(pieces[:_PIECES_LOGGED]),
        " ..." if len(pieces) > _PIECES_LOGGED else "",
    )
