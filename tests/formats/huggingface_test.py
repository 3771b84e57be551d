"""Tests of Hugging Face's files: spellings, and what is not to be read."""

import json

import numpy as np
import pytest
import safetensors.numpy

from bert_tf.checkpoints import variable_table
from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.formats import huggingface
from bert_tf.model.encoder import BertEncoder
from bert_tf.weights import loading

CONFIG = BertConfig(
    vocab_size=61,
    hidden_size=12,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=17,
    max_position_embeddings=23,
    type_vocab_size=2,
)


def weights(*, prefix="bert.", gamma="weight", beta="bias", dtype=np.float32):
    """Makes an encoder as Hugging Face's versions have spelled it."""
    rng = np.random.default_rng(0)
    tensors = {}
    for name, shape in variable_table.encoder_shapes(CONFIG).items():
        hugging, transpose = huggingface.name_of_hugging_face(name)
        hugging = prefix + hugging.removeprefix("bert.")
        if ".LayerNorm." in hugging:
            scope, _, part = hugging.rpartition(".")
            part = {"weight": gamma, "bias": beta}[part]
            hugging = f"{scope}.{part}"
        value = rng.normal(size=shape).astype(np.float32)
        tensors[hugging] = np.ascontiguousarray(
            value.T if transpose else value
        ).astype(dtype)
    return tensors


def read_all(folder, tensors):
    path = str(folder / "model.safetensors")
    safetensors.numpy.save_file(tensors, path)
    reader = huggingface.HuggingFaceReader(path)
    return {name: reader.read(name) for name in reader.stored}


def test_all_spellings_are_the_same_model(tmp_path):
    first = read_all(tmp_path, weights())
    assert first.keys() == variable_table.encoder_shapes(CONFIG).keys()
    buffers = {"bert.embeddings.position_ids": np.arange(23)[None]}
    for tensors in (
        weights(prefix=""),
        weights(gamma="gamma", beta="beta"),
        {**weights(), **buffers},
    ):
        second = read_all(tmp_path, tensors)
        assert second.keys() == first.keys()
        for name, value in first.items():
            np.testing.assert_array_equal(second[name], value)


def test_float16_is_widened(tmp_path):
    halves = weights(dtype=np.float16)
    read = read_all(tmp_path, halves)["bert/pooler/dense/kernel"]
    assert read.dtype == np.float32
    np.testing.assert_array_equal(
        read, halves["bert.pooler.dense.weight"].T.astype(np.float32)
    )


def test_a_model_loads_from_the_file_itself(tmp_path):
    encoder = BertEncoder(CONFIG)
    expected = read_all(tmp_path, weights())
    loading.load_checkpoint(encoder, tmp_path / "model.safetensors")
    for name, variable in loading.variable_names(encoder).items():
        np.testing.assert_array_equal(variable.numpy(), expected[name])


def masked_lm(**more):
    d = np.eye(12, dtype=np.float32)
    return {
        **weights(),
        "cls.predictions.bias": np.arange(61, dtype=np.float32),
        "cls.predictions.transform.dense.weight": d,
        "cls.predictions.transform.dense.bias": d[0],
        "cls.predictions.transform.LayerNorm.weight": d[0],
        "cls.predictions.transform.LayerNorm.bias": d[0],
        **more,
    }


@pytest.mark.parametrize("both", [True, False])
def test_a_tied_decoder_is_the_word_embeddings(tmp_path, both):
    tensors = masked_lm()
    table = tensors["bert.embeddings.word_embeddings.weight"]
    tensors["cls.predictions.decoder.weight"] = table
    bias = tensors["cls.predictions.bias"]
    tensors["cls.predictions.decoder.bias"] = bias
    if not both:
        del tensors["cls.predictions.bias"]
    read = read_all(tmp_path, tensors)
    np.testing.assert_array_equal(read["cls/predictions/output_bias"], bias)
    assert not [name for name in read if "decoder" in name]


