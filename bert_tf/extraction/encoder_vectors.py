"""The encoder's vectors of each line of a text.

B batch, S sequence length, D hidden_size, K layers asked for
"""

import itertools
import time

import tensorflow as tf
from absl import logging

from bert_tf.data.batching import padded, run_by_length
from bert_tf.errors import UserError
from bert_tf.features import INPUT_KEYS
from bert_tf.model.encoder import BertEncoder
from bert_tf.storage.progress import Progress, format_seconds
from bert_tf.training.distribution import gathered, require_even_batch
from bert_tf.weights.loading import load_checkpoint

POOLINGS = ("cls", "mean")

# Lines are read ahead and run in the order of their lengths. Reading pauses
# when their vectors would take this much memory, or fill this many batches.
_BYTES_AHEAD = 2**26
_BATCHES_AHEAD = 50

_SECONDS_BETWEEN_LINES = 10


def pool(vectors, input_mask, pooling):
    """Makes one vector of a text's vectors.

    Args:
      vectors: float32 [B, S, D].
      input_mask: int32 [B, S], 1 for a piece, 0 for padding; a row has at
        least one piece.
      pooling: str: "cls", the vector of the first piece, which is [CLS]; or
        "mean", that of all pieces, [CLS] and [SEP] included: models made for
        sentence vectors are trained with these two in the mean, and an empty
        text has a mean too.

    Returns:
      float32 [B, D].

    Raises:
      UserError: another pooling.
    """
    require_pooling(pooling)
    if pooling == "cls":
        return vectors[:, 0]
    weights = tf.cast(input_mask, tf.float32)[:, :, tf.newaxis]
    total = tf.reduce_sum(vectors * weights, axis=1)  # [B, D]
    return total / tf.reduce_sum(weights, axis=1)


def require_pooling(pooling):
    """Refuses a pooling (str) that `pool` does not know: UserError."""
    if pooling not in POOLINGS:
        raise UserError(
            f"`pooling` is {pooling!r}; it must be one of "
            f"{', '.join(map(repr, POOLINGS))}."
        )


class Extractor:
    """Runs an encoder over packed lines.

        extractor = Extractor(config, [-1], pooling="none", strategy=strategy)
        extractor.load(init_checkpoint)
        extractor.extract(lines, 32, writer)

    Source: `model_fn_builder` and `main` of extract_features.py (2018), which
      padded all lines to `max_seq_length`; padding reaches no other position.
    """

    def __init__(
        self,
        config,
        layers,
        *,
        pooling,
        strategy,
        fixed_length=None,
        use_one_hot_embeddings=False,
    ):
        """Makes the encoder, with random weights.

        Args:
          config: BertConfig.
          layers: list of K int, from 0 for the first layer, or from -1 for the
            last one backwards; one may stand there several times.
          pooling: str, "none" for a vector a piece, or see `pool`.
          strategy: tf.distribute.Strategy.
          fixed_length: int, S of every batch, all of which are full, as suits
            TPUs; None for the longest line of the batch.
          use_one_hot_embeddings: bool, see `BertEncoder`.
        """
        self._layers = layers
        self._pooling = pooling
        self._strategy = strategy
        self._fixed_length = fixed_length
        with strategy.scope():
            self._encoder = BertEncoder(
                config, use_one_hot_embeddings=use_one_hot_embeddings
            )
        self._bytes_of_vector = 4 * len(layers) * config.hidden_size
        self._run = tf.function(
            lambda inputs: strategy.run(self._vectors, args=(inputs,)),
            # Another length needs no graph of its own, except on a TPU.
            reduce_retracing=fixed_length is None,
        )

    def load(self, init_checkpoint):
        """Loads weights (str, see `weights_path`); raises UserError."""
        load_checkpoint(self._encoder, init_checkpoint)

    def _vectors(self, inputs):
        """Returns float32 [B, S, K, D], or [B, K, D] if pooled."""
        # Layers that no output needs are pruned from the graph.
        outputs = self._encoder(inputs, training=False)["encoder_outputs"]
        picked = [outputs[layer] for layer in self._layers]
        if self._pooling != "none":
            mask = inputs["input_mask"]
            picked = [pool(vectors, mask, self._pooling) for vectors in picked]
        return tf.stack(picked, axis=-2)

    def extract(self, lines, batch_size, writer):
        """Runs PackedLines and writes their vectors, in order.

        `batch_size` is B over all devices. `writer` is a file of
        `vector_files`, or what has its `write`.

        Raises:
          UserError: a batch does not divide among the devices; there are
            pairs, but the model knows one segment; a number is not finite.
        """
        require_even_batch(batch_size, self._strategy, "batch_size")
        segments = self._encoder.config.type_vocab_size
        if lines.num_pairs and segments < 2:
            raise UserError(
                f"{lines.num_pairs} lines are pairs of texts, but the model's "
                f"`type_vocab_size` is {segments}: it cannot tell a second "
                "text. Take the bars (|||) out, or use another model."
            )
        began = due = time.monotonic()
        num_lines = num_pieces = 0
        with Progress(lines.num_lines, unit="line") as progress:
            for ahead in self._read_ahead(lines, batch_size):
                results = run_by_length(
                    ahead,
                    [len(input_ids) for input_ids, _ in ahead],
                    lambda batch: self._run_batch(batch, batch_size),
                    batch_size,
                )
                for (input_ids, _), vectors in zip(ahead, results, strict=True):
                    writer.write(input_ids, vectors)
                    num_pieces += len(input_ids)
                num_lines += len(ahead)
                progress.advance_to(num_lines)
                if time.monotonic() >= due + _SECONDS_BETWEEN_LINES:
                    due = time.monotonic()
                    progress.line({"pieces/s": num_pieces / (due - began)})
        logging.info(
            "Ran %s lines, %s pieces, in %s.",
            f"{num_lines:,}",
            f"{num_pieces:,}",
            format_seconds(time.monotonic() - began),
        )

    def _read_ahead(self, lines, batch_size):
        """Yields lists of lines: whole batches, few enough for the memory."""
        ahead, size = [], 0
        for line in lines:
            ahead.append(line)
            size += len(line[0]) * self._bytes_of_vector
            # Whole batches, since a TPU runs no others.
            num_batches, is_part = divmod(len(ahead), batch_size)
            is_enough = size >= _BYTES_AHEAD or num_batches >= _BATCHES_AHEAD
            if is_enough and not is_part:
                yield ahead
                ahead, size = [], 0
        if ahead:
            yield ahead

    def _run_batch(self, batch, batch_size):
        """Returns the vectors of each line of a batch (list of np.ndarray)."""
        replicas = self._strategy.num_replicas_in_sync
        size = batch_size if self._fixed_length or replicas > 1 else len(batch)
        # Padding repeats a line: a row without a piece has no mean.
        full = [*batch, *itertools.repeat(batch[-1], size - len(batch))]
        inputs = padded(full, self._fixed_length)
        arrays = dict(zip(INPUT_KEYS, inputs, strict=True))
        share = size // replicas

        def share_of(context):
            start = context.replica_id_in_sync_group * share
            return {
                name: tf.constant(array[start : start + share])
                for name, array in arrays.items()
            }

        values = self._strategy.experimental_distribute_values_from_function(
            share_of
        )
        rows = gathered(self._strategy, self._run(values))[: len(batch)]
        if self._pooling != "none":
            return list(rows)
        # Copies: a view would keep the padding as well.
        return [
            row[: len(input_ids)].copy()
            for row, (input_ids, _) in zip(rows, batch, strict=True)
        ]
