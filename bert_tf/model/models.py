"""Whole models: an encoder with the heads of a job.

Each is a functional tf_keras.Model, whose inputs are BertEncoder's three and
what else is told, and whose output is a dict. Its attribute `encoder` is the
BertEncoder, made of `config`, a BertConfig, and `use_one_hot_embeddings`.

B batch, S sequence length, P masked positions, V vocabulary, L labels
"""

import tensorflow as tf
import tf_keras

from bert_tf.features import INPUT_KEYS
from bert_tf.model import heads
from bert_tf.model.encoder import BertEncoder


def run_model(model, batch, *, training):
    """Runs a model on what it takes of a batch of records (dict); a dict."""
    inputs = {name: batch[name] for name in model.input_names}
    return model(inputs, training=training)


def pretraining_model(config, *, use_one_hot_embeddings=False):
    """Builds the encoder with the masked LM and next-sentence heads.

    One more input is "masked_lm_positions", int32 [B, P], each in [0, S).

    Returns:
      tf_keras.Model, whose outputs are
        masked_lm_logits: float32 [B, P, V].
        next_sentence_logits: float32 [B, 2]; 0 next, 1 random.

    Source: `model_fn_builder` in run_pretraining.py (2018).
    """
    encoder = BertEncoder(config, use_one_hot_embeddings=use_one_hot_embeddings)
    inputs = _inputs(*INPUT_KEYS, "masked_lm_positions")
    encoded = encoder({key: inputs[key] for key in INPUT_KEYS})
    masked_lm = heads.MaskedLanguageModel(config, encoder.word_embeddings)
    next_sentence = heads.NextSentence(config)
    outputs = {
        "masked_lm_logits": masked_lm(
            encoded["sequence_output"], inputs["masked_lm_positions"]
        ),
        "next_sentence_logits": next_sentence(encoded["pooled_output"]),
    }
    return _model(encoder, inputs, outputs, "pretraining")


def classifier_model(config, num_outputs, *, use_one_hot_embeddings=False):
    """Builds the encoder with a classifier on its pooled output.

    Returns:
      tf_keras.Model, whose output is
        logits: float32 [B, L], L being `num_outputs`.

    Source: `create_model` in run_classifier.py (2018).
    """
    encoder = BertEncoder(config, use_one_hot_embeddings=use_one_hot_embeddings)
    inputs = _inputs(*INPUT_KEYS)
    classifier = heads.Classifier(config, num_outputs)
    outputs = {"logits": classifier(encoder(inputs)["pooled_output"])}
    return _model(encoder, inputs, outputs, "classifier")


def question_answering_model(config, *, use_one_hot_embeddings=False):
    """Builds the encoder with a head that finds an answer's two ends.

    Returns:
      tf_keras.Model, whose outputs are
        start_logits: float32 [B, S], of the answer's first piece.
        end_logits: float32 [B, S], of its last one.

    Source: `create_model` in run_squad.py (2018).
    """
    encoder = BertEncoder(config, use_one_hot_embeddings=use_one_hot_embeddings)
    inputs = _inputs(*INPUT_KEYS)
    logits = heads.AnswerSpan(config)(encoder(inputs)["sequence_output"])
    start_logits, end_logits = tf.unstack(logits, axis=-1)
    outputs = {"start_logits": start_logits, "end_logits": end_logits}
    return _model(encoder, inputs, outputs, "question_answering")


def _inputs(*names):
    return {
        name: tf_keras.Input([None], dtype=tf.int32, name=name)
        for name in names
    }


def _model(encoder, inputs, outputs, name):
    model = tf_keras.Model(inputs, outputs, name=name)
    model.encoder = encoder
    return model
