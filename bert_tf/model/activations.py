"""The functions of 2018 that layers are made of: no state, no variables.

Dimension letters: D hidden_size.
"""

import math

import tensorflow as tf
import tf_keras


def initializer(config):
    """Returns a new truncated normal initializer of `initializer_range`.

    One for each variable: tf_keras gives equal values to every variable that
    shares an initializer.

    Source: `create_initializer` in modeling.py (2018).
    """
    return tf_keras.initializers.TruncatedNormal(
        stddev=config.initializer_range
    )


# gelu's tanh form, 0.5 x (1 + tanh(u)), is x sigmoid(2u) with
# 2u = x (_GELU_LINEAR + _GELU_CUBIC x^2).
_GELU_LINEAR = 2.0 * math.sqrt(2.0 / math.pi)
_GELU_CUBIC = 0.044715 * _GELU_LINEAR


@tf.custom_gradient
def gelu(x):
    """Gaussian error linear unit in its tanh form, of any shape and dtype.

    Source: `gelu` in modeling.py (2018). Written with a sigmoid and its
      gradient by hand, which takes half the passes over memory.
    """
    square = x * x
    gate = tf.sigmoid(x * (_GELU_LINEAR + _GELU_CUBIC * square))
    y = x * gate

    def gradient(upstream):
        slope = _GELU_LINEAR + 3.0 * _GELU_CUBIC * square
        return upstream * (gate + y * (1.0 - gate) * slope)

    return y, gradient


def activation(name):
    """Returns the function that `hidden_act` names.

    Args:
      name: str, one of `config.HIDDEN_ACTIVATIONS`; "linear" and "" stand for
        none.

    Source: `get_activation` in modeling.py (2018).
    """
    return {
        "gelu": gelu,
        "gelu_erf": tf.nn.gelu,  # its default is the exact form
        "relu": tf.nn.relu,
        "tanh": tf.tanh,
        "linear": tf.identity,
        "": tf.identity,
    }[name]


def normalize(x, gamma, beta, epsilon):
    """Normalizes the last axis to mean 0 and variance 1, then scales it.

    Args:
      x: float32 [..., D].
      gamma: float32 [D], the scale.
      beta: float32 [D], added last.
      epsilon: float, added to the variance.

    Returns:
      float32 [..., D].

    Source: `layer_norm` in modeling.py (2018). Its gradient is written by
      hand, which takes fewer passes over memory.
    """
    # Every argument of a function with a gradient of its own wants one.
    normalizing = tf.custom_gradient(lambda *args: _normalize(*args, epsilon))
    return normalizing(x, gamma, beta)


def _normalize(x, gamma, beta, epsilon):
    """Returns what is normalized, and the function of its gradient."""
    centred = x - tf.reduce_mean(x, axis=-1, keepdims=True)
    variance = tf.reduce_mean(centred * centred, axis=-1, keepdims=True)
    inverse = tf.math.rsqrt(variance + epsilon)
    normalized = centred * inverse

    def gradient(upstream):
        rows = list(range(x.shape.rank - 1))
        product = upstream * normalized
        scaled = upstream * gamma
        mean = tf.reduce_mean(scaled, axis=-1, keepdims=True)
        slope = tf.reduce_mean(product * gamma, axis=-1, keepdims=True)
        return (
            (scaled - mean - normalized * slope) * inverse,
            tf.reduce_sum(product, axis=rows),
            tf.reduce_sum(upstream, axis=rows),
        )

    return normalized * gamma + beta, gradient
