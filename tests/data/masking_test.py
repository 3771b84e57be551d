"""Which pieces are masked, and with what; draw for draw."""

import random
import types

import pytest

from bert_tf.data import masking
from bert_tf.errors import UserError

_VOCAB = {
    piece: piece_id
    for piece_id, piece in enumerate(
        ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "##s", "##t"]
    )
}
_PIECE_IDS = masking.PieceIds.from_vocab(_VOCAB, "vocab.txt")


class ScriptedRandom:
    """Stands for random.Random; gives the draws a test has written down."""

    def __init__(self, *, bits=(), floats=(), places=()):
        self._bits = list(bits)
        self._floats = list(floats)
        self._places = list(places)

    def getrandbits(self, num_bits):
        """Returns the next of `bits`, which must fit in `num_bits`."""
        drawn = self._bits.pop(0)
        assert drawn < 2**num_bits
        return drawn

    def random(self):
        """Returns the next of `floats`."""
        return self._floats.pop(0)

    def choice(self, items):
        """Returns the item at the next of `places`."""
        return items[self._places.pop(0)]

    def is_used_up(self):
        """Tells whether every draw was made."""
        return not (self._bits or self._floats or self._places)


def _options(**changes):
    values = {
        "masked_lm_prob": 0.5,
        "max_predictions_per_seq": 3,
        "do_whole_word_mask": False,
    }
    return types.SimpleNamespace(**{**values, **changes})


def test_piece_ids_tell_special_distinct_and_continuing_pieces():
    # "the" stands on two lines (ids 1 and 5): it is one piece, with the later
    # id, at the earlier place.
    vocab = {"[MASK]": 0, "the": 5, "[SEP]": 2, "##s": 3, "[CLS]": 4}
    piece_ids = masking.PieceIds.from_vocab(vocab, "vocab.txt")
    assert (piece_ids.cls_id, piece_ids.sep_id, piece_ids.mask_id) == (4, 2, 0)
    assert piece_ids.distinct == (0, 5, 2, 3, 4)
    assert piece_ids.continuing == {3}


@pytest.mark.parametrize("token", ["[CLS]", "[SEP]", "[MASK]"])
def test_piece_ids_require_the_special_tokens(token):
    vocab = {piece: i for piece, i in _VOCAB.items() if piece != token}
    with pytest.raises(UserError, match=rf"my_vocab.*\[{token[1:-1]}\]"):
        masking.PieceIds.from_vocab(vocab, "my_vocab.txt")


def test_draw_masks_worked_example():
    """An example to redo by hand.

    position   0     1   2   3     4   5     6
    piece      [CLS] the cat [SEP] sat ##s   [SEP]
    id         1     4   5   2     6   7     2

    Seven pieces, half of them: 3.5, which round() takes to 4; at most 3 are
    allowed. Candidates: 1 2 4 5. The shuffle draws for the last of four places
    (3 bits, 0 to 3 count), the third (2 bits), the second (2 bits, 0 or 1):

      draws 7 (refused), 0  ->  5 2 4 1
      draws 3 (refused), 1  ->  5 4 2 1
      draws 1               ->  5 4 2 1

    So positions 5, 4, 2 are masked, in this order: 5 becomes [MASK] (0.79 is
    below 0.8); 4 stays (0.8 is not, 0.4 is below 0.5); 2 becomes the piece at
    place 8 of the vocabulary, ##t.
    """
    rng = ScriptedRandom(
        bits=[7, 0, 3, 1, 1],
        floats=[0.79, 0.8, 0.4, 0.9, 0.5],
        places=[8],
    )
    input_ids = [1, 4, 5, 2, 6, 7, 2]
    masks = masking.draw_masks(input_ids, _PIECE_IDS, _options(), rng)
    assert masks == [(2, 8), (4, 6), (5, 3)]
    assert rng.is_used_up()
    assert input_ids == [1, 4, 5, 2, 6, 7, 2]


@pytest.mark.parametrize(
    ("length", "masked_lm_prob", "expected"),
    [
        (10, 0.25, 2),  # 2.5: the half goes to the even number
        (14, 0.25, 4),  # 3.5: again
        (12, 0.0, 1),  # at least one
        (40, 0.5, 3),  # at most max_predictions_per_seq
    ],
)
def test_draw_masks_counts_from_the_length(length, masked_lm_prob, expected):
    input_ids = [1, 4, 2, *[5] * (length - 4), 2]
    options = _options(masked_lm_prob=masked_lm_prob)
    if expected == 4:
        options.max_predictions_per_seq = 20
    rng = random.Random(3)
    masks = masking.draw_masks(input_ids, _PIECE_IDS, options, rng)
    assert len(masks) == expected


def test_draw_masks_masks_whole_words():
    """An example to redo by hand.

    position   0     1   2   3   4     5   6   7   8   9
    piece      [CLS] the cat ##s [SEP] sat ##s ##t the [SEP]

    Words at (1) (2 3) (5 6 7) (8). Of ten pieces half are 5; at most 4 are
    allowed. Draws 3 and 2 leave the last two words where they are, 0 swaps the
    first two: (2 3) (1) (5 6 7) (8). Taken are (2 3) and (1); (5 6 7) would
    make six and is passed over; (8) makes the four full.
    """
    rng = ScriptedRandom(
        bits=[3, 2, 0], floats=[0.1, 0.9, 0.1, 0.2, 0.9, 0.6], places=[5]
    )
    input_ids = [1, 4, 5, 7, 2, 6, 7, 8, 4, 2]
    options = _options(do_whole_word_mask=True, max_predictions_per_seq=4)
    masks = masking.draw_masks(input_ids, _PIECE_IDS, options, rng)
    # The draws go by the order taken: 2 [MASK], 3 kept, 1 [MASK], 8 "cat".
    assert masks == [(1, 3), (2, 3), (3, 7), (8, 5)]
    assert rng.is_used_up()


def test_draw_masks_lets_a_cut_word_continue_the_last_of_the_first_part():
    # B begins inside a word: "##t" joins "cat", as in 2018.
    input_ids = [1, 5, 2, 8, 6, 2]
    options = _options(do_whole_word_mask=True, max_predictions_per_seq=2)
    rng = ScriptedRandom(bits=[1], floats=[0.1, 0.1])
    masks = masking.draw_masks(input_ids, _PIECE_IDS, options, rng)
    assert masks == [(1, 3), (3, 3)]


def test_draw_masks_masks_nothing_where_every_word_is_too_long():
    # One word of four pieces, across both parts; two may be masked.
    input_ids = [1, 5, 7, 2, 7, 8, 2]
    options = _options(do_whole_word_mask=True, max_predictions_per_seq=2)
    rng = random.Random(1)
    assert masking.draw_masks(input_ids, _PIECE_IDS, options, rng) == []


@pytest.mark.parametrize("length", [0, 1, 2, 3, 31, 32, 33, 125, 509, 1000])
def test_shuffle_equals_that_of_the_standard_library(length):
    ours, theirs = random.Random(length), random.Random(length)
    for _ in range(5):
        shuffled, expected = list(range(length)), list(range(length))
        masking.shuffle(shuffled, ours)
        theirs.shuffle(expected)
        assert shuffled == expected
    assert ours.getstate() == theirs.getstate()
