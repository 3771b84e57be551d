"""Tests of clipping gradients by their global norm."""

import numpy as np
import tensorflow as tf

from bert_tf.training import optimization


def test_clipping_counts_the_rows_of_indexed_slices_one_by_one():
    # Rows of 6 and 8 for one id: 10, where their sum would count 14.
    slices = tf.IndexedSlices(
        tf.constant([[6.0], [8.0]]), [1, 1], dense_shape=[4, 1]
    )
    (clipped,), norm = optimization.clip_gradients([slices])
    assert isinstance(clipped, tf.IndexedSlices)
    np.testing.assert_allclose(norm, 10.0, rtol=1e-6)
    np.testing.assert_allclose(clipped.values, [[0.6], [0.8]], rtol=1e-6)


def test_clipping_leaves_small_gradients_and_none_alone():
    gradients = [tf.constant([0.3, 0.4]), None]
    clipped, norm = optimization.clip_gradients(gradients)
    np.testing.assert_allclose(norm, 0.5, rtol=1e-6)
    np.testing.assert_allclose(clipped[0], [0.3, 0.4], rtol=1e-6)
    assert clipped[1] is None


def test_clipping_takes_all_gradients_together():
    gradients = [tf.constant([3.0]), tf.constant([[4.0]])]
    clipped, _ = optimization.clip_gradients(gradients, clip_norm=2.5)
    np.testing.assert_allclose(clipped[0], [1.5], rtol=1e-6)
    np.testing.assert_allclose(clipped[1], [[2.0]], rtol=1e-6)


def test_clipping_shows_a_norm_that_is_not_finite():
    clipped, _ = optimization.clip_gradients([tf.constant([np.inf, 1.0])])
    assert np.isnan(clipped[0]).all()
