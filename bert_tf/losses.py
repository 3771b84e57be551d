"""The two losses of pre-training.

Dimension letters: B batch, P masked positions, V vocabulary.
"""

import tensorflow as tf


def masked_lm_loss(logits, ids, weights):
    """Averages the cross entropy of the masked pieces.

    Args:
      logits: float32 [B, P, V].
      ids: int [B, P], the pieces that were masked, each in [0, V).
      weights: float32 [B, P], 1 for a masked piece, 0 for padding.

    Returns:
      loss: float32 scalar, the weighted mean; 0 if no weight is set.
      example_loss: float32 [B, P], the cross entropy of each, unweighted.

    Source: `get_masked_lm_output` in run_pretraining.py (2018), which returned
      `example_loss` as [B * P].
    """
    example_loss = tf.nn.sparse_softmax_cross_entropy_with_logits(ids, logits)
    weights = tf.cast(weights, tf.float32)
    weighted_sum = tf.reduce_sum(weights * example_loss)
    # 2018 adds 1e-5 so that a batch without a masked token gives 0, not NaN.
    loss = weighted_sum / (tf.reduce_sum(weights) + 1e-5)
    return loss, example_loss


def next_sentence_loss(logits, labels):
    """Averages the cross entropy of the next-sentence labels.

    Args:
      logits: float32 [B, 2].
      labels: int [B] or [B, 1]; 0 the next sentence, 1 a random one.

    Returns:
      loss: float32 scalar, the mean.
      example_loss: float32 [B].

    Source: `get_next_sentence_output` in run_pretraining.py (2018).
    """
    labels = tf.reshape(labels, [-1])
    example_loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels, logits
    )
    return tf.reduce_mean(example_loss), example_loss
