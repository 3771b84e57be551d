"""B=2, S=7, P=5, D=12, V=61."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from bert_tf.config import BertConfig
from bert_tf.model import activations, heads

CONFIG = BertConfig(
    vocab_size=61, hidden_size=12, num_attention_heads=3, hidden_act="tanh"
)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def test_gather_positions_keeps_the_order_of_positions():
    # Row 0 counts from 0, row 1 from 84; a position has 12 numbers.
    sequence_output = tf.reshape(tf.range(2 * 7 * 12), [2, 7, 12])
    picked = heads.gather_positions(
        sequence_output, [[2, 0, 6, 6, 1], [1, 1, 0, 0, 0]]
    )
    assert picked.shape == [2, 5, 12]
    np.testing.assert_array_equal(
        picked[..., 0], [[24, 0, 72, 72, 12], [96, 96, 84, 84, 84]]
    )
    np.testing.assert_array_equal(picked[0, 0], range(24, 36))


def test_project_keeps_leading_dimensions():
    # B=2, P=1, D=2, L=3: rows of weights are outputs.
    logits = heads.project(
        tf.constant([[[1.0, 2.0]], [[0.0, 1.0]]]),
        tf.constant([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]]),
        tf.constant([0.0, 0.0, 0.5]),
    )
    np.testing.assert_array_equal(
        logits, [[[1.0, 2.0, 11.5]], [[0.0, 1.0, 4.5]]]
    )


def test_masked_lm_is_tied_to_the_word_embeddings():
    table = tf.Variable(normal(61, 12))
    head = heads.MaskedLanguageModel(CONFIG, table)
    x, positions = normal(2, 7, 12, seed=1), [[2, 0, 6, 6, 1], [1, 1, 0, 0, 0]]
    logits = head(x, tf.constant(positions))
    assert logits.shape == [2, 5, 61]
    head.output_bias.assign(normal(61, seed=2))
    transform = head.transform
    hidden = np.tanh(
        np.take_along_axis(x, np.array(positions)[..., None], axis=1)
        @ transform.dense.kernel.numpy()
    )
    hidden = activations.normalize(
        tf.constant(hidden),
        *(tf.constant(w) for w in transform.layer_norm.get_weights()),
        1e-12,
    )
    np.testing.assert_allclose(
        head(x, tf.constant(positions)),
        hidden.numpy() @ table.numpy().T + normal(61, seed=2),
        # Sums of a dozen terms, the hidden ones divided by a deviation < 0.1.
        atol=1e-4,
    )


def test_masked_lm_gradient_of_the_words_is_dense():
    # Where the table is both input and output, 2018 summed its gradient.
    table = tf.Variable(normal(61, 12))
    head = heads.MaskedLanguageModel(CONFIG, table)
    with tf.GradientTape() as tape:
        words = tf.gather(table, [[1, 1, 2]])
        loss = tf.reduce_sum(head(words, tf.constant([[0, 1]])))
    assert isinstance(tape.gradient(loss, table), tf.Tensor)


def test_next_sentence():
    head = heads.NextSentence(CONFIG)
    x = normal(2, 12)
    head(x)
    head.output_bias.assign([1.0, -1.0])
    assert head.output_weights.shape == [2, 12]
    np.testing.assert_allclose(
        head(x),
        x @ head.output_weights.numpy().T + [1.0, -1.0],
        atol=2e-6,  # sums of a dozen float32 terms
    )


def test_classifier_drops_out_in_training_only():
    head = heads.Classifier(CONFIG, 3)
    x = normal(2, 12)
    head(x)
    assert head.output_weights.shape == [3, 12]
    np.testing.assert_allclose(
        head(x), x @ head.output_weights.numpy().T, atol=2e-6
    )
    trained = [head(x, training=True).numpy() for _ in range(2)]
    assert np.abs(trained[0] - trained[1]).max() > 0


@pytest.fixture
def mixed_bfloat16():
    tf_keras.mixed_precision.set_global_policy("mixed_bfloat16")
    yield
    tf_keras.mixed_precision.set_global_policy("float32")


@pytest.mark.usefixtures("mixed_bfloat16")
def test_logits_are_float32_in_mixed_precision():
    x = tf.cast(normal(2, 7, 12), tf.bfloat16)
    masked_lm = heads.MaskedLanguageModel(CONFIG, tf.Variable(normal(61, 12)))
    assert masked_lm(x, tf.zeros([2, 5], tf.int32)).dtype == tf.float32
    assert heads.NextSentence(CONFIG)(x[:, 0]).dtype == tf.float32
