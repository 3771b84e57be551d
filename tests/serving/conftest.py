"""Fixtures of the tests of what is served."""

import pytest

from bert_tf.config import BertConfig


@pytest.fixture
def tiny_config():
    """D=12, N=3, V=61, two layers, no dropout."""
    return BertConfig(
        vocab_size=61,
        hidden_size=12,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=17,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        max_position_embeddings=11,
    )
