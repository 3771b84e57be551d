"""Dropout whose random state can be kept, and which is cheap on a TPU."""

import tensorflow as tf
import tf_keras


class Dropout(tf_keras.layers.Layer):
    """Sets a share of the numbers to 0 and scales up the rest, in training.

    Each call draws a seed from the layer's own tf.random.Generator, and the
    mask from that seed. The generator's state is a variable, so that a resumed
    run can go on with the masks of an uninterrupted one (tf_keras's layer in
    its usual form cannot); and the many numbers of the mask come from whatever
    generator is fast on the device. (From a tf.random.Generator itself, which
    is what `force_generator` of tf_keras's layer does, they take a TPU several
    times as much memory traffic as the rest of BERT.)

    Args:
      rate: float, the share; 0 for no dropout.
      name: str.

    Source: `dropout` in modeling.py (2018).
    """

    def __init__(self, rate, *, name="dropout"):
        super().__init__(name=name)
        self.rate = rate
        self.generator = None

    def build(self, input_shape):
        # Outside of any graph: a layer may be built while one is traced.
        with tf.init_scope():
            seed = tf.random.uniform([], maxval=2**31 - 1, dtype=tf.int32)
            self.generator = tf.random.Generator.from_seed(int(seed))
        super().build(input_shape)

    def call(self, x, training=None):
        """Maps a float tensor to one like it; the same without `training`."""
        if not training or not self.rate:
            return x
        seed = self.generator.make_seeds()[:, 0]
        return tf.nn.experimental.stateless_dropout(
            x, self.rate, tf.cast(seed, tf.int32), rng_alg="auto_select"
        )

    def get_config(self):
        return {**super().get_config(), "rate": self.rate}


def dropout_states(model):
    """Lists the random states of a model's dropout layers.

    They are not among the model's own variables, nor in its checkpoints. To
    go on as an uninterrupted run would, assign the values that were read when
    it stopped.

    Args:
      model: tf_keras.Model or Layer, built.

    Returns:
      dict: name (str), such as "bert/embeddings/dropout", -> int64 variable
      [3].
    """
    return {
        layer.generator.state.name.partition("/StateVar")[0]: (
            layer.generator.state
        )
        for layer in (model, *model.submodules)
        if isinstance(layer, Dropout)
    }
