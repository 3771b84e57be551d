"""Tests of Hugging Face's names, there and back."""

import pytest

from bert_tf.checkpoints import variable_table
from bert_tf.config import BertConfig
from bert_tf.formats import huggingface

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
