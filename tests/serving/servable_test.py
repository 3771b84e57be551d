"""Tests of bert_tf.serving.servable: S=7, D=12, N=3, V=61."""

import json

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.errors import UserError
from bert_tf.features import INPUT_KEYS
from bert_tf.model.encoder import BertEncoder
from bert_tf.serving.servable import ServedModel


@pytest.fixture
def vocab_file(tmp_path):
    path = tmp_path / "pieces.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nred\nfox\n##es\n")
    return path


@pytest.fixture
def served(tiny_config, vocab_file):
    served = ServedModel(
        BertEncoder(tiny_config),
        tiny_config,
        vocab_file=str(vocab_file),
        do_lower_case=True,
        max_seq_length=7,
    )
    served.kind = "example"
    return served


def test_pack_makes_the_models_inputs(served):
    packed = served.pack(
        tf.constant(["Red foxes", ""]), tf.constant(["red", "fox"])
    )
    assert {k: v.numpy().tolist() for k, v in packed.items()} == {
        "input_ids": [[2, 4, 5, 6, 3, 4, 3], [2, 3, 5, 3, 0, 0, 0]],
        "input_mask": [[1] * 7, [1] * 4 + [0] * 3],
        "segment_ids": [[0] * 5 + [1] * 2, [0] * 2 + [1] * 2 + [0] * 3],
    }


def test_asset_files_say_what_it_is(served, tiny_config, vocab_file):
    contents = served.asset_files()
    assert json.loads(contents["export.json"]) == {
        "kind": "example",
        "do_lower_case": True,
        "max_seq_length": 7,
        "input_names": list(INPUT_KEYS),
    }
    assert contents["bert_config.json"].decode() == tiny_config.to_json_string()
    assert contents["vocab.txt"] == vocab_file.read_bytes()


def test_samples_fit_the_signatures(served):
    """And what pieces give, records of the same pieces give too."""
    signatures, samples = served.signatures(), served.samples()
    assert set(signatures) == set(samples)
    outputs = {
        name: signatures[name](**{k: tf.constant(v) for k, v in inputs.items()})
        for name, inputs in samples.items()
    }
    # To 1e-5, as the lengths of the padding differ.
    np.testing.assert_allclose(
        outputs["serving_default"]["pooled_output"],
        outputs["serving_examples"]["pooled_output"],
        atol=1e-5,
    )


def test_served_wants_the_special_tokens(tiny_config, tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n")
    with pytest.raises(UserError, match=r"\[SEP\]"):
        ServedModel(
            BertEncoder(tiny_config),
            tiny_config,
            vocab_file=str(path),
            do_lower_case=True,
            max_seq_length=7,
        )
