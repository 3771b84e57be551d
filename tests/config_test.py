import dataclasses
import json

import pytest

from bert_tf.config import BertConfig
from bert_tf.errors import UserError


def test_defaults_are_those_of_2018():
    config = BertConfig(vocab_size=61)
    assert config.to_dict() == {
        "vocab_size": 61,
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "max_position_embeddings": 512,
        "type_vocab_size": 16,
        "initializer_range": 0.02,
        # 2018 had no key for it.
        "layer_norm_eps": 1e-12,
    }


def test_json_round_trip(tmp_path):
    config = BertConfig(vocab_size=61, hidden_size=12, num_attention_heads=3)
    path = tmp_path / "bert_config.json"
    path.write_text(config.to_json_string())
    assert BertConfig.from_json_file(str(path)) == config


def test_config_cannot_be_changed_in_place():
    config = BertConfig(vocab_size=61)
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.hidden_size = 12
    assert dataclasses.replace(config, hidden_size=24).hidden_size == 24


@pytest.mark.parametrize(
    ("given", "kept"),
    [("GELU", "gelu"), (None, ""), ("", ""), ("Linear", "linear")],
)
def test_hidden_act_is_read_as_in_2018(given, kept):
    assert BertConfig(vocab_size=61, hidden_act=given).hidden_act == kept


def test_unknown_keys_are_named_once(caplog):
    BertConfig.from_dict({"vocab_size": 61, "hiden_size": 3})
    assert "hiden_size" in caplog.text


def test_keys_that_released_models_have_pass_in_silence(caplog):
    BertConfig.from_dict({"vocab_size": 61, "directionality": "bidi"})
    assert not caplog.records


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocab_size": 0}, "`vocab_size` is 0; it must be a whole number > 0"),
        ({"hidden_size": 10.5}, "`hidden_size` is 10.5"),
        ({"num_hidden_layers": True}, "`num_hidden_layers` is True"),
        ({"hidden_size": 10}, r"\(10\) is not a multiple .* \(12\)"),
        ({"hidden_act": "swish"}, "`hidden_act` is 'swish'; it must be one of"),
        (
            {"hidden_dropout_prob": 1.0},
            "`hidden_dropout_prob` is 1.0; .* below",
        ),
        ({"attention_probs_dropout_prob": "0.1"}, "is '0.1'; it must be a num"),
        ({"initializer_range": -0.1}, "`initializer_range` is -0.1"),
        ({"layer_norm_eps": None}, "`layer_norm_eps` is None"),
    ],
)
def test_impossible_values_are_refused_by_name(changes, message):
    with pytest.raises(UserError, match=message):
        BertConfig.from_dict({"vocab_size": 61, **changes})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n"vocab_size": 61,,\n}', "bert_config.json, line 2: not JSON"),
        ("[61]", "bert_config.json: .* JSON object, this is a list"),
        ("{}", "bert_config.json: `vocab_size` is missing"),
        ('{"vocab_size": -1}', "bert_config.json: `vocab_size` is -1"),
    ],
)
def test_a_bad_file_is_named(tmp_path, text, message):
    path = tmp_path / "bert_config.json"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        BertConfig.from_json_file(str(path))


def test_another_epsilon_is_kept_and_2018_s_is_not_written():
    config = BertConfig(vocab_size=61)
    assert "layer_norm_eps" not in config.to_json_string()
    other = BertConfig(vocab_size=61, layer_norm_eps=1e-5)
    written = json.loads(other.to_json_string())
    assert BertConfig.from_dict(written) == other


def test_a_byte_order_mark_does_no_harm(tmp_path):
    path = tmp_path / "bert_config.json"
    path.write_text("\ufeff" + json.dumps({"vocab_size": 61}))
    assert BertConfig.from_json_file(str(path)).vocab_size == 61


def test_differences_are_listed_but_for_dropout():
    config = BertConfig(vocab_size=61, hidden_dropout_prob=0.0)
    assert config.differences(BertConfig(vocab_size=61)) == []
    other = BertConfig(vocab_size=62, hidden_act="relu")
    assert config.differences(other) == [
        "vocab_size 61 (there 62)",
        "hidden_act 'gelu' (there 'relu')",
    ]
