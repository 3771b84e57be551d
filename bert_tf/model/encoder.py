"""The BERT encoder: pieces in, contextual vectors out."""

import numpy as np
import tensorflow as tf
import tf_keras

from bert_tf.errors import UserError
from bert_tf.features import INPUT_KEYS
from bert_tf.model import layers


class BertEncoder(tf_keras.Model):
    """Embeddings, `num_hidden_layers` Transformer layers and the pooler.

        encoder = BertEncoder(config)
        outputs = encoder(
            {"input_ids": ids, "input_mask": mask, "segment_ids": types},
            training=False)

    Call it with a dict of three integer tensors [B, S]; B and S may change
    from call to call:
      input_ids: the pieces' ids, each in [0, V).
      input_mask: 1 for a piece, 0 for padding.
      segment_ids: each in [0, type_vocab_size).

    It returns a dict:
      sequence_output: float [B, S, D], the last layer.
      pooled_output: float [B, D], the pooled first position.
      embedding_output: float [B, S, D], what the first layer received.
      encoder_outputs: list of float [B, S, D], one a layer.

    Attributes:
      config: BertConfig.
      word_embeddings: float32 variable [V, D].

    Args:
      config: BertConfig.
      use_one_hot_embeddings: bool, look words up by a matrix product, as suits
        TPUs. The results are the same.
      name: str, the scope of the variables.

    Raises:
      UserError: (by a call) S is larger than `max_position_embeddings`, an
        input is missing, or the three differ in shape.

    Source: `BertModel` in modeling.py (2018). There `input_mask` and
      `segment_ids` could be left out.
    """

    def __init__(self, config, *, use_one_hot_embeddings=False, name="bert"):
        inputs = {
            key: tf_keras.Input([None], dtype=tf.int32, name=key)
            for key in INPUT_KEYS
        }
        embeddings = layers.Embeddings(
            config,
            use_one_hot_embeddings=use_one_hot_embeddings,
            name=f"{name}/embeddings",
        )
        embedding_output = embeddings(
            inputs["input_ids"], inputs["segment_ids"]
        )
        mask_adder = layers.MaskAdder(name=f"{name}/encoder/mask_adder")(
            inputs["input_mask"]
        )
        x, encoder_outputs = embedding_output, []
        for index in range(config.num_hidden_layers):
            layer = layers.TransformerLayer(
                config, name=f"{name}/encoder/layer_{index}"
            )
            x = layer(x, mask_adder)
            encoder_outputs.append(x)
        pooler = layers.Pooler(config, name=f"{name}/pooler")
        outputs = {
            "sequence_output": x,
            "pooled_output": pooler(x),
            "embedding_output": embedding_output,
            "encoder_outputs": encoder_outputs,
        }
        super().__init__(inputs=inputs, outputs=outputs, name=name)
        self.config = config
        self.word_embeddings = embeddings.word_embeddings

    def __call__(self, inputs, *args, **kwargs):
        # Here and not in `call`, where tf_keras would bury the sentence among
        # the arguments of every layer above.
        inputs = _checked(inputs, self.config)
        return super().__call__(inputs, *args, **kwargs)


def _checked(inputs, config):
    """Returns the three inputs as tensors, once their shapes are checked."""
    missing = [key for key in INPUT_KEYS if key not in inputs]
    if missing:
        raise UserError(
            f"The encoder's input lacks {missing}; it has {sorted(inputs)}. "
            f"Pass a dict with {list(INPUT_KEYS)}, each an integer tensor "
            "[batch, sequence length]."
        )
    tensors = {key: _as_tensor(inputs[key]) for key in INPUT_KEYS}
    shape = tensors["input_ids"].shape
    for key, tensor in tensors.items():
        both = shape.as_list() if shape.rank == 2 else [None, None]
        if not tensor.shape.is_compatible_with(both):
            raise UserError(
                f"`{key}` has shape {tensor.shape}, `input_ids` {shape}; all "
                "inputs must have the same [batch, sequence length]."
            )
    if shape.rank == 2 and shape[1] is not None:
        layers.require_length(shape[1], config.max_position_embeddings)
    return tensors


def _as_tensor(value):
    if isinstance(value, (list, tuple, np.ndarray)):
        return tf.convert_to_tensor(value)
    return value
