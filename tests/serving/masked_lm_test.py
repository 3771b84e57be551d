"""Tests of bert_tf.serving.masked_lm: K=3, S=9."""

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.errors import UserError
from bert_tf.model import models
from bert_tf.serving.masked_lm import ServedMaskedLM

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "red", "fox", "##es"]


@pytest.fixture
def make(tiny_config, tmp_path):
    def make(pieces):
        path = tmp_path / "vocab.txt"
        path.write_text("\n".join(pieces) + "\n")
        model = models.pretraining_model(tiny_config)
        served = ServedMaskedLM(
            model,
            tiny_config,
            top_k=3,
            vocab_file=str(path),
            do_lower_case=True,
            max_seq_length=9,
        )
        return served, model

    return make


def test_pack_finds_the_masks(make):
    """Each is a piece; what stands around one is tokenized by itself."""
    served, _ = make(PIECES)
    texts = ["Red [MASK]es", "", "[MASK]red[MASK]", "red [mask]"]
    packed = served.pack(tf.constant(texts))
    assert packed["input_ids"].numpy().tolist() == [
        [2, 5, 4, 1, 3, 0],
        [2, 3, 0, 0, 0, 0],
        [2, 4, 5, 4, 3, 0],
        [2, 5, 1, 1, 1, 3],
    ]
    positions = packed["masked_lm_positions"].numpy().tolist()
    assert positions == [[2, 0], [0, 0], [1, 3], [0, 0]]


def test_serving_text_gives_the_most_probable_pieces(make):
    """Each mask's three, from the logits that the model itself gives."""
    served, model = make(PIECES)
    texts = tf.constant(["red [MASK] [MASK]", "fox", "[MASK]"])
    outputs = served.signatures()["serving_text"](texts)
    inputs = served.pack(texts)
    logits = model(inputs)["masked_lm_logits"].numpy()  # [B, P, V]
    names = [*PIECES, *(f"[unused id {i}]" for i in range(len(PIECES), 61))]
    probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    for row, masks in enumerate(inputs["masked_lm_positions"].numpy()):
        for place, position in enumerate(masks):
            words = outputs["words"][row, place].numpy().tolist()
            if not position:
                assert words == [b"", b"", b""]
                assert not outputs["probabilities"][row, place].numpy().any()
                continue
            best = np.argsort(-logits[row, place])[:3]
            assert words == [names[i].encode() for i in best]
            # float32 softmax, taken two ways.
            np.testing.assert_allclose(
                outputs["probabilities"][row, place],
                probabilities[row, place, best],
                atol=1e-6,
            )


def test_samples_fit_the_signatures(make):
    served, _ = make(PIECES)
    signatures = served.signatures()
    for name, inputs in served.samples().items():
        signatures[name](**{k: tf.constant(v) for k, v in inputs.items()})
    assert set(signatures) == set(served.samples())


def test_masked_language_model_wants_a_mask(make):
    with pytest.raises(UserError, match=r"\[MASK\]"):
        make([piece for piece in PIECES if piece != "[MASK]"])


def test_masked_language_model_gives_no_more_pieces_than_there_are(
    tiny_config, make
):
    _, model = make(PIECES)
    with pytest.raises(UserError, match="--top_k=62 is more than the 61"):
        ServedMaskedLM(
            model,
            tiny_config,
            top_k=62,
            vocab_file="",
            do_lower_case=True,
            max_seq_length=9,
        )
