"""Tests of the table of variables: it must say what the layers make."""

import dataclasses

import pytest

from bert_tf.checkpoints import variable_table
from bert_tf.checkpoints.weight_reader import Stored, WeightReader
from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.model import models
from bert_tf.weights import loading

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


ENCODER = stored(variable_table.encoder_shapes(CONFIG))


def test_the_table_is_what_the_layers_make():
    model = models.pretraining_model(CONFIG)
    made = {
        name: tuple(variable.shape)
        for name, variable in loading.variable_names(model).items()
    }
    table = {
        **variable_table.encoder_shapes(CONFIG),
        **variable_table.head_shapes(CONFIG, num_labels=7),
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
    assert [variable_table.is_encoders(name) for name in names] == [
        True,
        True,
        False,
    ]
    assert [variable_table.is_inner(name) for name in names] == [
        True,
        False,
        False,
    ]


def test_sizes_are_read_off_the_shapes():
    found = variable_table.sizes(ENCODER)
    without_heads = CONFIG.to_dict()
    assert found == {name: without_heads[name] for name in found}
    assert len(found) == 6
    assert variable_table.sizes(stored({"w": (2,)})) == {}


def test_heads_are_told_by_their_biases():
    assert variable_table.heads(ENCODER) == []
    heads = stored(variable_table.head_shapes(CONFIG, 3))
    assert variable_table.heads(heads) == list(variable_table.HEADS)


class Reader(WeightReader):
    """Variables without values."""

    def __init__(self, entries, num_attention_heads=None):
        super().__init__("p", entries)
        self.num_attention_heads = num_attention_heads


def assert_refused(entries, match, config=CONFIG, **options):
    with pytest.raises(UserError, match=f"p is not of .* c describes. {match}"):
        variable_table.require_config(Reader(entries, **options), config, "c")


def test_a_model_that_fits_is_accepted_with_heads_and_without_pooler():
    heads = stored(variable_table.head_shapes(CONFIG, 3))
    variable_table.require_config(Reader({**ENCODER, **heads}, 3), CONFIG, "c")
    without = {n: s for n, s in ENCODER.items() if variable_table.is_inner(n)}
    variable_table.require_config(Reader(without), CONFIG, "c")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        (
            {"intermediate_size": 19},
            r"Other sizes: `intermediate_size` 19 \(17 in the weights\)",
        ),
        # Whose variables would not fit into memory.
        ({"num_hidden_layers": 10**9}, "Other sizes: `num_hidden_layers` 1000"),
        ({"num_hidden_layers": 1}, r"Other sizes: .*1 \(2 in the weights"),
        (
            {"num_attention_heads": 6},
            r"Other sizes: `num_attention_heads` 6 \(3 in the weights\)",
        ),
    ],
)
def test_other_sizes_are_refused_with_both_numbers(changes, match):
    config = dataclasses.replace(CONFIG, **changes)
    assert_refused(ENCODER, match, config, num_attention_heads=3)


def without(*names):
    return {n: entry for n, entry in ENCODER.items() if n not in names}


@pytest.mark.parametrize(
    ("entries", "match"),
    [
        (
            without("bert/encoder/layer_1/output/dense/bias"),
            "Not in the file: bert/encoder/layer_1/output/dense/bias",
        ),
        # A part of the pooler, and a part of a head.
        (
            without("bert/pooler/dense/bias"),
            "Not in the file: bert/pooler/dense/bias[.]",
        ),
        (
            {**ENCODER, **stored({"cls/predictions/output_bias": (61,)})},
            "Not in the file: cls/predictions/transform/dense/kernel",
        ),
        (
            {**ENCODER, **stored({"output_bias": (3,)})},
            "Not in the file: output_weights[.]",
        ),
        (
            {**ENCODER, **stored({"cls/predictions/output_bias": (60,)})},
            r"Of another shape: cls/predictions/output_bias \(\[60\] in the f",
        ),
        (
            {
                **ENCODER,
                **stored({"output_bias": (0,), "output_weights": (0, 12)}),
            },
            r"Of another shape: output_weights \(\[0, 12\]",
        ),
        (
            {
                **ENCODER,
                "bert/pooler/dense/bias": Stored("float16", (12,)),
            },
            r"Not float32: bert/pooler/dense/bias \(float16\)",
        ),
        (
            {**ENCODER, **stored({"bert/encoder/layer_1/more": (2,)})},
            "Not in such a model: bert/encoder/layer_1/more",
        ),
    ],
)
def test_what_is_not_a_whole_model_is_refused(entries, match):
    assert_refused(entries, match)
