"""B=2, S=7, D=12, N=3 (H=4), V=61; 17 inner, 3 segments, 11 positions."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

import bert_tf
from bert_tf.errors import UserError
from bert_tf.model.dropout import dropout_states

CONFIG = bert_tf.BertConfig(
    vocab_size=61,
    hidden_size=12,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=17,
    max_position_embeddings=11,
    type_vocab_size=3,
)
KEYS = ["input_ids", "input_mask", "segment_ids"]


@pytest.fixture(scope="module")
def encoder():
    return bert_tf.BertEncoder(CONFIG)


def make_inputs(*, length=7, dtype=np.int32):
    rng = np.random.default_rng(0)
    input_mask = np.ones([2, length], dtype)
    input_mask[1, 4:] = 0
    return {
        "input_ids": rng.integers(0, 61, [2, length]).astype(dtype),
        "input_mask": input_mask,
        "segment_ids": rng.integers(0, 3, [2, length]).astype(dtype),
    }


def assert_same(outputs, expected, atol):
    tf.nest.map_structure(
        lambda a, b: np.testing.assert_allclose(a, b, atol=atol),
        outputs,
        expected,
    )


def test_outputs(encoder):
    outputs = encoder(make_inputs(), training=False)
    shapes = {
        key: tf.nest.map_structure(lambda x: x.shape.as_list(), value)
        for key, value in outputs.items()
    }
    assert shapes == {
        "sequence_output": [2, 7, 12],
        "pooled_output": [2, 12],
        "embedding_output": [2, 7, 12],
        "encoder_outputs": [[2, 7, 12], [2, 7, 12]],
    }
    np.testing.assert_array_equal(
        outputs["sequence_output"], outputs["encoder_outputs"][-1]
    )


def test_attributes(encoder):
    assert encoder.config is CONFIG
    assert encoder.word_embeddings.shape == [61, 12]
    assert any(encoder.word_embeddings is v for v in encoder.variables)


@pytest.mark.parametrize("length", [1, 11])
def test_any_length_up_to_the_longest(encoder, length):
    outputs = encoder(make_inputs(length=length))
    assert outputs["sequence_output"].shape == [2, length, 12]


def test_padding_does_not_change_the_rest(encoder):
    inputs = make_inputs()
    longer = {
        key: np.pad(value, [[0, 0], [0, 4]]) for key, value in inputs.items()
    }
    np.testing.assert_allclose(
        encoder(inputs)["sequence_output"],
        encoder(longer)["sequence_output"][:, :7],
        atol=2e-6,  # values of size 1 in float32, summed in another order
    )


@pytest.mark.parametrize("kind", ["int64", "list", "graph", "unknown", "xla"])
def test_ways_to_call(encoder, kind):
    inputs = make_inputs()
    expected, call = encoder(inputs), encoder
    if kind == "int64":
        inputs = make_inputs(dtype=np.int64)
    elif kind == "list":
        inputs = {key: value.tolist() for key, value in inputs.items()}
    elif kind == "graph":
        call = tf.function(encoder)
    elif kind == "unknown":
        spec = {key: tf.TensorSpec([None, None], tf.int32) for key in KEYS}
        call = tf.function(encoder, input_signature=[spec])
    elif kind == "xla":
        call = tf.function(encoder, jit_compile=True)
    # Values of size 1 in float32; XLA orders sums in another way.
    assert_same(call(inputs), expected, atol=5e-6)


def test_in_a_functional_model(encoder):
    inputs = {key: tf_keras.Input([7], dtype=tf.int32) for key in KEYS}
    model = tf_keras.Model(inputs, encoder(inputs))
    assert_same(model(make_inputs()), encoder(make_inputs()), atol=5e-6)


def test_further_inputs_are_left_alone(encoder):
    inputs = make_inputs()
    assert_same(
        encoder({**inputs, "label_ids": np.zeros([2])}),
        encoder(inputs),
        atol=0.0,
    )


@pytest.mark.slow
@pytest.mark.parametrize("one_hot", [False, True])
def test_gradients_compile(one_hot):
    encoder = bert_tf.BertEncoder(
        dataclasses.replace(CONFIG, num_hidden_layers=1),
        use_one_hot_embeddings=one_hot,
    )
    inputs = make_inputs()

    def gradients():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(encoder(inputs)["pooled_output"] ** 2)
        return [
            tf.convert_to_tensor(gradient)
            for gradient in tape.gradient(loss, encoder.trainable_variables)
        ]

    # Gradients up to 1e2 in size, summed in another order by XLA.
    for ours, compiled in zip(
        gradients(), tf.function(gradients, jit_compile=True)()
    ):
        np.testing.assert_allclose(ours, compiled, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_training_draws_new_masks_each_step(encoder, jit_compile):
    inputs = make_inputs()
    step = tf.function(
        lambda: encoder(inputs, training=True)["sequence_output"],
        jit_compile=jit_compile,
    )
    assert np.abs(step() - step()).max() > 1e-2


def test_training_without_dropout_is_as_inference():
    config = dataclasses.replace(
        CONFIG, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )
    encoder, inputs = bert_tf.BertEncoder(config), make_inputs()
    assert_same(
        encoder(inputs, training=True),
        encoder(inputs, training=False),
        atol=0.0,
    )


def test_one_dropout_state_a_dropout(encoder):
    states = dropout_states(encoder)
    assert len(states) == 1 + 3 * 2
    assert "bert/encoder/layer_1/attention/self/dropout" in states


def test_seed_makes_weights_and_masks_repeatable():
    results = []
    for _ in range(2):
        tf_keras.utils.set_random_seed(5)
        encoder = bert_tf.BertEncoder(CONFIG)
        results.append(encoder(make_inputs(), training=True))
    assert_same(*results, atol=0.0)


def test_too_long_is_one_sentence(encoder):
    with pytest.raises(UserError, match="^The input has 12 pieces.* is 11: "):
        encoder(make_inputs(length=12))


def test_missing_input_is_an_error(encoder):
    inputs = make_inputs()
    del inputs["segment_ids"]
    with pytest.raises(UserError, match=r"lacks \['segment_ids'\]"):
        encoder(inputs)


@pytest.mark.parametrize("shape", [[2, 6], [14], [2, 7, 1]])
def test_inputs_of_other_shapes_are_an_error(encoder, shape):
    inputs = {**make_inputs(), "input_mask": np.ones(shape, np.int32)}
    with pytest.raises(UserError, match="`input_mask` has shape"):
        encoder(inputs)


def test_heads_that_do_not_share_the_hidden_size_are_an_error():
    with pytest.raises(UserError, match="not a multiple"):
        bert_tf.BertEncoder(dataclasses.replace(CONFIG, hidden_size=13))


@pytest.mark.parametrize("hidden_act", ["relu", "tanh", "linear", ""])
def test_hidden_act(hidden_act):
    config = dataclasses.replace(
        CONFIG, hidden_act=hidden_act, num_hidden_layers=1
    )
    encoder = bert_tf.BertEncoder(config)
    layer = encoder.get_layer("bert/encoder/layer_0")
    x = np.float32([[[-2.0] * 6 + [0.5] * 6]])
    linear = x @ layer.intermediate.kernel.numpy()
    expected = {"relu": np.maximum(linear, 0.0), "tanh": np.tanh(linear)}
    np.testing.assert_allclose(
        layer.intermediate(x), expected.get(hidden_act, linear), atol=1e-6
    )
