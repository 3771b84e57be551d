"""Tests of Hugging Face's configurations, read and written."""

import json

import pytest

from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.formats import huggingface_config

CONFIG = BertConfig(
    vocab_size=61,
    hidden_size=12,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=17,
    hidden_act="relu",
    hidden_dropout_prob=0.2,
    attention_probs_dropout_prob=0.3,
    max_position_embeddings=23,
    type_vocab_size=5,
    initializer_range=0.04,
    layer_norm_eps=1e-5,
)


def write(folder, contents):
    path = folder / "config.json"
    path.write_text(json.dumps(contents))
    return str(path)


def test_a_configuration_comes_back(tmp_path):
    contents = huggingface_config.to_hugging_face(CONFIG, "BertModel")
    assert huggingface_config.read(write(tmp_path, contents)) == CONFIG


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("gelu", "gelu_erf"),
        ("gelu_new", "gelu"),
        ("gelu_pytorch_tanh", "gelu"),
        ("relu", "relu"),
        ("linear", "linear"),
    ],
)
def test_activations_keep_their_numbers(tmp_path, theirs, ours):
    path = write(tmp_path, {"hidden_act": theirs})
    assert huggingface_config.read(path).hidden_act == ours


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("gelu", "gelu_new"), ("gelu_erf", "gelu"), ("", "linear")],
)
def test_activations_are_written_in_their_words(ours, theirs):
    config = BertConfig(vocab_size=61, hidden_act=ours)
    contents = huggingface_config.to_hugging_face(config, "BertModel")
    assert contents["hidden_act"] == theirs


def test_what_is_not_said_is_hugging_face_s_default(tmp_path):
    contents = {"hidden_act": None, "hidden_size": None}
    config = huggingface_config.read(write(tmp_path, contents))
    assert config == BertConfig(
        vocab_size=30522, type_vocab_size=2, hidden_act="gelu_erf"
    )


def test_a_classifier_s_labels_are_counted():
    contents = huggingface_config.to_hugging_face(
        CONFIG, "BertForSequenceClassification", num_labels=2
    )
    assert contents["id2label"] == {"0": "LABEL_0", "1": "LABEL_1"}
    assert contents["label2id"] == {"LABEL_0": 0, "LABEL_1": 1}


@pytest.mark.parametrize(
    ("contents", "match"),
    [
        ({"model_type": "roberta"}, "`model_type` is 'roberta'.*architecture"),
        ({"position_embedding_type": "relative_key"}, "relative positions"),
        ({"is_decoder": True}, "a decoder"),
        ({"add_cross_attention": True}, "another sequence"),
        ({"pruned_heads": {"1": [0]}}, "fewer heads"),
        ({"hidden_act": "silu"}, "`hidden_act` is 'silu'; known are gelu"),
        ({"hidden_act": ["gelu"]}, "known are"),
        ({"hidden_size": 10}, r"\(10\) is not a multiple"),
        ([1], "a JSON object, this is a list"),
        ({"layer_norm_eps": float("inf")}, "finite and at least 0"),
    ],
)
def test_what_is_no_plain_bert_is_refused(tmp_path, contents, match):
    path = write(tmp_path, contents)
    with pytest.raises(UserError, match=match) as raised:
        huggingface_config.read(path)
    assert path in str(raised.value)


def test_a_file_that_is_not_json_is_named(tmp_path):
    path = tmp_path / "config.json"
    path.write_text("{")
    with pytest.raises(UserError, match="config.json: not JSON"):
        huggingface_config.read(str(path))
