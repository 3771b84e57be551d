"""Documents to masked instances for pre-training, as 2018 made them.

Three stages, each of them usable alone:

    texts = documents.read_documents(paths, tokenizer)
    instances = create_instances(texts, piece_ids, options, rng)
    write_instances(instances, output_files)

The random draws are those of 2018, in the same order: a seed gives the same
instances in the same order.
"""

import bisect
import contextlib
import dataclasses
import logging
import os

from bert_tf.data import masking
from bert_tf.data.instances import NUM_SPECIAL, Instances, Pair, summarize
from bert_tf.data.record_writer import ExampleSerializer, text_values
from bert_tf.errors import UserError
from bert_tf.features import pretraining_features
from bert_tf.storage import files
from bert_tf.storage.progress import Heartbeat

_logger = logging.getLogger("absl")


@dataclasses.dataclass(frozen=True)
class InstanceOptions:
    """How instances are made; the fields are the 2018 flags of these names.

    Raises:
      UserError: a value out of range (names flag, value and rule).
    """

    # S, the most pieces of an instance, [CLS] and both [SEP] included.
    max_seq_length: int = 128
    # P, the most masked pieces of an instance.
    max_predictions_per_seq: int = 20
    # How often the text is gone through, each time with other draws.
    dupe_factor: int = 10
    # The share of an instance's pieces that is masked.
    masked_lm_prob: float = 0.15
    # How often a document is cut into instances shorter than S.
    short_seq_prob: float = 0.1
    # Whether whole words are masked rather than single pieces.
    do_whole_word_mask: bool = False

    def __post_init__(self):
        # A and B have a piece each, and 2018 draws short lengths from 2 on.
        self._require("max_seq_length", least=NUM_SPECIAL + 2)
        self._require("max_predictions_per_seq", least=1)
        self._require("dupe_factor", least=1)
        for flag in ("masked_lm_prob", "short_seq_prob"):
            self._require(flag, least=0, most=1)

    def _require(self, flag, *, least, most=None):
        value = getattr(self, flag)
        # NaN fails these comparisons, and so is refused too.
        if value >= least and (most is None or value <= most):
            return
        rule = (
            f"the minimum is {least}"
            if most is None
            else f"it must be between {least} and {most}"
        )
        raise UserError(
            f"--{flag}={value}: {rule}; the default is "
            f"{getattr(InstanceOptions, flag)}."
        )


def create_instances(texts, piece_ids, options, rng):
    """Makes the masked Instances of all documents, shuffled, and logs counts.

    The Documents are not empty; `piece_ids` are the PieceIds of the vocabulary
    they were tokenized with. 2018 seeded `rng` (random.Random) with
    --random_seed.

    Source: the second half of `create_training_instances` and
      `create_instances_from_document` in create_pretraining_data.py (2018).
      New: a warning where there is one document only.
    """
    _logger.info(
        "Read %s documents of %s sentences, %s pieces. Going through them %d "
        "times.",
        f"{len(texts):,}",
        f"{texts.num_sentences:,}",
        f"{len(texts.pieces):,}",
        options.dupe_factor,
    )
    if len(texts) == 1:
        _logger.warning(
            "There is only one document, so that random next sentences come "
            "from the document itself and are hard to tell from real ones. "
            "Put a blank line between documents."
        )
    order = list(range(len(texts)))
    masking.shuffle(order, rng)
    instances = Instances(texts, piece_ids, options)
    max_pieces = options.max_seq_length - NUM_SPECIAL
    heartbeat = Heartbeat("Made %s instances so far.")
    for _ in range(options.dupe_factor):
        for place in range(len(order)):
            # Each pair is masked before the next is drawn, as in 2018.
            for whole in _draw_pairs(texts, order, place, options, rng):
                pair = _truncate(whole, max_pieces, rng)
                ids = instances.unmasked_ids(pair)
                masks = masking.draw_masks(ids, piece_ids, options, rng)
                instances.append(pair, masks)
                instances.num_truncated += pair != whole
            heartbeat.beat(len(instances))
    masking.shuffle(instances.order, rng)
    _logger.info("Made %s.", summarize(instances))
    return instances


def _draw_pairs(texts, order, place, options, rng):
    """Yields the Pairs of the document `order[place]`, not yet truncated.

    Sentences are collected up to the wanted length and cut in two at random.
    The first part is A. B is the second part, or a run of another document; the
    second part then goes into the next instance.
    """
    starts = texts.sentence_starts
    first, end = texts.sentence_range(order[place])
    wanted = options.max_seq_length - NUM_SPECIAL
    if rng.random() < options.short_seq_prob:
        wanted = rng.randint(2, wanted)
    while first < end:
        b_end = _end_of_run(starts, first, end, wanted)
        a_end = first + 1
        if b_end > a_end:
            a_end = first + rng.randint(1, b_end - first - 1)
        is_random_next = b_end == first + 1 or rng.random() < 0.5
        next_first = b_end
        b_first = a_end
        if is_random_next:
            next_first = a_end
            wanted_b = wanted - (starts[a_end] - starts[first])
            b_first, b_end = _draw_run(texts, order, place, wanted_b, rng)
        yield Pair(
            starts[first],
            starts[a_end],
            starts[b_first],
            starts[b_end],
            is_random_next,
        )
        first = next_first