def test_a_decoder_of_its_own_is_refused_where_it_is_needed(tmp_path):
    table = np.ones([61, 12], np.float32)
    tensors = masked_lm(**{"cls.predictions.decoder.weight": table})
    with pytest.raises(UserError, match="decoder.weight differs from bert/emb"):
        read_all(tmp_path, tensors)
    # The encoder alone can be had.
    report = loading.load_checkpoint(BertEncoder(CONFIG), tmp_path)
    assert "cls/predictions/output_bias" in report.unused


def test_a_second_bias_must_be_the_same(tmp_path):
    bias = np.ones(61, np.float32)
    tensors = masked_lm(**{"cls.predictions.decoder.bias": bias})
    with pytest.raises(UserError, match="decoder.bias differs from cls/pred"):
        read_all(tmp_path, tensors)


def test_a_second_name_of_another_type_is_refused(tmp_path):
    table = np.ones([61, 12], np.int8)
    tensors = masked_lm(**{"cls.predictions.decoder.weight": table})
    with pytest.raises(UserError, match="decoder.weight is I8; weights must"):
        read_all(tmp_path, tensors)


def test_nothing_in_it_counts_as_an_optimizer_s(tmp_path):
    # An adapter below a weight, as a slot lies below its variable.
    name = "bert.embeddings.word_embeddings.lora_A"
    tensors = {**weights(), name: np.zeros([2, 2], np.float32)}
    safetensors.numpy.save_file(tensors, tmp_path / "model.safetensors")
    reader = loading.open_checkpoint(tmp_path)
    assert reader.slots() == {}
    with pytest.raises(UserError, match="Not in the model: .*lora_A"):
        loading.load_checkpoint(BertEncoder(CONFIG), tmp_path)


def test_what_2018_has_no_place_for_is_named(tmp_path, caplog):
    caplog.set_level("INFO")
    more = {"bert.embeddings.position_ids": np.arange(23)[None]}
    tensors = {**weights(), **more}
    safetensors.numpy.save_file(tensors, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(
        json.dumps(
            {
                "architectures": ["BertForMultipleChoice"],
                "id2label": {"0": "O", "1": "LABEL_1"},
            }
        )
    )
    loading.open_checkpoint(tmp_path).log_left_out()
    assert "no weights: bert.embeddings.position_ids." in caplog.text
    assert "is for BertForMultipleChoice." in caplog.text
    assert "the labels' names: {'0': 'O'" in caplog.text


def test_two_names_of_one_variable_are_refused(tmp_path):
    more = {"pooler.dense.bias": np.zeros(12, np.float32)}
    with pytest.raises(UserError, match="holds bert/pooler/dense/bias twice"):
        read_all(tmp_path, {**weights(), **more})


def test_a_quantized_model_is_refused(tmp_path):
    more = {"bert.pooler.dense.bias": np.zeros(12, np.int8)}
    with pytest.raises(UserError, match="dense.bias is I8; weights must be"):
        read_all(tmp_path, {**weights(), **more})


def test_relative_positions_are_an_error_and_not_passed_over(tmp_path):
    name = "bert.encoder.layer.1.attention.self.distance_embedding.weight"
    tensors = {**weights(), name: np.zeros([45, 4], np.float32)}
    safetensors.numpy.save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(UserError, match="Not in the model: .*distance_embed"):
        loading.load_checkpoint(BertEncoder(CONFIG), tmp_path)


def test_another_size_is_an_error_with_both(tmp_path):
    safetensors.numpy.save_file(weights(), tmp_path / "model.safetensors")
    values = {**CONFIG.to_dict(), "intermediate_size": 19}
    with pytest.raises(
        UserError, match=r"kernel \(float32 \[12, 17\].*float32 \[12, 19\] her"
    ):
        loading.load_checkpoint(
            BertEncoder(BertConfig.from_dict(values)), tmp_path
        )
