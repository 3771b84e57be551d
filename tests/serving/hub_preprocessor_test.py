"""Tests of bert_tf.serving.hub_preprocessor; ids are compared exactly.

S=9 (by default) and 13; loaded as others do, by tensorflow_hub.
"""

import json
import os

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_hub as hub
import tf_keras

from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.features import INPUT_KEYS
from bert_tf.model.encoder import BertEncoder
from bert_tf.serving import export
from bert_tf.serving.hub_encoder import HUB_INPUTS, HubEncoder
from bert_tf.serving.hub_preprocessor import HubPreprocessor
from bert_tf.serving.servable import SAMPLE_TEXTS
from bert_tf.text import packing

TEXTS_A = ["The cats, unaffable!", "", *SAMPLE_TEXTS]
TEXTS_B = ["a dog", "one", "", "two of them there", "no"]
NO_TEXTS = [""] * len(TEXTS_A)


@pytest.fixture(scope="module")
def tasks(request):
    return request.path.parents[1] / "testdata" / "golden" / "tasks"


@pytest.fixture(scope="module")
def exported(tasks, tmp_path_factory):
    served = HubPreprocessor(
        vocab_file=str(tasks / "vocab.txt"),
        do_lower_case=True,
        max_seq_length=9,
    )
    folder = tmp_path_factory.mktemp("export")
    return export.export(served, str(folder), verify=False)


@pytest.fixture(scope="module")
def preprocessor(exported):
    return hub.load(exported)


@pytest.fixture(scope="module")
def tokenizer(tasks):
    return packing.new_tokenizer(str(tasks / "vocab.txt"), True)


def _expected(tokenizer, texts_a, texts_b, length):
    """Returns what Python makes of texts, by HUB_INPUTS: lists [B][S]."""
    to_ids = tokenizer.tokenize_to_ids
    special_ids = tokenizer.convert_tokens_to_ids(["[CLS]", "[SEP]"])
    rows = {name: [] for name in HUB_INPUTS}
    for text_a, text_b in zip(texts_a, texts_b, strict=True):
        ids, num_first, _ = packing.pack(
            to_ids(text_a), to_ids(text_b), length, special_ids
        )
        padding = [0] * (length - len(ids))
        segments = [0] * num_first + [1] * (len(ids) - num_first)
        rows["input_word_ids"].append(ids + padding)
        rows["input_mask"].append([1] * len(ids) + padding)
        rows["input_type_ids"].append(segments + padding)
    return rows


def _as_lists(packed):
    return {name: value.numpy().tolist() for name, value in packed.items()}


def test_texts_become_the_encoders_inputs(preprocessor, tokenizer):
    packed = hub.KerasLayer(preprocessor)(tf.constant(TEXTS_A))
    expected = _expected(tokenizer, TEXTS_A, NO_TEXTS, 9)
    assert _as_lists(packed) == expected
    run = preprocessor.signatures["serving_default"]
    assert _as_lists(run(text=tf.constant(TEXTS_A))) == expected


def test_tokenize_groups_the_pieces_of_a_word(preprocessor, tokenizer):
    words = hub.KerasLayer(preprocessor.tokenize)(tf.constant(TEXTS_A))
    assert words.dtype == tf.int32
    assert words.shape.rank == 3
    assert words.to_list() == [
        [
            tokenizer.convert_tokens_to_ids(
                tokenizer.wordpiece_tokenizer.tokenize(word)
            )
            for word in tokenizer.basic_tokenizer.tokenize(text)
        ]
        for text in TEXTS_A
    ]
    assert any(len(word) > 1 for row in words.to_list() for word in row)


def test_special_tokens_are_named(preprocessor, tokenizer):
    found = preprocessor.tokenize.get_special_tokens_dict()
    vocab = tokenizer.vocab
    assert {name: value.numpy() for name, value in found.items()} == {
        "start_of_sequence_id": vocab["[CLS]"],
        "end_of_segment_id": vocab["[SEP]"],
        "padding_id": vocab["[PAD]"],
        "mask_id": vocab["[MASK]"],
        "vocab_size": len(vocab),
    }


@pytest.mark.parametrize("are_words", [True, False])
@pytest.mark.parametrize("texts_b", [None, TEXTS_B])
def test_bert_pack_inputs(preprocessor, tokenizer, are_words, texts_b):
    """One text or two; cut at a length of the caller's, else at the default."""
    texts = [TEXTS_A] if texts_b is None else [TEXTS_A, texts_b]
    segments = [preprocessor.tokenize(tf.constant(rows)) for rows in texts]
    if not are_words:
        segments = [words.merge_dims(1, 2) for words in segments]
    for length, arguments in ((13, {"seq_length": 13}), (9, {})):
        pack = hub.KerasLayer(
            preprocessor.bert_pack_inputs, arguments=arguments
        )
        expected = _expected(tokenizer, TEXTS_A, texts_b or NO_TEXTS, length)
        assert _as_lists(pack(segments)) == expected


def test_description_and_assets(exported, tasks):
    assets = os.path.join(exported, "assets")
    assert sorted(os.listdir(assets)) == ["export.json", "vocab.txt"]
    with open(os.path.join(assets, "export.json"), encoding="utf-8") as stream:
        assert json.load(stream) == {
            "kind": "preprocessor",
            "do_lower_case": True,
            "max_seq_length": 9,
        }


def test_no_room_for_pieces_is_refused(tasks):
    with pytest.raises(UserError, match="max_seq_length=2 leaves no room"):
        HubPreprocessor(
            vocab_file=str(tasks / "vocab.txt"),
            do_lower_case=True,
            max_seq_length=2,
        )


def test_a_vocabulary_without_sep_is_refused(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n")
    with pytest.raises(UserError, match=r"\[SEP\]"):
        HubPreprocessor(
            vocab_file=str(path), do_lower_case=True, max_seq_length=9
        )


@pytest.mark.slow
def test_the_chain_of_the_tutorials_trains(exported, tasks, tmp_path):
    """Texts, preprocessor, encoder, a Dense layer; then fit."""
    config = BertConfig.from_json_file(str(tasks / "bert_config.json"))
    tf_keras.utils.set_random_seed(3)
    encoder = BertEncoder(config)
    path = export.export(
        HubEncoder(encoder, config), str(tmp_path / "encoder"), verify=False
    )
    texts = tf_keras.Input([], dtype=tf.string)
    layer = hub.KerasLayer(path, trainable=True)
    inputs = hub.KerasLayer(exported)(texts)
    vectors = layer(inputs)["pooled_output"]
    batch = tf.constant(TEXTS_A)
    packed, actual = tf_keras.Model(texts, (inputs, vectors))(batch)
    expected = encoder(
        {key: packed[name] for key, name in zip(INPUT_KEYS, HUB_INPUTS)}
    )
    # The same operations, but compiled anew.
    np.testing.assert_allclose(actual, expected["pooled_output"], atol=1e-5)

    model = tf_keras.Model(texts, tf_keras.layers.Dense(1)(vectors))
    before = [weight.numpy() for weight in layer.trainable_weights]
    model.compile(tf_keras.optimizers.Adam(0.003), "mse")
    labels = np.array([[1.0], [0.0], [1.0], [0.0], [1.0]])
    losses = model.fit(batch, labels, epochs=10, verbose=0).history["loss"]
    assert losses[-1] < losses[0] / 2
    for weight, value in zip(layer.trainable_weights, before):
        assert np.abs(weight - value).max() > 0, weight.name
