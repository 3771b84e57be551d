"""Tests of bert_tf.serving.hub_encoder: B=3, S=7, D=12, N=3, V=61.

Exports are loaded as others do, by tensorflow_hub. Numbers to 1e-5: the same
operations in the same order, but compiled anew.
"""

import json
import os

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_hub as hub
import tf_keras

from bert_tf.config import BertConfig
from bert_tf.features import INPUT_KEYS
from bert_tf.model.encoder import BertEncoder
from bert_tf.serving import export
from bert_tf.serving.hub_encoder import HUB_INPUTS, HubEncoder
from bert_tf.weights import loading, model_folder
from bert_tf.weights.loading import variable_names

CONFIG = BertConfig(
    vocab_size=61,
    hidden_size=12,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=17,
    hidden_dropout_prob=0.3,
    attention_probs_dropout_prob=0.2,
    max_position_embeddings=11,
)


@pytest.fixture(scope="module")
def encoder():
    tf_keras.utils.set_random_seed(5)
    return BertEncoder(CONFIG)


@pytest.fixture(scope="module")
def served(encoder, tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabulary") / "pieces.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nred\n")
    return HubEncoder(
        encoder, CONFIG, vocab_file=str(path), do_lower_case=False
    )


@pytest.fixture(scope="module")
def exported(served, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    return export.export(served, str(folder), verify=False)


@pytest.fixture(scope="module")
def layer(exported):
    return hub.KerasLayer(exported, trainable=True)


@pytest.fixture
def inputs(served):
    return served.samples()["serving_default"]


def _run(encoder, inputs, **options):
    values = (inputs[name] for name in HUB_INPUTS)
    return encoder(dict(zip(INPUT_KEYS, values)), **options)


def _assert_same(actual, expected):
    assert set(actual) == {
        "pooled_output",
        "default",
        "sequence_output",
        "encoder_outputs",
    }
    assert len(actual["encoder_outputs"]) == CONFIG.num_hidden_layers
    expected = {**expected, "default": expected["pooled_output"]}
    for name, value in actual.items():
        np.testing.assert_allclose(value, expected[name], atol=1e-5)


@pytest.mark.parametrize("shape", [(3, 7), (1, 11)])
def test_outputs_are_the_encoders(layer, encoder, shape):
    values = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)
    inputs = dict(zip(HUB_INPUTS, (values, values % 3 % 2, values % 2)))
    _assert_same(layer(inputs), _run(encoder, inputs))


def test_dropout_is_the_configurations(layer, encoder, inputs):
    """The random states are saved, so that even the masks are the same.

    Without the right rates they would not be.
    """
    expected = [_run(encoder, inputs, training=True) for _ in range(2)]
    actual = [layer(inputs, training=True) for _ in range(2)]
    for one, other in zip(actual, expected):
        _assert_same(one, other)
    first, second = (outputs["sequence_output"] for outputs in expected)
    assert np.abs(first - second).max() > 0.1
    _assert_same(layer(inputs, training=False), _run(encoder, inputs))


def test_a_frozen_layer_has_no_dropout(exported, encoder, inputs):
    frozen = hub.KerasLayer(exported)
    assert not frozen.trainable_weights
    _assert_same(frozen(inputs, training=True), _run(encoder, inputs))


def _gradients(run, variables):
    with tf.GradientTape() as tape:
        outputs = run()
        loss = tf.reduce_sum(outputs["pooled_output"] ** 2)
        loss += tf.reduce_sum(outputs["encoder_outputs"][0] ** 2)
    gradients = tape.gradient(loss, variables)
    return [tf.convert_to_tensor(gradient) for gradient in gradients]


def test_gradients_are_the_encoders(layer, encoder, inputs):
    """Also through LayerNorm, whose gradient is written by hand."""
    names = [weight.name for weight in layer.trainable_weights]
    assert names == [v.name for v in encoder.trainable_variables]
    actual = _gradients(lambda: layer(inputs), layer.trainable_weights)
    expected = _gradients(
        lambda: _run(encoder, inputs), encoder.trainable_variables
    )
    for name, a, b in zip(names, actual, expected):
        # Through LayerNorm of embeddings that are about 0.02: errors of 1e-6
        # grow fifty times.
        np.testing.assert_allclose(a, b, atol=1e-4, err_msg=name)


def test_a_model_around_it_is_saved_and_loaded(layer, inputs, tmp_path):
    named = {
        name: tf_keras.Input([None], dtype=tf.int32, name=name)
        for name in HUB_INPUTS
    }
    head = tf_keras.layers.Dense(2)
    model = tf_keras.Model(named, head(layer(named)["pooled_output"]))
    model.save(tmp_path / "model")
    again = tf_keras.models.load_model(tmp_path / "model", compile=False)
    assert len(again.trainable_weights) == len(layer.trainable_weights) + 2
    np.testing.assert_allclose(again(inputs), model(inputs), atol=1e-5)


def test_an_input_that_is_too_long_is_refused(layer):
    ids = np.ones([1, 12], np.int32)
    # TensorFlow may see it when it infers shapes, or else the model when it
    # runs.
    with pytest.raises(
        (ValueError, tf.errors.InvalidArgumentError),
        match="12 and 11|more pieces a row",
    ):
        layer(dict.fromkeys(HUB_INPUTS, ids))


def test_the_signature_names_each_layer(exported, encoder, inputs):
    run = tf.saved_model.load(exported).signatures["serving_default"]
    outputs = run(**{name: tf.constant(v) for name, v in inputs.items()})
    outputs["encoder_outputs"] = [
        outputs.pop("encoder_outputs_0"),
        outputs.pop("encoder_outputs_1"),
    ]
    _assert_same(outputs, _run(encoder, inputs))


def test_assets_and_attributes_of_hub(exported, layer):
    assets = os.path.join(exported, "assets")
    assert sorted(os.listdir(assets)) == [
        "bert_config.json",
        "export.json",
        "vocab.txt",
    ]
    with open(os.path.join(assets, "export.json"), encoding="utf-8") as stream:
        assert json.load(stream) == {
            "kind": "encoder",
            "do_lower_case": False,
            "max_seq_length": 11,
            "hidden_size": 12,
            "input_names": list(HUB_INPUTS),
        }
    module = layer.resolved_object
    path = module.vocab_file.asset_path.numpy().decode()
    assert os.path.samefile(path, os.path.join(assets, "vocab.txt"))
    assert not module.do_lower_case.numpy()


def test_without_a_vocabulary_nothing_is_said_of_it():
    served = HubEncoder(BertEncoder(CONFIG), CONFIG)
    assert set(served.asset_files()) == {"bert_config.json", "export.json"}
    assert "do_lower_case" not in served.description()
    served.keep_assets({})
    assert served.vocab_file is None


def test_an_export_is_read_as_weights(exported, encoder):
    """By its folder, with the configuration and the rest that lie in it."""
    other = BertEncoder(CONFIG)
    report = loading.load_checkpoint(other, exported)
    assert not report.new + report.unused + report.slots
    loaded = variable_names(other)
    for name, variable in variable_names(encoder).items():
        np.testing.assert_array_equal(loaded[name], variable, err_msg=name)
    prefix = os.path.join(exported, "variables", "variables")
    config, path = model_folder.choose_config(None, prefix)
    assert config == CONFIG
    assert path == os.path.join(exported, "assets", "bert_config.json")
    assert model_folder.lower_case_beside([prefix])[1] is False
