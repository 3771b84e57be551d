"""Masked instances of pre-training, held by the million.

A and B of an instance `[CLS] A [SEP] B [SEP]` are runs of pieces of the
documents. So an instance is held as the ends of two runs and, of each masked
piece, its position and what was put there; it is spelled out when asked for.
"""

import array
import itertools
import typing

# [CLS] and two [SEP].
NUM_SPECIAL = 3


class Pair(typing.NamedTuple):
    """A and B: where in `Documents.pieces` they start and end."""

    a_start: int
    a_end: int
    b_start: int
    b_end: int
    is_random_next: bool

    @property
    def num_pieces(self):
        """int, A and B together."""
        return self.a_end - self.a_start + self.b_end - self.b_start


class Instance(typing.NamedTuple):
    """One instance as it is fed to the model, without padding: lists of int."""

    input_ids: list
    segment_ids: list
    masked_lm_positions: list
    masked_lm_ids: list
    is_random_next: bool


class Instances:
    """A sequence of Instance, held in about a quarter of a kilobyte each."""

    def __init__(self, texts, piece_ids, options):
        """Makes it empty; A and B will be taken from `texts`, Documents.

        See also masking.PieceIds and pretraining_data.InstanceOptions.
        """
        self.options = options
        self.num_pieces = 0  # Special ones included.
        self.num_masked = 0
        self.num_random_next = 0  # Instances whose B is drawn at random.
        self.num_truncated = 0  # Instances that lost pieces to fit in S.
        self._pieces = texts.pieces
        self._piece_ids = piece_ids
        # A row: the Pair, then position and replacement of each masked piece.
        self._rows = array.array("I")
        self._row_starts = array.array("q", [0])
        # The rows' numbers; shuffle them to shuffle the instances.
        self.order = array.array("q")

    def __len__(self):
        return len(self.order)

    def unmasked_ids(self, pair):
        """Returns `[CLS] A [SEP] B [SEP]` of a Pair, as a list of int."""
        separator = self._piece_ids.sep_id
        a_start, a_end, b_start, b_end, _ = pair
        return [
            self._piece_ids.cls_id,
            *self._pieces[a_start:a_end],
            separator,
            *self._pieces[b_start:b_end],
            separator,
        ]

    def append(self, pair, masks):
        """Adds an instance: a Pair and what `masking.draw_masks` gave."""
        self.num_pieces += pair.num_pieces + NUM_SPECIAL
        self.num_masked += len(masks)
        self.num_random_next += pair.is_random_next
        self.order.append(len(self.order))
        self._rows.fromlist([*pair, *itertools.chain.from_iterable(masks)])
        self._row_starts.append(len(self._rows))

    def __getitem__(self, index):
        row_index = self.order[index]
        start, end = self._row_starts[row_index : row_index + 2]
        row = self._rows[start:end].tolist()
        num_fields = len(Pair._fields)
        pair = Pair(*row[:num_fields])
        positions = row[num_fields::2]
        input_ids = self.unmasked_ids(pair)
        masked_lm_ids = [input_ids[position] for position in positions]
        for position, replacement in zip(positions, row[num_fields + 1 :: 2]):
            input_ids[position] = replacement
        # [CLS], A and the first [SEP] are segment 0.
        num_first = pair.a_end - pair.a_start + 2
        return Instance(
            input_ids=input_ids,
            segment_ids=[0] * num_first + [1] * (len(input_ids) - num_first),
            masked_lm_positions=positions,
            masked_lm_ids=masked_lm_ids,
            is_random_next=bool(pair.is_random_next),
        )


def summarize(instances):
    """Returns a line (str) that counts Instances and what is in them."""
    count = len(instances)
    return (
        f"{count:,} instances: on average {instances.num_pieces / count:.1f} "
        f"pieces, {instances.num_masked / count:.1f} of them masked; "
        f"{instances.num_random_next / count:.0%} have a random next part; "
        f"{instances.num_truncated:,} lost pieces to fit in "
        f"{instances.options.max_seq_length}"
    )


def spell(instance, inv_vocab):
    """Returns an Instance as text, by `inv_vocab` (dict, id -> piece).

    A masked piece is `(piece>shown)`: "[CLS] the (cat>[MASK]) [SEP] it [SEP]".
    """
    shown = [inv_vocab[piece_id] for piece_id in instance.input_ids]
    for position, masked_id in zip(
        instance.masked_lm_positions, instance.masked_lm_ids
    ):
        shown[position] = f"({inv_vocab[masked_id]}>{shown[position]})"
    return " ".join(shown)
