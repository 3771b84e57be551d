"""Tests of the table of places: D=12, N=3, H=4, L=7."""

import numpy as np
import pytest

from bert_tf.checkpoints import variable_table
from bert_tf.checkpoints.weight_reader import Stored
from bert_tf.config import BertConfig
from bert_tf.formats.model_garden_names import (
    Place,
    Source,
    axes_text,
    bind,
    block_paths,
    encoder_parts,
    head_parts,
    head_pooler_part,
    pooler_part,
    shape_of,
)

SIZES = {"D": 12, "N": 3, "H": 4, "2": 2}


@pytest.mark.parametrize(
    ("place", "there", "in_2018"),
    [
        (Place("", "D NH"), (12, 3, 4), (12, 12)),
        (Place("", "NH D"), (3, 4, 12), (12, 12)),
        (Place("", "NH"), (3, 4), (12,)),
        (Place("", "2 D", transposed=True), (12, 2), (2, 12)),
        (Place("", "D d"), (12, 12), (12, 12)),
    ],
)
def test_shapes_of_both_sides(place, there, in_2018):
    assert shape_of(place.model_garden_axes(), SIZES) == there
    assert shape_of(place.axes.split(), SIZES) == in_2018


def test_bind_learns_and_then_checks():
    sizes = {"2": 2}
    assert bind(["D", "N", "H"], (12, 3, 4), sizes)
    assert sizes == SIZES
    assert bind(["D", "NH"], (12, 12), sizes)
    assert bind(["D", "2"], (12, 2), sizes)
    assert not bind(["D", "2"], (12, 3), sizes)
    assert not bind(["D", "d"], (12, 13), sizes)
    assert not bind(["D", "NH"], (12, 13), sizes)
    assert not bind(["D"], (12, 1), sizes)
    assert sizes == SIZES


def test_axes_for_a_message():
    text = axes_text(["D", "N", "H"], {"D": 12, "N": 3})
    assert text == "[D, N, H], D = 12, N = 3"
    assert axes_text(["2"], {"2": 2}) == "[2]"


def test_relaid_goes_there_and_back():
    # Column h of head n is column 4 n + h of 2018's matrix.
    value = np.arange(12 * 12).reshape([12, 12])
    there = Source("", Stored("float32", (12, 3, 4))).relaid(value)
    assert there[5, 2, 1] == value[5, 9]
    weights = np.arange(7 * 12).reshape([7, 12])
    there = Source("", Stored("float32", (12, 7)), transposed=True).relaid(
        weights
    )
    assert there[3, 6] == weights[6, 3]
    assert there.flags.c_contiguous
    back = Source("", Stored("float32", (7, 12)), transposed=True).relaid(there)
    np.testing.assert_array_equal(back, weights)


def test_the_table_has_every_variable_of_2018():
    config = BertConfig(vocab_size=61, num_hidden_layers=2)
    parts = [*encoder_parts(2), pooler_part(2)]
    names = [name for part in parts for name in part.names()]
    assert sorted(names) == sorted(variable_table.encoder_shapes(config))
    names = [name for part in head_parts() for name in part.names()]
    assert sorted(names) == sorted(variable_table.head_shapes(config, 7))
    assert head_pooler_part().names() == pooler_part(2).names()


def test_layers_come_after_the_embeddings_in_a_functional_model():
    # 0 words, 1 positions, 2 segments, 3 LayerNorm.
    assert block_paths(0) == ["_transformer_layers/0", "layer_with_weights-4"]
    assert pooler_part(2).paths == ["_pooler_layer", "layer_with_weights-6"]


def test_no_classification_head_need_be_the_next_sentences():
    for part in (*head_parts(None), head_pooler_part(None)):
        assert "classification_heads" not in str(part.paths)
    (part,) = [p for p in head_parts("1") if "seq" in p.scope]
    assert "model/classification_heads/1/out_proj" in part.paths
