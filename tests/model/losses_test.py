import numpy as np
import tensorflow as tf

from bert_tf.model import losses


def test_masked_lm_loss_leaves_out_weight_zero():
    # B=2, P=2, V=3. Scores (0, 0, log 2) have probabilities 1/4, 1/4, 1/2.
    row = [0.0, 0.0, np.log(2.0)]
    loss, example_loss = losses.masked_lm_loss(
        tf.constant([[row, row], [row, [9.0, 0.0, 0.0]]], tf.float32),
        tf.constant([[0, 2], [1, 2]]),
        tf.constant([[1.0, 1.0], [1.0, 0.0]]),
    )
    four, two = np.log(4.0), np.log(2.0)
    np.testing.assert_allclose(
        example_loss, [[four, two], [four, 9.000247]], rtol=1e-5
    )
    # 2018's 1e-5 shows in the sixth digit, hence the fine tolerance.
    np.testing.assert_allclose(loss, (2 * four + two) / (3.0 + 1e-5), rtol=3e-7)


def test_masked_lm_loss_without_a_masked_piece_is_zero():
    loss, _ = losses.masked_lm_loss(
        tf.ones([2, 5, 7]), tf.zeros([2, 5], tf.int64), tf.zeros([2, 5])
    )
    assert loss.numpy() == 0.0


def test_masked_lm_loss_takes_large_logits():
    loss, _ = losses.masked_lm_loss(
        tf.constant([[[1e4, -1e4, 0.0]]]), tf.constant([[1]]), [[1.0]]
    )
    np.testing.assert_allclose(loss, 2e4, rtol=2e-5)


def test_classification_loss_takes_labels_as_rows_or_columns():
    # B=3. Scores (0, log 3) have probabilities 1/4, 3/4.
    logits = tf.constant([[0.0, np.log(3.0)]] * 3, tf.float32)
    expected = -np.log([0.25, 0.75, 0.75])
    for labels in ([0, 1, 1], [[0], [1], [1]]):
        loss, example_loss = losses.classification_loss(
            logits, tf.constant(labels, tf.int64)
        )
        np.testing.assert_allclose(example_loss, expected, rtol=1e-6)
        np.testing.assert_allclose(loss, expected.mean(), rtol=1e-6)


def test_regression_loss_is_the_squared_error():
    predictions = tf.constant([[1.0], [2.0], [4.0]])
    for values in ([1.0, 0.0, 5.0], [[1.0], [0.0], [5.0]]):
        loss, example_loss = losses.regression_loss(
            predictions, tf.constant(values)
        )
        np.testing.assert_array_equal(example_loss, [0, 4, 1])
        np.testing.assert_allclose(loss, 5 / 3, rtol=1e-6)


def test_multi_label_loss_is_the_mean_over_labels():
    # B=2, L=3. A logit of log 3 has probability 3/4.
    log3 = np.log(3.0)
    logits = tf.constant([[log3, -log3, 0.0], [log3, log3, 0.0]], tf.float32)
    loss, example_loss = losses.multi_label_loss(
        logits, tf.constant([[1, 0, 1], [0, 1, 0]])
    )
    right, wrong, half = -np.log([0.75, 0.25, 0.5])
    expected = [(2 * right + half) / 3, (wrong + right + half) / 3]
    np.testing.assert_allclose(example_loss, expected, rtol=1e-6)
    np.testing.assert_allclose(loss, np.mean(expected), rtol=1e-6)


def test_span_loss_is_the_mean_of_both_ends():
    # B=2, S=3. Scores (0, 0, log 2) have probabilities 1/4, 1/4, 1/2.
    row = [0.0, 0.0, np.log(2.0)]
    logits = tf.constant([row, row], tf.float32)
    loss = losses.span_loss(
        logits, logits, tf.constant([[0], [2]]), tf.constant([[2], [2]])
    )
    four, two = np.log(4.0), np.log(2.0)
    expected = ((four + two) / 2 + two) / 2
    np.testing.assert_allclose(loss, expected, rtol=1e-6)