def _draw_run(texts, order, place, wanted, rng):
    """Draws a run of sentences of a document, preferably not `order[place]`.

    Returns the first sentence and the one after the last: enough for `wanted`
    pieces, or up to the document's end.
    """
    # As in 2018 the same document may come out ten times.
    for _ in range(10):
        drawn = rng.randint(0, len(order) - 1)
        if drawn != place:
            break
    first, end = texts.sentence_range(order[drawn])
    first += rng.randint(0, end - first - 1)
    return first, _end_of_run(texts.sentence_starts, first, end, wanted)


def _end_of_run(starts, first, end, wanted):
    """Returns the end of the shortest run from `first` with enough pieces.

    `starts` is `Documents.sentence_starts`. The run has a sentence at least,
    also where `wanted` pieces are none, and goes no further than `end`.
    """
    return bisect.bisect_left(starts, starts[first] + wanted, first + 1, end)


def _truncate(pair, max_pieces, rng):
    """Takes pieces off a Pair's runs until both fit together.

    The longer run (B on a tie) loses a piece at a time, from its front or its
    back as the coin falls, so that the model does not see only the beginnings
    of sentences.

    Source: `truncate_seq_pair` in create_pretraining_data.py (2018).
    """
    a_start, a_end, b_start, b_end, is_random_next = pair
    num_excess = pair.num_pieces - max_pieces
    for _ in range(num_excess):
        at_front = rng.random() < 0.5
        if a_end - a_start > b_end - b_start:
            if at_front:
                a_start += 1
            else:
                a_end -= 1
        elif at_front:
            b_start += 1
        else:
            b_end -= 1
    return Pair(a_start, a_end, b_start, b_end, is_random_next)


def prepare_output_files(output_files, paths_read):
    """Checks, before the work, that the output files can be written after it.

    Missing folders are created, with their parents. `output_files` is a str of
    paths with commas between, which are returned as a list. `paths_read` (list
    of str) must not be written over.

    Raises:
      UserError: no path; one that is given twice, is read from, or is there
        and no plain file; or a folder that cannot be made or written.
    """
    paths = (output_files or "").split(",")
    # realpath makes no path of a remote one, but always the same str.
    taken = {os.path.realpath(path): "an input file" for path in paths_read}
    for path in paths:
        where = f"--output_file={output_files!r}: {path!r}"
        if not path:
            raise UserError(
                f"{where} is no path. Give one, or several with commas between."
            )
        target = os.path.realpath(path)
        if target in taken:
            raise UserError(
                f"{where} is also {taken[target]}. Name another file."
            )
        taken[target] = "another output file"
        is_there = not files.is_remote(path) and os.path.exists(path)
        if files.is_folder(path) or (is_there and not os.path.isfile(path)):
            raise UserError(f"{where} is there and no plain file. Name a file.")
        files.make_output_folder(os.path.dirname(path) or ".", "output_file")
    return paths


def write_instances(instances, output_files):
    """Writes Instances as TFRecords, in turn to each of the files.

    `output_files` (list of str) are local or remote, in existing folders. A
    file has its name only when it is complete. Returns how many instances each
    holds (list of int).

    Raises:
      UserError: a file would be empty, or cannot be written.

    Source: `write_instance_to_example_files` in create_pretraining_data.py
      (2018), which wrote under the final names.
    """
    if len(instances) < len(output_files):
        raise UserError(
            f"--output_file names {len(output_files)} files for "
            f"{len(instances)} instances, so some would be empty. Name fewer "
            "files, or give more text."
        )
    # Deferred: text and flags are read and checked before TensorFlow starts.
    import tensorflow as tf

    try:
        with contextlib.ExitStack() as published:
            beside = [
                published.enter_context(files.replacing(path))
                for path in output_files
            ]
            # All are closed before the first gets its name.
            with contextlib.ExitStack() as opened:
                writers = [
                    opened.enter_context(tf.io.TFRecordWriter(path))
                    for path in beside
                ]
                _write_in_turn(instances, writers)
    except tf.errors.OpError as error:
        raise UserError(
            f"Writing {', '.join(output_files)} failed: {error.message}. "
            "Nothing was written; mend this and start again."
        ) from error
    num_files = len(output_files)
    counts = [
        len(range(first, len(instances), num_files))
        for first in range(num_files)
    ]
    for path, count in zip(output_files, counts):
        _logger.info("Wrote %s instances to %s", f"{count:,}", path)
    return counts


def _write_in_turn(instances, writers):
    options = instances.options
    serializer = ExampleSerializer(
        pretraining_features(
            options.max_seq_length, options.max_predictions_per_seq
        )
    )
    heartbeat = Heartbeat("Wrote %s instances so far.")
    for count, instance in enumerate(instances):
        values = _feature_values(instance, options)
        record = serializer.serialize(values)
        writers[count % len(writers)].write(record)
        heartbeat.beat(count)


def _feature_values(instance, options):
    """Pads an Instance; returns a dict, feature name -> list of numbers."""
    num_first = instance.segment_ids.count(0)
    num_masked = len(instance.masked_lm_ids)
    padding = [0] * (options.max_predictions_per_seq - num_masked)
    return {
        **text_values(instance.input_ids, num_first, options.max_seq_length),
        "masked_lm_positions": instance.masked_lm_positions + padding,
        "masked_lm_ids": instance.masked_lm_ids + padding,
        "masked_lm_weights": [1.0] * num_masked + padding,
        "next_sentence_labels": [int(instance.is_random_next)],
    }
