"""The layers a BERT encoder is made of, named after the 2018 variables.

A layer's `name` is the 2018 variable scope, slashes included, so that tf_keras
itself gives the 2018 variable names:

    bert/embeddings                         Embeddings
    bert/encoder/layer_0                    TransformerLayer
        attention/self/{query,key,value}    SelfAttention
        attention/output/{dense,LayerNorm}  ResidualOutput
        intermediate/dense                  Dense
        output/{dense,LayerNorm}            ResidualOutput
    bert/pooler/dense                       Pooler

Dimension letters: B batch, S sequence length (F from, T to), D hidden_size,
N heads, H size per head, V vocabulary.
"""

import math

import tensorflow as tf
import tf_keras

from bert_tf.errors import UserError
from bert_tf.model.activations import activation, initializer, normalize
from bert_tf.model.dropout import Dropout

MASK_ADDER = -10000.0


def dense(config, units, *, name, activation_name=""):
    """Returns a Dense layer of `units` outputs, initialized as in 2018.

    Args:
      config: BertConfig.
      units: int.
      name: str, the 2018 scope.
      activation_name: str, see `activations.activation`.
    """
    return tf_keras.layers.Dense(
        units,
        activation=activation(activation_name),
        kernel_initializer=initializer(config),
        name=name,
    )


class LayerNorm(tf_keras.layers.Layer):
    """Normalizes the last axis, in float32 under every precision policy.

    tf_keras's own layer has no fast form for an epsilon this small.

    Source: `layer_norm` in modeling.py (2018).
    """

    def __init__(self, config, *, name="LayerNorm"):
        # Its input is not to be rounded first.
        super().__init__(name=name, autocast=False)
        self.epsilon = config.layer_norm_eps

    def build(self, input_shape):
        self.gamma = self._add_vector("gamma", input_shape[-1], "ones")
        self.beta = self._add_vector("beta", input_shape[-1], "zeros")
        super().build(input_shape)

    def _add_vector(self, name, size, initial):
        return self.add_weight(
            name=name,
            shape=[size],
            initializer=initial,
            experimental_autocast=False,
        )

    def call(self, x):
        """Maps float [..., D] to the same."""
        normalized = normalize(
            tf.cast(x, tf.float32),
            # A custom gradient wants tensors, not variables.
            tf.convert_to_tensor(self.gamma),
            tf.convert_to_tensor(self.beta),
            self.epsilon,
        )
        return tf.cast(normalized, self.compute_dtype)


class Embeddings(tf_keras.layers.Layer):
    """Sums word, segment and position embeddings, normalizes, drops out.

    Args:
      config: BertConfig.
      use_one_hot_embeddings: bool, look words up by a product with one-hot
        rows, which suits TPUs; otherwise by gathering, whose gradient is
        tf.IndexedSlices.

    Source: `embedding_lookup` and `embedding_postprocessor` in modeling.py
      (2018).
    """

    def __init__(self, config, *, use_one_hot_embeddings, name):
        super().__init__(name=name)
        self.config = config
        self.use_one_hot_embeddings = use_one_hot_embeddings
        self.layer_norm = LayerNorm(config)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def build(self, input_shape):
        config = self.config
        self.word_embeddings = self._add_table("word", config.vocab_size)
        self.token_type_embeddings = self._add_table(
            "token_type", config.type_vocab_size
        )
        self.position_embeddings = self._add_table(
            "position", config.max_position_embeddings
        )
        super().build(input_shape)

    def _add_table(self, kind, rows):
        return self.add_weight(
            name=f"{kind}_embeddings",
            shape=[rows, self.config.hidden_size],
            initializer=initializer(self.config),
            # A cast of the whole table would make the gathered rows' gradient
            # dense. The sum stays float32; LayerNorm gives the compute dtype.
            experimental_autocast=False,
        )

    def call(self, input_ids, segment_ids, training=None):
        """Embeds pieces.

        Args:
          input_ids: int32 [B, S], each in [0, V).
          segment_ids: int32 [B, S], each in [0, type_vocab_size).
          training: bool, whether dropout acts.

        Returns:
          float [B, S, D].

        Raises:
          UserError: S is larger than `max_position_embeddings`.
        """
        length = self._checked_length(input_ids)
        words = self._look_up_words(input_ids)
        # As in 2018 a product, not a gather: its gradient is dense, which
        # counts in the global norm that gradients are clipped to.
        segments = tf.one_hot(segment_ids, self.config.type_vocab_size)
        segments = tf.einsum(
            "bst,td->bsd", segments, self.token_type_embeddings
        )
        summed = words + segments + self.position_embeddings[:length]
        return self.dropout(self.layer_norm(summed), training=training)

    def _look_up_words(self, input_ids):
        if not self.use_one_hot_embeddings:
            return tf.gather(self.word_embeddings, input_ids)
        one_hot = tf.one_hot(input_ids, self.config.vocab_size)  # [B, S, V]
        return tf.einsum("bsv,vd->bsd", one_hot, self.word_embeddings)

    def _checked_length(self, input_ids):
        longest = self.config.max_position_embeddings
        if input_ids.shape[1] is not None:
            require_length(input_ids.shape[1], longest)
            return input_ids.shape[1]
        length = tf.shape(input_ids)[1]
        # Only known when it runs, so this cannot be a UserError.
        tf.debugging.assert_less_equal(
            length,
            longest,
            "The input has more pieces a row than `max_position_embeddings`.",
        )
        return length


