"""Which pieces of an instance are masked, and what is put in their place.

Every draw is the one that 2018 made, in the same order. The shuffle, with a
hundred draws for each instance, is written out here on `getrandbits`, as
`random.Random.shuffle` itself is on Python 3.10 to 3.13 (a test compares them):
without the calls between, it takes half the time.
"""

import dataclasses

from bert_tf.text import vocabulary


@dataclasses.dataclass(frozen=True)
class PieceIds:
    """What masking must know of a vocabulary."""

    cls_id: int
    sep_id: int
    mask_id: int
    # The ids of the distinct pieces, in the order of the vocabulary file.
    distinct: tuple
    # The ids of the pieces that continue a word ("##...").
    continuing: frozenset

    @classmethod
    def from_vocab(cls, vocab, vocab_file):
        """Takes them from a vocabulary (dict, piece -> id).

        `vocab_file`: str, where it came from, for the message.

        Raises:
          UserError: [CLS], [SEP] or [MASK] is missing.
        """
        special = ("[CLS]", "[SEP]", "[MASK]")
        vocabulary.require_special_tokens(vocab, vocab_file, special)
        return cls(
            *(vocab[token] for token in special),
            distinct=tuple(vocab.values()),
            continuing=frozenset(
                piece_id
                for piece, piece_id in vocab.items()
                if piece.startswith("##")
            ),
        )


def draw_masks(input_ids, piece_ids, options, rng):
    """Chooses the pieces to mask in one instance, and what replaces each.

    Of the chosen pieces 80 % become [MASK], 10 % stay as they are and 10 %
    become a piece drawn from the whole vocabulary.

    Args:
      input_ids: list of int, `[CLS] A [SEP] B [SEP]` without padding.
      piece_ids: PieceIds.
      options: has `masked_lm_prob`, `max_predictions_per_seq` and
        `do_whole_word_mask`; see pretraining_data.InstanceOptions.
      rng: random.Random.

    Returns:
      list of (position, replacement id), positions ascending. It is empty where
      whole words are masked and each has more pieces than may be masked.

    Source: `create_masked_lm_predictions` in create_pretraining_data.py (2018).
    """
    # round() takes halves to the even number, as 2018 did on Python 3.
    wanted = max(1, round(len(input_ids) * options.masked_lm_prob))
    wanted = min(options.max_predictions_per_seq, wanted)
    separator = input_ids.index(piece_ids.sep_id)
    positions = [
        *range(1, separator),
        *range(separator + 1, len(input_ids) - 1),
    ]
    if options.do_whole_word_mask:
        continuing = piece_ids.continuing
        words = _group_words(positions, input_ids, continuing)
        shuffle(words, rng)
        chosen = _take_words(words, wanted)
    else:
        shuffle(positions, rng)
        chosen = positions[:wanted]
    return sorted(
        zip(chosen, _draw_replacements(chosen, input_ids, piece_ids, rng))
    )


def _group_words(positions, input_ids, continuing):
    """Returns a list of lists of positions, one for each word.

    As in 2018, a B cut off inside a word continues the last word of A.
    """
    words = []
    for position in positions:
        if words and input_ids[position] in continuing:
            words[-1].append(position)
        else:
            words.append([position])
    return words


def _take_words(words, wanted):
    """Takes words as they come, passing over those that would be too many."""
    chosen = []
    for word in words:
        if len(chosen) + len(word) <= wanted:
            chosen.extend(word)
    return chosen


def _draw_replacements(chosen, input_ids, piece_ids, rng):
    random = rng.random
    replacements = []
    for position in chosen:
        if random() < 0.8:
            replacements.append(piece_ids.mask_id)
        elif random() < 0.5:
            replacements.append(input_ids[position])
        else:
            replacements.append(rng.choice(piece_ids.distinct))
    return replacements


def shuffle(items, rng):
    """Shuffles a mutable sequence in place, as `random.Random.shuffle` does.

    The state of `rng` (random.Random) is as after its own `shuffle`, too.
    """
    getrandbits = rng.getrandbits
    for last in range(len(items) - 1, 0, -1):
        num_bits = (last + 1).bit_length()
        drawn = getrandbits(num_bits)
        while drawn > last:
            drawn = getrandbits(num_bits)
        items[last], items[drawn] = items[drawn], items[last]
