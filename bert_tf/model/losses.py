"""What training makes small: the losses of each job.

Dimension letters: B batch, S sequence length, P masked positions, V vocabulary,
L labels.
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


def classification_loss(logits, labels):
    """Averages the cross entropy of labels, next-sentence labels included.

    Args:
      logits: float32 [B, L].
      labels: int [B] or [B, 1], each in [0, L).

    Returns:
      loss: float32 scalar, the mean.
      example_loss: float32 [B].

    Source: `get_next_sentence_output` in run_pretraining.py and `create_model`
      in run_classifier.py (2018).
    """
    labels = tf.reshape(labels, [-1])
    example_loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels, logits
    )
    return tf.reduce_mean(example_loss), example_loss


def regression_loss(predictions, values):
    """Averages the squared errors.

    Args:
      predictions: float32 [B, 1].
      values: float [B] or [B, 1].

    Returns:
      loss: float32 scalar, the mean.
      example_loss: float32 [B].

    Source: none; 2018 had no regression.
    """
    errors = tf.reshape(predictions, [-1]) - tf.reshape(values, [-1])
    return tf.reduce_mean(errors**2), errors**2


def multi_label_loss(logits, labels):
    """Averages the cross entropy of labels of which several may hold.

    Args:
      logits: float32 [B, L].
      labels: int [B, L] of 0 and 1.

    Returns:
      loss: float32 scalar, the mean.
      example_loss: float32 [B], the mean over the labels.

    Source: none; 2018 had no such task.
    """
    label_loss = tf.nn.sigmoid_cross_entropy_with_logits(
        tf.cast(labels, tf.float32), logits
    )  # [B, L]
    example_loss = tf.reduce_mean(label_loss, axis=-1)  # [B]
    return tf.reduce_mean(example_loss), example_loss


def span_loss(start_logits, end_logits, start_positions, end_positions):
    """Averages the cross entropy of an answer's two ends.

    Args:
      start_logits: float32 [B, S]; padding takes part.
      end_logits: float32 [B, S].
      start_positions: int [B] or [B, 1], each in [0, S).
      end_positions: int [B] or [B, 1], each in [0, S).

    Returns:
      float32 scalar, the mean of the two means.

    Source: `model_fn_builder` in run_squad.py (2018).
    """
    start_loss, _ = classification_loss(start_logits, start_positions)
    end_loss, _ = classification_loss(end_logits, end_positions)
    return (start_loss + end_loss) / 2.0
