"""Names and numbers of the whole model against what the 2018 code gave."""

import contextlib

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from bert_tf.config import BertConfig
from bert_tf.model import losses, models
from bert_tf.weights.loading import load_checkpoint, variable_names

CASES = ["gelu", "relu_types16"]


class Golden:
    """One case of what 2018 gave: config, checkpoint, inputs and outputs."""

    def __init__(self, folder):
        self.config = BertConfig.from_json_file(
            str(folder / "bert_config.json")
        )
        self.reader = tf.train.load_checkpoint(str(folder / "bert_model.ckpt"))
        self.values = dict(np.load(folder / "forward.npz"))

    def inputs(self, dtype=np.int64):
        keys = ["input_ids", "input_mask", "segment_ids", "masked_lm_positions"]
        return {key: self.values[key].astype(dtype) for key in keys}

    def model(self, *, use_one_hot_embeddings=False):
        model = models.pretraining_model(
            self.config, use_one_hot_embeddings=use_one_hot_embeddings
        )
        for variable in model.variables:
            name = variable.name.removesuffix(":0")
            variable.assign(self.reader.get_tensor(name))
        return model

    def assert_equal(self, value, key):
        # 2018's matrix library summed in another order: golden/README allows
        # 1e-5 absolute.
        np.testing.assert_allclose(
            np.reshape(value, self.values[key].shape),
            self.values[key],
            rtol=0,
            atol=1e-5,
            err_msg=key,
        )


@pytest.fixture(params=CASES)
def case(request, golden):
    return Golden(golden / "model" / request.param)


def scope_of(kind):
    if kind == "strategy":
        return tf.distribute.OneDeviceStrategy("/cpu:0").scope()
    if kind == "mirrored":
        return tf.distribute.MirroredStrategy(["/cpu:0"]).scope()
    return contextlib.nullcontext()


@pytest.fixture
def set_policy():
    yield tf_keras.mixed_precision.set_global_policy
    tf_keras.mixed_precision.set_global_policy("float32")


@pytest.mark.parametrize("kind", ["plain", "strategy", "mirrored", "bfloat16"])
def test_variables_are_those_of_2018(case, kind, set_policy):
    if kind == "bfloat16":
        set_policy("mixed_bfloat16")
    expected = case.reader.get_variable_to_shape_map()
    with scope_of(kind):
        # The second model of a process must not get names of its own.
        pair = [models.pretraining_model(case.config) for _ in range(2)]
    for model in pair:
        assert len(model.variables) == len(model.trainable_variables)
        shapes = {
            variable.name.removesuffix(":0"): variable.shape.as_list()
            for variable in model.trainable_variables
        }
        assert len(shapes) == len(model.trainable_variables)
        assert shapes == expected
        assert {v.dtype for v in model.variables} == {tf.float32}


def test_dropout_state_is_not_a_variable_of_the_model(case):
    names = [v.name for v in models.pretraining_model(case.config).variables]
    assert not [name for name in names if "StateVar" in name]


def assert_forward(case, model, call):
    inputs = case.inputs()
    positions = inputs.pop("masked_lm_positions")
    encoded = call(model.encoder)(inputs)
    case.assert_equal(encoded["embedding_output"], "embedding_output")
    case.assert_equal(
        np.stack(encoded["encoder_outputs"]), "all_encoder_layers"
    )
    case.assert_equal(encoded["pooled_output"], "pooled_output")
    return call(model)({**inputs, "masked_lm_positions": positions})


def assert_losses(case, outputs):
    masked_lm, next_sentence = (
        outputs["masked_lm_logits"],
        outputs["next_sentence_logits"],
    )
    loss, example_loss = losses.masked_lm_loss(
        masked_lm,
        case.values["masked_lm_ids"],
        case.values["masked_lm_weights"],
    )
    case.assert_equal(loss, "masked_lm_loss")
    case.assert_equal(example_loss, "masked_lm_example_loss")
    case.assert_equal(tf.nn.log_softmax(masked_lm), "masked_lm_log_probs")
    loss, example_loss = losses.classification_loss(
        next_sentence, case.values["next_sentence_labels"]
    )
    case.assert_equal(loss, "next_sentence_loss")
    case.assert_equal(example_loss, "next_sentence_example_loss")
    case.assert_equal(
        tf.nn.log_softmax(next_sentence), "next_sentence_log_probs"
    )


@pytest.mark.parametrize("one_hot", [False, True])
def test_forward_is_that_of_2018(case, one_hot):
    model = case.model(use_one_hot_embeddings=one_hot)
    assert_losses(case, assert_forward(case, model, call=lambda model: model))