def require_length(length, longest):
    """Checks a sequence length that is known when the graph is made.

    Raises:
      UserError: `length` is larger than `longest`.
    """
    if length > longest:
        raise UserError(
            f"The input has {length} pieces a row, but the model's "
            f"`max_position_embeddings` is {longest}: it has no position "
            "embedding for the rest. Shorten the input (max_seq_length) or "
            "use a longer model."
        )


class SelfAttention(tf_keras.layers.Layer):
    """Lets each position look at all others, with N heads.

    Source: `attention_layer` in modeling.py (2018), for a sequence that looks
      at itself.
    """

    def __init__(self, config, *, name):
        super().__init__(name=name)
        self.num_heads = config.num_attention_heads
        self.head_size = config.hidden_size // config.num_attention_heads
        self.query = dense(config, config.hidden_size, name="query")
        self.key = dense(config, config.hidden_size, name="key")
        self.value = dense(config, config.hidden_size, name="value")
        self.dropout = Dropout(config.attention_probs_dropout_prob)

    def call(self, x, mask_adder, training=None):
        """Attends.

        Args:
          x: float [B, S, D].
          mask_adder: float32 [B, 1, 1, T], added to the scores; large and
            negative where a position must not be looked at.
          training: bool, whether dropout acts on the attention probabilities.

        Returns:
          float [B, S, D], the heads side by side.
        """
        # 2018 scales the scores, of which there are more.
        query = self.query(x) / math.sqrt(self.head_size)
        query = self._split_heads(query)
        key = self._split_heads(self.key(x))
        value = self._split_heads(self.value(x))
        scores = tf.matmul(query, key, transpose_b=True)  # [B, N, F, T]
        scores = tf.cast(scores, tf.float32) + mask_adder
        probabilities = tf.nn.softmax(scores)
        probabilities = tf.cast(probabilities, self.compute_dtype)
        probabilities = self.dropout(probabilities, training=training)
        context = tf.matmul(probabilities, value)  # [B, N, F, H]
        context = tf.transpose(context, [0, 2, 1, 3])  # [B, F, N, H]
        return tf.reshape(context, tf.shape(x))

    def _split_heads(self, x):
        length = x.shape[1] or tf.shape(x)[1]
        x = tf.reshape(x, [-1, length, self.num_heads, self.head_size])
        return tf.transpose(x, [0, 2, 1, 3])  # [B, N, S, H]


class ResidualOutput(tf_keras.layers.Layer):
    """Projects to D, drops out, adds the residual, normalizes.

    Source: the scopes `attention/output` and `output` of `transformer_model`
      in modeling.py (2018).
    """

    def __init__(self, config, *, name):
        super().__init__(name=name)
        self.dense = dense(config, config.hidden_size, name="dense")
        self.dropout = Dropout(config.hidden_dropout_prob)
        self.layer_norm = LayerNorm(config)

    def call(self, x, residual, training=None):
        """Maps float [B, S, any] and the residual [B, S, D] to [B, S, D]."""
        x = self.dropout(self.dense(x), training=training)
        return self.layer_norm(x + residual)


class TransformerLayer(tf_keras.layers.Layer):
    """One layer of the encoder: self-attention, then feed-forward.

    Source: the body of the loop in `transformer_model`, modeling.py (2018).
    """

    def __init__(self, config, *, name):
        super().__init__(name=name)
        self.attention = SelfAttention(config, name="attention/self")
        self.attention_output = ResidualOutput(config, name="attention/output")
        self.intermediate = dense(
            config,
            config.intermediate_size,
            name="intermediate/dense",
            activation_name=config.hidden_act,
        )
        self.feed_forward_output = ResidualOutput(config, name="output")

    def call(self, x, mask_adder, training=None):
        """Maps float [B, S, D] to the same; see SelfAttention for the rest."""
        context = self.attention(x, mask_adder, training=training)
        x = self.attention_output(context, x, training=training)
        return self.feed_forward_output(
            self.intermediate(x), x, training=training
        )


class MaskAdder(tf_keras.layers.Layer):
    """Turns the input mask into what is added to attention scores.

    Source: `create_attention_mask_from_input_mask` and `attention_layer` in
      modeling.py (2018), which made the same values as [B, 1, F, T].
    """

    def call(self, input_mask):
        """Maps int32 [B, T], 1 for a piece and 0 for padding, to float32
        [B, 1, 1, T]: 0 for a piece, -10000 for padding."""
        mask = tf.cast(input_mask[:, None, None, :], tf.float32)
        return (1.0 - mask) * MASK_ADDER


class Pooler(tf_keras.layers.Layer):
    """Makes one vector a row of its first position ([CLS]).

    Source: the scope `pooler` of `BertModel` in modeling.py (2018).
    """

    def __init__(self, config, *, name):
        super().__init__(name=name)
        self.dense = dense(
            config, config.hidden_size, name="dense", activation_name="tanh"
        )

    def call(self, sequence_output):
        """Maps float [B, S, D] to [B, D]."""
        return self.dense(sequence_output[:, 0])
