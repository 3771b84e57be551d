"""A pre-trained model as it is served: what stands where a text is masked?

B batch, S sequence length, P masked positions, K words suggested, V vocabulary
"""

import tensorflow as tf

from bert_tf.errors import UserError
from bert_tf.features import INPUT_KEYS
from bert_tf.serving.servable import ANY_TEXTS, ServedModel, as_bytes
from bert_tf.text import graph_packing

MASK = "[MASK]"

_POSITIONS = "masked_lm_positions"


class ServedMaskedLM(ServedModel):
    """Fills `[MASK]` in texts, and judges whether one text follows another.

    Outputs from pieces: `masked_lm_logits`, float32 [B, P, V];
    `next_sentence_probabilities`, float32 [B, 2], that B follows A and that it
    does not. From text, for each `[MASK]` in order: `words`, string [B, P, K],
    pieces of the vocabulary, the most probable first; `probabilities`, float32
    [B, P, K]. P is the most that a text of the batch has; the others' rows end
    with empty words of probability 0. A `[MASK]` that is cut off with the end
    of a text that is too long is not filled.
    """

    kind = "masked_lm"
    input_names = (*INPUT_KEYS, _POSITIONS)
    special_tokens = (*ServedModel.special_tokens, MASK)

    def __init__(self, model, config, *, top_k=5, **others):
        """Stores a `models.pretraining_model` and the rest, see ServedModel.

        Raises:
          UserError: `top_k`, K, is more than V; and see ServedModel.
        """
        if top_k > config.vocab_size:
            raise UserError(
                f"--top_k={top_k} is more than the {config.vocab_size} pieces "
                "that the model knows. Lower it."
            )
        super().__init__(model, config, **others)
        self.mask_id = self.vocab[MASK]
        self.top_k = top_k
        # A piece for every id that the model can give.
        pieces = [f"[unused id {i}]" for i in range(config.vocab_size)]
        for piece, piece_id in self.vocab.items():
            pieces[piece_id] = piece
        self._pieces = tf.constant(pieces)

    def call_model(self, inputs):
        """See ServedModel; `inputs` has masked_lm_positions, [B, P], too."""
        outputs = super().call_model(inputs)
        return {
            "masked_lm_logits": outputs["masked_lm_logits"],
            "next_sentence_probabilities": tf.nn.softmax(
                outputs["next_sentence_logits"]
            ),
        }

    def description(self):
        return {**super().description(), "top_k": self.top_k}

    def signatures(self):
        """See Servable; records of masked texts are not taken."""

        @tf.function(input_signature=[ANY_TEXTS])
        def serving_text(text):
            inputs = self.pack(text)
            logits = self.call_model(inputs)["masked_lm_logits"]
            most = tf.math.top_k(tf.nn.softmax(logits), self.top_k)
            # Position 0, [CLS], is never masked: such a row only fills up.
            is_mask = inputs[_POSITIONS][:, :, tf.newaxis] > 0
            words = tf.gather(self._pieces, most.indices)
            return {
                "words": tf.where(is_mask, words, ""),
                "probabilities": tf.where(is_mask, most.values, 0.0),
            }

        return {
            "serving_default": self._from_pieces(),
            "serving_text": serving_text,
        }

    def pack(self, texts_a, texts_b=None, *, length=None):
        """See ServedModel; with masks, and `masked_lm_positions` of them."""
        assert texts_b is None
        packed = graph_packing.pack(
            self._tokenize_with_masks(texts_a),
            None,
            max_seq_length=self.max_seq_length,
            special_ids=self.special_ids,
            length=length,
        )
        is_mask = packed["input_ids"] == self.mask_id
        positions = tf.ragged.boolean_mask(
            tf.broadcast_to(tf.range(tf.shape(is_mask)[1]), tf.shape(is_mask)),
            is_mask,
        )
        return {**packed, _POSITIONS: positions.to_tensor(0)}

    def _tokenize_with_masks(self, texts):
        """Splits texts into pieces; returns int32 [B, (pieces)].

        What stands between masks is tokenized by itself.
        """
        parts = tf.strings.split(texts, MASK)  # [B, (parts)]
        pieces = self.tokenizer.tokenize(parts.values)
        masks = tf.fill([pieces.nrows(), 1], self.mask_id)
        pieces = parts.with_values(tf.concat([pieces, masks], axis=1))
        pieces = pieces.merge_dims(1, 2)
        # There is a mask between two parts, but none after the last.
        return graph_packing.keep_first(pieces, pieces.row_lengths() - 1)

    def samples(self):
        texts = ("The [MASK] sat on the [MASK].", "", "[MASK][MASK]x[MASK]")
        packed = self.pack(tf.constant(texts))
        return {
            "serving_default": {k: v.numpy() for k, v in packed.items()},
            "serving_text": {"text": as_bytes(texts)},
        }
