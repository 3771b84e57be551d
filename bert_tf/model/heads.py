"""What stands on the encoder: the heads of each job.

Dimension letters: B batch, S sequence length, P masked positions, D
hidden_size, V vocabulary, L labels.
"""

import tensorflow as tf
import tf_keras

from bert_tf.model import layers
from bert_tf.model.activations import initializer
from bert_tf.model.dropout import Dropout


def gather_positions(sequence_output, positions):
    """Picks the encoder's vectors at the masked positions.

    Args:
      sequence_output: float [B, S, D], the last layer.
      positions: int32 [B, P], each in [0, S); padding entries are 0.

    Returns:
      float [B, P, D], in the order of `positions`.

    Source: `gather_indexes` in run_pretraining.py (2018), which returned
      [B * P, D].
    """
    return tf.gather(sequence_output, positions, batch_dims=1)


class Transform(tf_keras.layers.Layer):
    """Prepares vectors for the vocabulary: dense, activation, LayerNorm.

    Source: the scope `cls/predictions/transform` of `get_masked_lm_output` in
      run_pretraining.py (2018).
    """

    def __init__(self, config, *, name):
        super().__init__(name=name)
        self.dense = layers.dense(
            config,
            config.hidden_size,
            name="dense",
            activation_name=config.hidden_act,
        )
        self.layer_norm = layers.LayerNorm(config)

    def call(self, x):
        """Maps float [B, P, D] to the same."""
        return self.layer_norm(self.dense(x))


class MaskedLanguageModel(tf_keras.layers.Layer):
    """Scores every piece of the vocabulary for each masked position.

    Args:
      config: BertConfig.
      word_embeddings: float32 variable [V, D]; the output weights are tied to
        it.

    Source: `get_masked_lm_output` in run_pretraining.py (2018).
    """

    def __init__(self, config, word_embeddings, *, name="cls/predictions"):
        super().__init__(name=name)
        self.transform = Transform(config, name="transform")
        self.word_embeddings = word_embeddings

    def build(self, input_shape):
        self.output_bias = self.add_weight(
            name="output_bias",
            shape=[self.word_embeddings.shape[0]],
            initializer="zeros",
            experimental_autocast=False,
        )
        super().build(input_shape)

    def call(self, sequence_output, positions):
        """Maps float [B, S, D] and int32 positions [B, P], each in [0, S), to
        float32 logits [B, P, V]."""
        picked = gather_positions(sequence_output, positions)  # [B, P, D]
        return project(
            self.transform(picked), self.word_embeddings, self.output_bias
        )


class Output(tf_keras.layers.Layer):
    """Makes logits of vectors, by weights stored one row an output.

    Args:
      config: BertConfig.
      num_outputs: int, L.
      name: str, the scope of its variables.
    """

    def __init__(self, config, num_outputs, *, name):
        super().__init__(name=name)
        self.config = config
        self.num_outputs = num_outputs

    def build(self, input_shape):
        self.output_weights = self.add_weight(
            name="output_weights",
            shape=[self.num_outputs, self.config.hidden_size],
            initializer=initializer(self.config),
        )
        self.output_bias = self.add_weight(
            name="output_bias",
            shape=[self.num_outputs],
            initializer="zeros",
            experimental_autocast=False,
        )
        super().build(input_shape)

    def call(self, x):
        """Maps float [..., D] to float32 [..., L]."""
        return project(x, self.output_weights, self.output_bias)


class NextSentence(Output):
    """Scores whether the second segment follows the first.

    Maps float [B, D], the pooled output, to float32 logits [B, 2]: 0 next, 1
    random.

    Source: `get_next_sentence_output` in run_pretraining.py (2018).
    """

    def __init__(self, config, *, name="cls/seq_relationship"):
        super().__init__(config, 2, name=name)


class AnswerSpan(Output):
    """Scores each position as an answer's first and as its last.

    Maps float [B, S, D], the last layer, to float32 logits [B, S, 2].

    Source: `create_model` in run_squad.py (2018).
    """

    def __init__(self, config, *, name="cls/squad"):
        super().__init__(config, 2, name=name)


class Classifier(Output):
    """Scores the labels of a text or a pair.

    Its variables have no scope in 2018; `loading.variable_names` takes this
    one off.

    Source: `create_model` in run_classifier.py (2018).
    """

    SCOPE = "classifier"

    def __init__(self, config, num_outputs):
        super().__init__(config, num_outputs, name=self.SCOPE)
        # 2018's rate here is not the configuration's.
        self.dropout = Dropout(0.1)

    def call(self, pooled_output, training=None):
        """Maps float [B, D] to float32 logits [B, L]."""
        return super().call(self.dropout(pooled_output, training=training))


def project(x, output_weights, output_bias):
    """Multiplies by weights that are stored one row an output.

    Args:
      x: float [..., D].
      output_weights: float [L, D].
      output_bias: float32 [L].

    Returns:
      float32 [..., L], whatever the dtype of `x`: logits go into a softmax.
    """
    weights = tf.cast(output_weights, x.dtype)
    flat = tf.reshape(x, [-1, x.shape[-1]])
    logits = tf.matmul(flat, weights, transpose_b=True)
    logits = tf.cast(logits, tf.float32) + output_bias
    if x.shape.rank == 2:
        return logits
    return tf.reshape(
        logits, tf.concat([tf.shape(x)[:-1], [weights.shape[0]]], axis=0)
    )
