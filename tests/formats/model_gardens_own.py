"""Model Garden's own classes, those of tf-models-official, in a small size.

B=2, S=9, P=5, V=61, D=12, N=3 (H=4), L=7; 2 layers, 17 inner, 23 positions.
"""

import numpy as np
import tensorflow as tf
import tf_keras
from official.nlp.modeling import layers as mg_layers
from official.nlp.modeling import models as mg_models
from official.nlp.modeling import networks as mg_networks

from bert_tf.checkpoints import checkpoint_io
from bert_tf.config import BertConfig
from bert_tf.formats.model_garden import ModelGardenReader

CONFIG = BertConfig(
    vocab_size=61,
    hidden_size=12,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=17,
    max_position_embeddings=23,
    type_vocab_size=2,
)
# The outputs are of size 1 to 10; the two sum in different orders.
TOLERANCE = 1e-5


def gelu(x):
    return tf_keras.activations.gelu(x, approximate=True)


def mg_encoder(class_name, config=CONFIG):
    encoder = getattr(mg_networks, class_name)(
        vocab_size=config.vocab_size,
        hidden_size=config.hidden_size,
        num_layers=config.num_hidden_layers,
        num_attention_heads=config.num_attention_heads,
        inner_dim=config.intermediate_size,
        max_sequence_length=config.max_position_embeddings,
        type_vocab_size=config.type_vocab_size,
    )
    encoder(encoder.inputs)  # Makes the variables.
    return encoder


def mg_pretrainer(config=CONFIG, heads=("next_sentence",)):
    # Not with the functional BertEncoder: it warns of `masked_lm_positions`.
    pretrainer = mg_models.BertPretrainerV2(
        mg_encoder("BertEncoderV2", config),
        mlm_activation=gelu,
        classification_heads=[
            mg_layers.ClassificationHead(config.hidden_size, 2, name=name)
            for name in heads
        ],
    )
    pretrainer(pretrainer.inputs)
    return pretrainer


def mg_classifier(class_name="BertEncoder", *, use_encoder_pooler=True):
    return mg_models.BertClassifier(
        mg_encoder(class_name), 7, use_encoder_pooler=use_encoder_pooler
    )


def mg_span_labeler(class_name="BertEncoder"):
    return mg_models.BertSpanLabeler(mg_encoder(class_name))


def mg_pretrainer_1():
    return mg_models.BertPretrainer(mg_encoder("BertEncoder"), 2, 5)


def mg_inputs(inputs):
    """Gives the encoder's inputs Model Garden's names."""
    return {
        "input_word_ids": inputs["input_ids"],
        "input_mask": inputs["input_mask"],
        "input_type_ids": inputs["segment_ids"],
    }


def call_pretrainer(pretrainer, inputs):
    """Returns the logits of the masked LM and of the next sentence."""
    positions = {"masked_lm_positions": inputs["masked_lm_positions"]}
    outputs = pretrainer(mg_inputs(inputs) | positions, training=False)
    return outputs["mlm_logits"], outputs["next_sentence"]


def assert_close(value, expected):
    np.testing.assert_allclose(value, expected, rtol=0, atol=TOLERANCE)


def save(folder, items):
    """Saves as Model Garden's users do."""
    path = tf.train.Checkpoint(**items).write(str(folder / "mg.ckpt"))
    return ModelGardenReader(checkpoint_io.CheckpointReader(path))
