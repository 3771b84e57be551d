"""B=2, S=7, D=12, N=3 (H=4), V=61; 17 inner, 3 segments, 11 positions."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.model import layers
from bert_tf.model.dropout import Dropout, dropout_states

CONFIG = BertConfig(
    vocab_size=61,
    hidden_size=12,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=17,
    max_position_embeddings=11,
    type_vocab_size=3,
    hidden_dropout_prob=0.25,
    attention_probs_dropout_prob=0.25,
)
# float32 sums of a dozen terms of size 1.
TOLERANCE = 2e-6


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def embeddings(*, use_one_hot_embeddings=False):
    return layers.Embeddings(
        CONFIG,
        use_one_hot_embeddings=use_one_hot_embeddings,
        name="bert/embeddings",
    )


def test_layer_norm_divides_by_the_deviation_even_if_tiny():
    layer = layers.LayerNorm(CONFIG)
    x = normal(2, 7, 12)
    expected = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)
    np.testing.assert_allclose(layer(x), expected, atol=TOLERANCE)
    # A variance of 1e-8 is far above epsilon 1e-12, far below the 1e-3 of
    # tf_keras's default or the 1e-5 of fused kernels.
    np.testing.assert_allclose(
        layer(x * 1e-4),
        expected * np.sqrt(1 / (1 + 1e-4 / x.var(-1, keepdims=True))),
        atol=1e-5,
    )


def test_layer_norm_takes_the_configuration_s_epsilon():
    layer = layers.LayerNorm(dataclasses.replace(CONFIG, layer_norm_eps=0.25))
    # The variance of (-1, 1) is 1: divided by sqrt(1.25).
    np.testing.assert_allclose(
        layer(tf.constant([[-1.0, 1.0]])), [[-0.894427, 0.894427]], rtol=1e-6
    )


def test_layer_norm_applies_gamma_and_beta():
    layer = layers.LayerNorm(CONFIG)
    layer.build([None, 3])
    layer.set_weights([np.float32([1, 2, 3]), np.float32([10, 20, 30])])
    # The deviation of (-1, 0, 1) is sqrt(2/3).
    np.testing.assert_allclose(
        layer(tf.constant([[4.0, 5.0, 6.0]])),
        [[10 - 1.224745, 20, 30 + 3 * 1.224745]],
        rtol=1e-6,
    )


def test_embeddings_sum_the_three_tables_and_normalize():
    layer = embeddings()
    input_ids = np.int32([[5, 60, 0, 1, 2, 3, 4], [7, 7, 7, 8, 8, 8, 9]])
    segment_ids = np.int32([[0, 0, 1, 1, 1, 2, 2], [0] * 7])
    output = layer(input_ids, segment_ids, training=False)
    summed = (
        layer.word_embeddings.numpy()[input_ids]
        + layer.token_type_embeddings.numpy()[segment_ids]
        + layer.position_embeddings.numpy()[:7]
    )
    deviation = summed.std(-1, keepdims=True)
    np.testing.assert_allclose(
        output,
        (summed - summed.mean(-1, keepdims=True)) / deviation,
        # Numbers of size 0.02 are divided by their deviation.
        atol=1e-5,
    )


def test_embeddings_one_hot_gives_the_same():
    gathering, multiplying = (
        embeddings(use_one_hot_embeddings=flag) for flag in (False, True)
    )
    input_ids = np.arange(14, dtype=np.int32).reshape(2, 7) * 4
    segment_ids = np.zeros([2, 7], np.int32)
    gathering(input_ids, segment_ids)
    multiplying(input_ids, segment_ids)
    multiplying.set_weights(gathering.get_weights())
    np.testing.assert_allclose(
        gathering(input_ids, segment_ids),
        multiplying(input_ids, segment_ids),
        atol=TOLERANCE,
    )


@pytest.fixture
def set_policy():
    """Sets the precision policy of the layers that a test makes."""
    yield tf_keras.mixed_precision.set_global_policy
    tf_keras.mixed_precision.set_global_policy("float32")


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16"])
def test_embeddings_gradients_are_slices_for_words_only(policy, set_policy):
    # The global norm that 2018 clips to counts repeated words one by one, and
    # the other two tables as wholes.
    set_policy(policy)
    layer = embeddings()
    ids = np.int32([[5, 5, 6]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.cast(layer(ids, ids * 0), tf.float32) ** 3)
    words, segments, positions = tape.gradient(
        loss,
        [
            layer.word_embeddings,
            layer.token_type_embeddings,
            layer.position_embeddings,
        ],
    )
    assert isinstance(words, tf.IndexedSlices)
    np.testing.assert_array_equal(words.indices, [5, 5, 6])
    assert isinstance(segments, tf.Tensor)
    assert isinstance(positions, tf.Tensor)


def test_embeddings_too_long_is_an_error():
    ids = np.zeros([2, 12], np.int32)
    with pytest.raises(UserError, match="12 pieces.*embeddings` is 11"):
        layers.require_length(12, 11)
    with pytest.raises(UserError, match="12 pieces.*embeddings` is 11"):
        embeddings()(ids, ids)


def test_embeddings_too_long_is_seen_when_only_the_run_knows():
    layer = embeddings()
    spec = tf.TensorSpec([None, None], tf.int32)
    embed = tf.function(layer, input_signature=[spec, spec])
    assert embed(tf.zeros([2, 11], tf.int32), tf.zeros([2, 11], tf.int32)).shape
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="max_position_embeddings"
    ):
        embed(tf.zeros([2, 12], tf.int32), tf.zeros([2, 12], tf.int32))


def test_mask_adder():
    # B=2, T=3.
    adder = layers.MaskAdder()(tf.constant([[1, 1, 0], [1, 0, 0]]))
    np.testing.assert_array_equal(
        adder, [[[[0, 0, -10000]]], [[[0, -10000, -10000]]]]
    )


def attend(layer, x, adder):
    """Self-attention by numpy, head after head."""
    size, heads = 4, []
    query, key, value = (
        x @ projection.kernel.numpy() + projection.bias.numpy()
        for projection in (layer.query, layer.key, layer.value)
    )
    for start in range(0, x.shape[-1], size):
        part = slice(start, start + size)
        scores = query[..., part] @ key[..., part].transpose(0, 2, 1)
        scores = scores / np.sqrt(size) + adder[:, 0]
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        heads.append(weights @ value[..., part])
    return np.concatenate(heads, axis=-1)


def test_self_attention():
    layer = layers.SelfAttention(CONFIG, name="attention/self")
    x = normal(2, 7, 12)
    adder = np.zeros([2, 1, 1, 7], np.float32)
    adder[1, ..., 4:] = -10000.0
    layer(x, adder)
    layer.set_weights(
        [normal(*w.shape, seed=i) for i, w in enumerate(layer.get_weights())]
    )
    np.testing.assert_allclose(
        layer(x, adder), attend(layer, x, adder), atol=1e-5
    )


def test_self_attention_ignores_masked_positions():
    layer = layers.SelfAttention(CONFIG, name="attention/self")
    x, adder = normal(1, 7, 12), np.zeros([1, 1, 1, 7], np.float32)
    adder[..., 5:] = -10000.0
    changed = x.copy()
    changed[:, 5:] = 9.0
    np.testing.assert_array_equal(
        layer(x, adder)[:, :5], layer(changed, adder)[:, :5]
    )


def test_residual_output():
    layer = layers.ResidualOutput(CONFIG, name="output")
    x, residual = normal(2, 7, 17), normal(2, 7, 12, seed=1)
    output = layer(x, residual, training=False)
    summed = x @ layer.dense.kernel.numpy() + residual
    deviation = summed.std(-1, keepdims=True)
    np.testing.assert_allclose(
        output,
        (summed - summed.mean(-1, keepdims=True)) / deviation,
        atol=TOLERANCE,
    )


def test_pooler_takes_the_first_position():
    layer = layers.Pooler(CONFIG, name="pooler")
    x = normal(2, 7, 12)
    np.testing.assert_allclose(
        layer(x), np.tanh(x[:, 0] @ layer.dense.kernel.numpy()), atol=TOLERANCE
    )


def test_dropout_is_where_2018_has_it():
    # One on the embeddings; in a Transformer layer one on the attention
    # probabilities and one on each of the two outputs.
    assert embeddings().dropout.rate == 0.25
    layer = layers.TransformerLayer(CONFIG, name="layer_0")
    dropouts = [part for part in layer.submodules if isinstance(part, Dropout)]
    assert len(dropouts) == 3


@pytest.mark.parametrize("part", ["embeddings", "attention", "output"])
def test_each_dropout_acts_in_training_only(part):
    x, zero = normal(2, 7, 12), np.zeros([2, 1, 1, 7], np.float32)
    ids = np.zeros([2, 7], np.int32)
    layer, arguments = {
        "embeddings": (embeddings(), (ids, ids)),
        "attention": (layers.SelfAttention(CONFIG, name="self"), (x, zero)),
        "output": (layers.ResidualOutput(CONFIG, name="output"), (x, x)),
    }[part]
    still = layer(*arguments, training=False)
    np.testing.assert_array_equal(still, layer(*arguments, training=False))
    trained = layer(*arguments, training=True)
    assert np.abs(still - trained).max() > 1e-3
    assert np.abs(trained - layer(*arguments, training=True)).max() > 1e-3


def test_embedding_dropout_comes_after_layer_norm():
    ids = np.zeros([2, 7], np.int32)
    layer = embeddings()
    still = layer(ids, ids, training=False).numpy()
    trained = layer(ids, ids, training=True).numpy()
    kept = trained != 0.0
    assert 0 < kept.mean() < 1
    np.testing.assert_allclose(trained[kept], still[kept] / 0.75, rtol=1e-6)


def test_transformer_layer_passes_training_on():
    x, zero = normal(2, 7, 12), np.zeros([2, 1, 1, 7], np.float32)
    layer = layers.TransformerLayer(CONFIG, name="layer_0")
    layer(x, zero)
    states = dropout_states(layer)
    before = {name: state.numpy() for name, state in states.items()}
    layer(x, zero, training=False)
    for name, state in states.items():
        np.testing.assert_array_equal(state, before[name])
    layer(x, zero, training=True)
    for name, state in states.items():
        assert not np.array_equal(state, before[name])


def test_dropout_states_restore_the_masks():
    x, zero = normal(2, 7, 12), np.zeros([2, 1, 1, 7], np.float32)
    layer = layers.TransformerLayer(CONFIG, name="layer_0")
    step = tf.function(lambda: layer(x, zero, training=True))
    step()
    states = dropout_states(layer)
    assert list(states) == [
        "layer_0/attention/self/dropout",
        "layer_0/attention/output/dropout",
        "layer_0/output/dropout",
    ]
    kept = {name: state.numpy() for name, state in states.items()}
    first = step()
    assert np.abs(first - step()).max() > 1e-3
    for name, state in states.items():
        state.assign(kept[name])
    np.testing.assert_array_equal(step(), first)
    assert not any("StateVar" in v.name for v in layer.variables)


def test_layer_norm_stays_float32_in_mixed_precision(set_policy):
    set_policy("mixed_bfloat16")
    # In bfloat16 (8 bits) x + 100 is rounded to steps of 0.5.
    x = normal(2, 7, 12) + 100.0
    output = layers.LayerNorm(CONFIG)(x)
    assert output.dtype == tf.bfloat16
    np.testing.assert_allclose(
        tf.cast(output, tf.float32),
        (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True),
        # Only the result is rounded.
        rtol=2**-8,
        atol=1e-4,
    )


def test_softmax_stays_float32_in_mixed_precision(set_policy, monkeypatch):
    set_policy("mixed_bfloat16")
    seen, softmax = [], tf.nn.softmax

    def spy(scores):
        seen.append(scores.dtype)
        return softmax(scores)

    monkeypatch.setattr(tf.nn, "softmax", spy)
    layer = layers.TransformerLayer(CONFIG, name="layer_0")
    output = layer(normal(2, 7, 12), np.zeros([2, 1, 1, 7], np.float32))
    assert set(seen) == {tf.float32}
    assert output.dtype == tf.bfloat16