@pytest.mark.slow
def test_compiled_forward_is_that_of_2018(case):
    # As on TPU: one compiled program, words looked up by a product.
    model = case.model(use_one_hot_embeddings=True)

    def call(model):
        return tf.function(model, jit_compile=True)

    assert_losses(case, assert_forward(case, model, call))


def test_int32_and_int64_inputs_give_the_same(case):
    model = case.model()
    tf.nest.map_structure(
        np.testing.assert_array_equal,
        model(case.inputs(np.int32)),
        model(case.inputs(np.int64)),
    )


def gradients_of(case, model):
    with tf.GradientTape() as tape:
        outputs = model(case.inputs(np.int32), training=True)
        masked_lm, _ = losses.masked_lm_loss(
            outputs["masked_lm_logits"],
            case.values["masked_lm_ids"],
            case.values["masked_lm_weights"],
        )
        next_sentence, _ = losses.classification_loss(
            outputs["next_sentence_logits"],
            case.values["next_sentence_labels"],
        )
        loss = masked_lm + next_sentence
    return tape.gradient(loss, model.trainable_variables)


@pytest.mark.slow
@pytest.mark.parametrize("one_hot", [False, True])
def test_gradients_compile_and_are_dense(golden, one_hot):
    # The smaller case: compiling takes seconds a layer.
    case = Golden(golden / "model" / "relu_types16")
    model = case.model(use_one_hot_embeddings=one_hot)
    plain = gradients_of(case, model)
    assert all(isinstance(gradient, tf.Tensor) for gradient in plain)
    compiled = tf.function(
        lambda: gradients_of(case, model), jit_compile=True
    )()
    for ours, theirs in zip(plain, compiled):
        # Gradients of size 1 in float32, summed in another order.
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_mixed_precision_is_close_and_gives_float32_logits(case, set_policy):
    set_policy("mixed_bfloat16")
    outputs = case.model()(case.inputs())
    assert {o.dtype for o in outputs.values()} == {tf.float32}
    log_probs = tf.nn.log_softmax(outputs["masked_lm_logits"])
    expected = case.values["masked_lm_log_probs"]
    # bfloat16 keeps 8 bits; the log probabilities are up to 8 in size.
    np.testing.assert_allclose(
        np.reshape(log_probs, expected.shape), expected, atol=0.15
    )


def test_a_classifier_has_2018_s_names_and_its_own_head():
    config = BertConfig(
        vocab_size=61,
        hidden_size=12,
        num_hidden_layers=1,
        num_attention_heads=3,
        intermediate_size=17,
        max_position_embeddings=23,
        type_vocab_size=2,
    )
    model = models.classifier_model(config, 5)
    names = variable_names(model)
    assert list(names)[-2:] == ["output_weights", "output_bias"]
    assert set(names) - {"output_weights", "output_bias"} == set(
        variable_names(model.encoder)
    )
    ones = tf.ones([2, 7], tf.int32)
    inputs = {"input_ids": ones, "input_mask": ones, "segment_ids": ones}
    outputs = model(inputs, training=False)
    pooled = model.encoder(inputs, training=False)["pooled_output"]
    np.testing.assert_allclose(
        outputs["logits"],
        pooled.numpy() @ names["output_weights"].numpy().T,
        atol=1e-6,
    )


def test_a_question_s_model_is_that_of_2018(golden):
    tasks = golden / "tasks"
    config = BertConfig.from_json_file(str(tasks / "bert_config.json"))
    model = models.question_answering_model(config)
    names = variable_names(model)
    assert list(names)[-2:] == [
        "cls/squad/output_weights",
        "cls/squad/output_bias",
    ]
    load_checkpoint(model, str(tasks / "squad" / "squad.ckpt"))
    assert names["cls/squad/output_weights"].shape == (2, 32)
    ids = tf.constant([[6, 157, 7, 162, 113, 7, 0], [6, 7, 9, 10, 7, 0, 0]])
    inputs = {
        "input_ids": ids,
        "input_mask": tf.cast(ids > 0, tf.int32),
        "segment_ids": tf.zeros_like(ids),
    }
    outputs = model(inputs, training=False)
    # The first row of the weights is the start, the second the end.
    sequence = model.encoder(inputs, training=False)["sequence_output"]
    weights = names["cls/squad/output_weights"].numpy()
    expected = sequence.numpy() @ weights.T
    expected += names["cls/squad/output_bias"].numpy()
    # float32 sums in another order.
    np.testing.assert_allclose(
        outputs["start_logits"], expected[..., 0], atol=1e-5
    )
    np.testing.assert_allclose(
        outputs["end_logits"], expected[..., 1], atol=1e-5
    )
