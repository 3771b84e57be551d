"""Tests of Hugging Face's names and models, against its own results."""

import json

import numpy as np
import pytest
import safetensors.numpy
import tensorflow as tf

from bert_tf.checkpoints import variable_table
from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.features import INPUT_KEYS
from bert_tf.formats import huggingface, huggingface_config
from bert_tf.model import heads, models
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
SHAPES = {
    **variable_table.encoder_shapes(CONFIG),
    **variable_table.head_shapes(CONFIG, num_labels=5),
}
# float32 through three layers, against another implementation.
TOLERANCE = 1e-4


# Names.


@pytest.mark.parametrize(
    ("hugging", "name", "transpose"),
    [
        (
            "embeddings.word_embeddings.weight",
            "bert/embeddings/word_embeddings",
            False,
        ),
        (
            "embeddings.LayerNorm.gamma",
            "bert/embeddings/LayerNorm/gamma",
            False,
        ),
        (
            "encoder.layer.11.attention.self.query.weight",
            "bert/encoder/layer_11/attention/self/query/kernel",
            True,
        ),
        (
            "encoder.layer.3.attention.output.LayerNorm.beta",
            "bert/encoder/layer_3/attention/output/LayerNorm/beta",
            False,
        ),
        ("pooler.dense.bias", "bert/pooler/dense/bias", False),
    ],
)
@pytest.mark.parametrize("prefix", ["", "bert."])
def test_encoder_names(prefix, hugging, name, transpose):
    assert huggingface.name_of_2018(prefix + hugging) == (name, transpose)


@pytest.mark.parametrize(
    ("hugging", "name", "transpose"),
    [
        (
            "cls.predictions.transform.dense.weight",
            "cls/predictions/transform/dense/kernel",
            True,
        ),
        ("cls.predictions.bias", "cls/predictions/output_bias", False),
        (
            "cls.seq_relationship.weight",
            "cls/seq_relationship/output_weights",
            False,
        ),
        ("classifier.weight", "output_weights", False),
        ("qa_outputs.bias", "cls/squad/output_bias", False),
        # What BERT does not have keeps its name, and its place in the scope.
        (
            "bert.encoder.layer.0.attention.self.distance_embedding.weight",
            "bert/encoder/layer_0/attention/self/distance_embedding/kernel",
            True,
        ),
        ("lstm.cell", "lstm/cell", False),
    ],
)
def test_other_names(hugging, name, transpose):
    assert huggingface.name_of_2018(hugging) == (name, transpose)


def test_every_name_comes_back():
    for name in SHAPES:
        hugging, transpose = huggingface.name_of_hugging_face(name)
        assert huggingface.name_of_2018(hugging) == (name, transpose)


@pytest.mark.parametrize(
    ("scopes", "class_name"),
    [
        (("-bert/pooler",), "BertModel"),
        (("cls/predictions", "-bert/pooler"), "BertForMaskedLM"),
        # Classifiers of texts have a pooler, those of pieces none.
        (("output_", "-bert/pooler"), "BertForTokenClassification"),
        ((), "BertModel"),
        (("cls/predictions",), "BertForMaskedLM"),
        (("cls/seq_relationship",), "BertForNextSentencePrediction"),
        (("cls/predictions", "cls/seq_relationship"), "BertForPreTraining"),
        (("output_",), "BertForSequenceClassification"),
        (("cls/squad",), "BertForQuestionAnswering"),
        (("cls/squad", "cls/predictions"), "BertForQuestionAnswering"),
    ],
)
def test_the_class_follows_from_the_heads(scopes, class_name):
    left_out = tuple(scope[1:] for scope in scopes if scope[0] == "-")
    names = [
        name
        for name in SHAPES
        if name.startswith(("bert/", *scopes))
        and not (left_out and name.startswith(left_out))
    ]
    assert huggingface.choose_class(names) == class_name


def test_a_class_for_question_answering_has_no_pooler():
    names = ["bert/pooler/dense/bias", "output_bias", "cls/squad/output_bias"]
    has_place = [
        huggingface.has_place("BertForQuestionAnswering", name)
        for name in names
    ]
    assert has_place == [False, False, True]


# Models of Hugging Face's with its own results.


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


# Spellings, and files that are not to be read.


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
