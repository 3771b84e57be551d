"""Tests of reading what Model Garden's own classes save."""

import logging

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from bert_tf.checkpoints import checkpoint_io, variable_table
from bert_tf.formats.model_garden import ModelGardenReader
from bert_tf.model import models
from bert_tf.weights import loading
from tests.formats.model_gardens_own import (
    CONFIG,
    assert_close,
    call_pretrainer,
    mg_classifier,
    mg_encoder,
    mg_inputs,
    mg_pretrainer,
    mg_pretrainer_1,
    mg_span_labeler,
    save,
)


def randomize(model):
    """Gives all variables values that no initializer gives."""
    rng = np.random.default_rng(0)
    for variable in model.variables:
        variable.assign(rng.normal(scale=0.4, size=variable.shape))


def make_inputs():
    rng = np.random.default_rng(1)
    mask = np.ones([2, 9], np.int32)
    mask[1, 6:] = 0
    positions = [[2, 0, 8, 8, 1], [5, 1, 0, 3, 0]]
    return {
        "input_ids": rng.integers(0, 61, [2, 9]).astype(np.int32),
        "input_mask": mask,
        "segment_ids": rng.integers(0, 2, [2, 9]).astype(np.int32),
        "masked_lm_positions": np.array(positions, np.int32),
    }


@pytest.fixture(scope="module")
def ours():
    return models.pretraining_model(CONFIG)


def load(reader, model):
    """Sets what a reader has of a model's variables."""
    wanted = {
        name: variable
        for name, variable in loading.variable_names(model).items()
        if name in reader.stored
    }
    reader.require_fit(wanted, missing=[], file_only=[])
    reader.assign(wanted)


@pytest.mark.parametrize("class_name", ["BertEncoder", "BertEncoderV2"])
def test_an_encoder_has_model_gardens_outputs_here(tmp_path, ours, class_name):
    encoder = mg_encoder(class_name)
    randomize(encoder)
    reader = save(tmp_path, {"encoder": encoder})
    assert set(reader.stored) == set(variable_table.encoder_shapes(CONFIG))
    assert reader.num_attention_heads == 3
    load(reader, ours.encoder)
    inputs = make_inputs()
    expected = encoder(mg_inputs(inputs), training=False)
    if class_name == "BertEncoder":
        expected = dict(zip(["sequence_output", "pooled_output"], expected))
    outputs = ours.encoder(inputs, training=False)
    assert_close(outputs["sequence_output"], expected["sequence_output"])
    assert_close(outputs["pooled_output"], expected["pooled_output"])


def test_a_pretrainer_has_model_gardens_logits_here(tmp_path, ours, caplog):
    pretrainer = mg_pretrainer()
    randomize(pretrainer)
    with caplog.at_level(logging.INFO):
        reader = save(
            tmp_path, {"model": pretrainer, **pretrainer.checkpoint_items}
        )
    assert "pooler is the head's, next_sentence..pooler_dense" in caplog.text
    assert set(reader.stored) == set(loading.variable_names(ours))
    load(reader, ours)
    inputs = make_inputs()
    outputs = ours(inputs, training=False)
    masked_lm, next_sentence = call_pretrainer(pretrainer, inputs)
    assert_close(outputs["masked_lm_logits"], masked_lm)
    assert_close(outputs["next_sentence_logits"], next_sentence)


SCORES = ["output_bias", "output_weights"]


@pytest.mark.parametrize(
    ("build", "scope"),
    [
        (mg_pretrainer_1, "cls/seq_relationship/"),
        (mg_classifier, ""),
        (mg_span_labeler, "cls/squad/"),
    ],
)
def test_heads_are_found(tmp_path, build, scope):
    model = build()
    reader = save(tmp_path, {"my_own": {"anywhere": model}})
    (weights,) = [v for v in model.variables if "logits/kernel" in v.name]
    (bias,) = [v for v in model.variables if "logits/bias" in v.name]
    np.testing.assert_array_equal(
        reader.read(f"{scope}output_weights"), weights.numpy().T
    )
    np.testing.assert_array_equal(reader.read(f"{scope}output_bias"), bias)


def test_other_classification_heads_stand_under_their_keys(tmp_path):
    pretrainer = mg_pretrainer(heads=("same_author", "next_sentence"))
    pretrainer.classification_heads[1].out_proj.bias.assign([3.0, 4.0])
    reader = save(tmp_path, {"model": pretrainer})
    bias = reader.read("cls/seq_relationship/output_bias")
    np.testing.assert_array_equal(bias, [3, 4])
    others = [name for name in reader.stored if name.startswith("model/")]
    assert others == [
        f"model/classification_heads/0/{name}/.ATTRIBUTES/VARIABLE_VALUE"
        for name in (
            "dense/bias",
            "dense/kernel",
            "out_proj/bias",
            "out_proj/kernel",
        )
    ]
    assert reader.read(others[0]).shape == (12,)
    assert reader.slots() == {}


def test_a_classifiers_own_pooler_is_the_pooler(tmp_path):
    classifier = mg_classifier(use_encoder_pooler=False)
    classifier.classifier.dense.bias.assign(range(12))
    reader = save(tmp_path, {"model": classifier})
    np.testing.assert_array_equal(
        reader.read("bert/pooler/dense/bias"), range(12)
    )
    assert set(reader.stored) == {
        *variable_table.encoder_shapes(CONFIG),
        *SCORES,
    }


def test_an_optimizer_belongs_to_the_run(tmp_path):
    classifier = mg_classifier("BertEncoderV2")
    classifier.compile("adam")
    classifier.optimizer.build(classifier.trainable_variables)
    classifier.optimizer.iterations.assign(5)
    path = str(tmp_path / "weights")
    classifier.save_weights(path, save_format="tf")
    reader = ModelGardenReader(checkpoint_io.CheckpointReader(path))
    slots = reader.slots()
    # Two moments of each variable, learning rate, step.
    assert len(slots) == 2 * len(classifier.trainable_variables) + 2
    assert reader.stored.keys() - slots == {
        *variable_table.encoder_shapes(CONFIG),
        *SCORES,
    }
    assert reader.global_step() == 5


def test_a_trainers_step_counts_and_its_slots_belong_to_the_run(tmp_path):
    classifier = mg_classifier("BertEncoderV2")
    optimizer = tf_keras.optimizers.legacy.Adam()
    optimizer._create_all_weights(classifier.trainable_variables)
    path = tf.train.Checkpoint(
        model=classifier,
        optimizer=optimizer,
        global_step=tf.Variable(17, dtype=tf.int64),
    ).save(str(tmp_path / "ckpt"))
    reader = ModelGardenReader(checkpoint_io.CheckpointReader(path))
    slots = reader.slots()
    assert [name for name in slots if "OPTIMIZER_SLOT" not in name] == [
        f"{name}/.ATTRIBUTES/VARIABLE_VALUE"
        for name in (
            "global_step",
            "optimizer/beta_1",
            "optimizer/beta_2",
            "optimizer/decay",
            "optimizer/iter",
            "optimizer/learning_rate",
            "save_counter",
        )
    ]
    assert reader.stored.keys() - slots == {
        *variable_table.encoder_shapes(CONFIG),
        *SCORES,
    }
    assert reader.global_step() == 17
