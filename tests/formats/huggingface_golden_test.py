"""Tests of Hugging Face's models against its own results."""

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.config import BertConfig
from bert_tf.features import INPUT_KEYS
from bert_tf.formats import huggingface_config
from bert_tf.model import heads, models
from bert_tf.model.encoder import BertEncoder
from bert_tf.weights import loading

# float32 through three layers, against another implementation.
TOLERANCE = 1e-4


def load_golden(folder, model):
    """Loads a model; returns Hugging Face's results and the inputs."""
    report = loading.load_checkpoint(model, str(folder))
    with np.load(folder / "forward.npz") as stored:
        results = dict(stored)
    inputs = {key: tf.constant(results[key], tf.int32) for key in INPUT_KEYS}
    return report, results, inputs


def assert_close_where_real(ours, theirs, input_mask):
    real = input_mask.astype(bool)
    np.testing.assert_allclose(ours.numpy()[real], theirs[real], atol=TOLERANCE)


@pytest.mark.parametrize(
    "case", ["pretraining_gelu", "classifier_gelu_new", "qa_relu_bf16"]
)
def test_every_layer_is_that_of_hugging_face(golden, case):
    folder = golden / "huggingface" / case
    config = huggingface_config.read(str(folder / "config.json"))
    encoder = BertEncoder(config)
    _, results, inputs = load_golden(folder, encoder)
    outputs = encoder(inputs, training=False)
    ours = [outputs["embedding_output"], *outputs["encoder_outputs"]]
    assert len(ours) == len(results["hidden_states"]) == 4
    for layer, theirs in zip(ours, results["hidden_states"]):
        assert_close_where_real(layer, theirs, results["input_mask"])


def test_the_form_of_gelu_shows_in_the_outputs(golden):
    # Else the test above could not tell the forms apart.
    folder = golden / "huggingface" / "pretraining_gelu"
    config = huggingface_config.read(str(folder / "config.json"))
    values = {**config.to_dict(), "hidden_act": "gelu"}
    encoder = BertEncoder(BertConfig.from_dict(values))
    _, results, inputs = load_golden(folder, encoder)
    output = encoder(inputs, training=False)["sequence_output"]
    assert np.abs(output - results["hidden_states"][-1]).max() > TOLERANCE


def test_pretraining_heads_are_those_of_hugging_face(golden):
    folder = golden / "huggingface" / "pretraining_gelu"
    config = huggingface_config.read(str(folder / "config.json"))
    model = models.pretraining_model(config)
    report, results, inputs = load_golden(folder, model)
    assert report.new == report.unused == ()
    batch, length = results["input_ids"].shape
    positions = tf.tile(tf.range(length)[None], [batch, 1])
    outputs = model(
        {**inputs, "masked_lm_positions": positions}, training=False
    )
    assert_close_where_real(
        outputs["masked_lm_logits"],
        results["prediction_logits"],
        results["input_mask"],
    )
    np.testing.assert_allclose(
        outputs["next_sentence_logits"],
        results["seq_relationship_logits"],
        atol=TOLERANCE,
    )


def test_a_classifier_s_weights_give_its_logits(golden):
    folder = golden / "huggingface" / "classifier_gelu_new"
    encoder = BertEncoder(huggingface_config.read(str(folder / "config.json")))
    report, results, inputs = load_golden(folder, encoder)
    assert report.unused == ("output_bias", "output_weights")
    reader = loading.open_checkpoint(folder)
    logits = heads.project(
        encoder(inputs, training=False)["pooled_output"],
        reader.read("output_weights"),
        reader.read("output_bias"),
    )
    np.testing.assert_allclose(logits, results["logits"], atol=TOLERANCE)


def test_a_span_model_in_bfloat16_gives_its_logits(golden, caplog):
    folder = golden / "huggingface" / "qa_relu_bf16"
    encoder = BertEncoder(huggingface_config.read(str(folder / "config.json")))
    report, results, inputs = load_golden(folder, encoder)
    # Hugging Face's models for this have no pooler.
    assert report.new == ("bert/pooler/dense/kernel", "bert/pooler/dense/bias")
    assert "holds no pooler (bert/pooler/...)" in caplog.text
    reader = loading.open_checkpoint(folder)
    assert reader.dtypes == ("BF16",)
    logits = heads.project(
        encoder(inputs, training=False)["sequence_output"],
        reader.read("cls/squad/output_weights"),
        reader.read("cls/squad/output_bias"),
    )
    for index, name in enumerate(["start_logits", "end_logits"]):
        assert_close_where_real(
            logits[..., index], results[name], results["input_mask"]
        )
