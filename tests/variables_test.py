"""Tests of the table of variables: it must say what the layers make."""

import dataclasses

import pytest

from bert_tf import checkpoint, models, variables
from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.weight_reader import Stored

CONFIG = BertConfig(
    vocab_size=61,
    hidden_size=12,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=17,
    max_position_embeddings=23,
    type_vocab_size=5,
)


def stored(shapes):
    return {name: Stored("float32", shape) for name, shape in shapes.items()}


ENCODER = stored(variables.encoder_shapes(CONFIG))


def test_the_table_is_what_the_layers_make():
    model = models.pretraining_model(CONFIG)
    made = {
        name: tuple(variable.shape)
        for name, variable in checkpoint.variable_names(model).items()
    }
    table = {
        **variables.encoder_shapes(CONFIG),
        **variables.head_shapes(CONFIG, num_labels=7),
    }
    others = {
        "output_weights": (7, 12),
        "output_bias": (7,),
        "cls/squad/output_weights": (2, 12),
        "cls/squad/output_bias": (2,),
    }
    assert table == {**made, **others}


def test_scopes():
    names = ["bert/encoder/x", "bert/pooler/x", "cls/squad/output_bias"]
    assert [variables.is_encoders(name) for name in names] == [
        True,
        True,
        False,
    ]
    assert [variables.is_inner(name) for name in names] == [True, False, False]


def test_sizes_are_read_off_the_shapes():
    found = variables.sizes(ENCODER)
    without_heads = CONFIG.to_dict()
    assert found == {name: without_heads[name] for name in found}
    assert len(found) == 6
    assert variables.sizes(stored({"w": (2,)})) == {}


def test_heads_are_told_by_their_biases():
    assert variables.heads(ENCODER) == []
    heads = stored(variables.head_shapes(CONFIG, 3))
    assert variables.heads(heads) == list(variables.HEADS)


def test_a_model_that_fits_is_accepted_with_heads_and_without_pooler():
    heads = stored(variables.head_shapes(CONFIG, 3))
    variables.require_config({**ENCODER, **heads}, CONFIG, "p", "c")
    without = {n: s for n, s in ENCODER.items() if variables.is_inner(n)}
    variables.require_config(without, CONFIG, "p", "c")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        (
            {"intermediate_size": 19},
            r"Of another shape: bert/encoder/layer_0/intermediate/dense/kernel "
            r"\(\[12, 17\] in the file, \[12, 19\] here\)",
        ),
        ({"num_hidden_layers": 3}, "Not in the file: bert/encoder/layer_2/att"),
        ({"num_hidden_layers": 1}, "Not in such a model: bert/encoder/layer_1"),
    ],
)
def test_another_model_is_refused_with_a_list(changes, match):
    config = dataclasses.replace(CONFIG, **changes)
    with pytest.raises(UserError, match=f"p is not of .* c describes. {match}"):
        variables.require_config(ENCODER, config, "p", "c")


def test_a_head_of_another_shape_is_refused():
    head = stored({"cls/predictions/output_bias": (60,)})
    with pytest.raises(UserError, match=r"output_bias \(\[60\] in the file"):
        variables.require_config({**ENCODER, **head}, CONFIG, "p", "c")
