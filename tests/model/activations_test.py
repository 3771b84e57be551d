import math

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.config import BertConfig
from bert_tf.model import activations

CONFIG = BertConfig(vocab_size=61)


def test_gelu_is_the_tanh_form():
    # By the formula; the exact (erf) form gives 0.841345 at 1.
    np.testing.assert_allclose(
        activations.gelu(tf.constant([-30.0, -1.0, 0.0, 1.0, 3.0, 30.0])),
        [0.0, -0.158808, 0.0, 0.841192, 2.996363, 30.0],
        atol=1e-6,
    )


def test_gelu_gradient_is_the_slope():
    x = np.linspace(-6.0, 6.0, 101)
    with tf.GradientTape() as tape:
        x32 = tf.constant(x, tf.float32)
        tape.watch(x32)
        y = activations.gelu(x32)
    inner = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    slope = np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x**2)
    expected = (
        0.5 * (1 + np.tanh(inner)) + 0.5 * x * slope / np.cosh(inner) ** 2
    )
    np.testing.assert_allclose(tape.gradient(y, x32), expected, atol=2e-6)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gelu", [-0.0454023, 0.5 * 0.6914625]),
        ("relu", [0.0, 0.5]),
        ("tanh", [np.tanh(-2.0), np.tanh(0.5)]),
        ("linear", [-2.0, 0.5]),
        ("", [-2.0, 0.5]),
    ],
)
def test_activation(name, expected):
    # gelu's numbers are the erf form's, from which the tanh form is < 1e-3 off.
    np.testing.assert_allclose(
        activations.activation(name)(tf.constant([-2.0, 0.5])),
        expected,
        atol=1e-3,
    )


def test_initializer_is_truncated_normal_and_new_each_time():
    first = activations.initializer(CONFIG)([200, 100]).numpy()
    second = activations.initializer(CONFIG)([200, 100]).numpy()
    assert not np.array_equal(first, second)
    # Two standard deviations are the limit; tf_keras, like 2018, does not
    # widen the distribution to make up for what is cut off (0.8796 remains).
    assert np.abs(first).max() <= 2 * 0.02
    assert np.abs(first).max() > 1.9 * 0.02
    np.testing.assert_allclose(first.std(), 0.8796 * 0.02, rtol=0.02)


def test_gelu_erf_is_the_exact_form():
    x = np.float32([-3, -1, 0, 0.5, 2])
    exact = [0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in x]
    y = activations.activation("gelu_erf")(tf.constant(x))
    np.testing.assert_allclose(y, exact, atol=1e-6)
    # The two forms differ by up to 5e-4.
    assert 1e-4 < np.abs(y - activations.gelu(tf.constant(x))).max() < 1e-3


def test_normalize_gradient_is_that_of_its_formula():
    rng = np.random.default_rng(0)
    x, upstream = tf.constant(rng.normal(size=[2, 2, 7, 12]), tf.float32)
    gamma, beta = tf.constant(rng.normal(size=[2, 12]), tf.float32)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, gamma, beta])
        by_function = activations.normalize(x, gamma, beta, 1e-12)
        by_function = tf.reduce_sum(by_function * upstream)
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        by_hand = (x - mean) / tf.sqrt(variance + 1e-12) * gamma + beta
        by_hand = tf.reduce_sum(by_hand * upstream)
    for tensor in (x, gamma, beta):
        # Sums of 14 terms.
        np.testing.assert_allclose(
            tape.gradient(by_function, tensor),
            tape.gradient(by_hand, tensor),
            atol=1e-5,
        )
