"""Tests of writing Model Garden's checkpoints, which its own classes read."""

import logging

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.checkpoints import checkpoint_io, variable_table
from bert_tf.checkpoints.weight_reader import Stored
from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.formats.model_garden import layout
from bert_tf.weights import loading
from tests.formats.model_gardens_own import (
    CONFIG,
    assert_close,
    call_pretrainer,
    mg_classifier,
    mg_encoder,
    mg_pretrainer,
    mg_pretrainer_1,
    mg_span_labeler,
    save,
)

ALL = ("bert/", "cls/", "output_")


def make_values(scopes, **more):
    """Makes random 2018 variables."""
    rng = np.random.default_rng(2)
    shapes = {
        **variable_table.encoder_shapes(CONFIG),
        **variable_table.head_shapes(CONFIG, num_labels=7),
    }
    return more | {
        name: rng.normal(scale=0.4, size=shape).astype(np.float32)
        for name, shape in shapes.items()
        if name.startswith(scopes)
    }


def read_all(reader):
    return {name: reader.read(name) for name in reader.stored}


def describe(values):
    return {k: Stored(v.dtype.name, v.shape) for k, v in values.items()}


def write(folder, values, num_attention_heads=3):
    """Writes 2018 variables as `layout` says."""
    entries, graph = layout(describe(values), num_attention_heads)
    tensors = {checkpoint_io.OBJECT_GRAPH: tf.constant(graph)}
    for key, entry in entries.items():
        value = entry.relaid(values[entry.name])
        assert (value.dtype.name, value.shape) == entry.stored
        tensors[key] = value
    path = str(folder / "bert_model.ckpt")
    tf.raw_ops.SaveV2(
        prefix=path,
        tensor_names=list(tensors),
        shape_and_slices=[""] * len(tensors),
        tensors=list(tensors.values()),
    )
    return path


def assert_same_bits(values, expected):
    assert values.keys() == expected.keys()
    for name, value in expected.items():
        assert values[name].dtype == value.dtype, name
        assert values[name].shape == value.shape, name
        assert values[name].tobytes() == value.tobytes(), name


@pytest.mark.parametrize("root_edge", ["encoder", "model"])
@pytest.mark.parametrize("class_name", ["BertEncoder", "BertEncoderV2"])
def test_an_encoder_is_all_that_an_encoders_file_holds(
    tmp_path, class_name, root_edge
):
    values = make_values("bert/")
    items = {root_edge: mg_encoder(class_name)}
    status = tf.train.Checkpoint(**items).read(write(tmp_path, values))
    status.assert_consumed()
    assert_same_bits(read_all(save(tmp_path, items)), values)


OPENED = {
    "encoder": (lambda: {"encoder": mg_encoder("BertEncoder")}, []),
    "encoder 2": (lambda: {"encoder": mg_encoder("BertEncoderV2")}, []),
    "masked LM's items": (
        lambda: mg_pretrainer(heads=()).checkpoint_items,
        ["cls/predictions/"],
    ),
    "pretrainer 2's items": (
        lambda: mg_pretrainer().checkpoint_items,
        ["cls/predictions/"],
    ),
    "pretrainer 2": (
        lambda: {"model": mg_pretrainer()},
        ["cls/predictions/", "cls/seq_relationship/"],
    ),
    "pretrainer 1": (
        lambda: {"model": mg_pretrainer_1()},
        ["cls/predictions/", "cls/seq_relationship/"],
    ),
    "classifier": (lambda: {"model": mg_classifier()}, ["output_"]),
    "classifier of encoder 2": (
        lambda: {"model": mg_classifier("BertEncoderV2")},
        ["output_"],
    ),
    "classifier with a pooler": (
        lambda: {"model": mg_classifier(use_encoder_pooler=False)},
        ["output_"],
    ),
    "classifier with a pooler's items": (
        lambda: mg_classifier(use_encoder_pooler=False).checkpoint_items,
        [],
    ),
    "span labeler": (lambda: {"model": mg_span_labeler()}, ["cls/squad/"]),
    "span labeler of encoder 2": (
        lambda: {"model": mg_span_labeler("BertEncoderV2")},
        ["cls/squad/"],
    ),
}


@pytest.mark.parametrize(("build", "heads"), OPENED.values(), ids=OPENED.keys())
def test_model_garden_opens_all_of_its_own(tmp_path, build, heads):
    values = make_values(ALL, my_variable=np.float32([1, 2]))
    path = write(tmp_path, values)
    items = build()
    status = tf.train.Checkpoint(**items).read(path)
    status.assert_existing_objects_matched().expect_partial()
    scopes = ("bert/", *heads)
    assert_same_bits(
        read_all(save(tmp_path, items)),
        {k: v for k, v in values.items() if k.startswith(scopes)},
    )


def test_model_garden_computes_what_2018_did(tmp_path, golden):
    folder = golden / "model" / "gelu"
    config = BertConfig.from_json_file(str(folder / "bert_config.json"))
    source = loading.open_checkpoint(folder)
    path = write(tmp_path, read_all(source), config.num_attention_heads)
    pretrainer = mg_pretrainer(config)
    status = tf.train.Checkpoint(model=pretrainer).read(path)
    status.assert_existing_objects_matched()
    values = np.load(folder / "forward.npz")
    masked_lm, next_sentence = call_pretrainer(pretrainer, values)
    masked_lm = tf.reshape(tf.nn.log_softmax(masked_lm), [20, 99])
    assert_close(masked_lm, values["masked_lm_log_probs"])
    assert_close(
        tf.nn.log_softmax(next_sentence), values["next_sentence_log_probs"]
    )


def test_keys_are_those_of_model_gardens_converter(tmp_path):
    # Which writes a BertEncoder as `encoder`.
    converted = tf.train.Checkpoint(encoder=mg_encoder("BertEncoder"))
    theirs = checkpoint_io.CheckpointReader(
        converted.write(str(tmp_path / "ckpt"))
    )
    ours = checkpoint_io.CheckpointReader(write(tmp_path, make_values("bert/")))
    assert ours.stored == theirs.stored


def plan(values):
    return layout(describe(values), num_attention_heads=3)


def test_what_has_no_place_is_named(caplog):
    values = make_values("bert/", **{"my.own/variable": np.zeros([5])})
    with caplog.at_level(logging.INFO):
        entries, _ = plan(values)
    assert (
        "no place for my.own/variable; kept below bert_tf_rest" in caplog.text
    )
    key = "bert_tf_rest/my..own.Svariable/.ATTRIBUTES/VARIABLE_VALUE"
    assert entries[key].name == "my.own/variable"
    assert entries[key].stored == ("float64", (5,))


def test_heads_with_their_own_pooler_get_one():
    def count(*scopes):
        entries, _ = plan(make_values(scopes))
        names = [entry.name for entry in entries.values()]
        return names.count("bert/pooler/dense/kernel")

    assert count("bert/", "cls/predictions/", "cls/squad/") == 1
    assert count("bert/", "cls/seq_relationship/") == 2
    assert count("bert/", "output_") == 2
    assert count("bert/e", "output_") == 0


@pytest.mark.parametrize(
    ("without", "listed"),
    [
        ("bert/embeddings/token_type", "bert/embeddings/token_type_embeddings"),
        ("bert/encoder/layer_1/output/LayerNorm/b", ".*layer_1/.*/beta"),
        ("bert/encoder/layer_0/", ".*layer_0/attention/self/query/kernel, "),
        ("bert/encoder/", ".*layer_0/attention/self/query/kernel, "),
    ],
)
def test_half_an_encoder_is_refused(without, listed):
    values = {
        name: value
        for name, value in make_values(ALL).items()
        if not name.startswith(without)
    }
    with pytest.raises(UserError, match=f"no whole encoder.*lacks {listed}"):
        plan(values)


def test_heads_must_share_the_hidden_size():
    stored = describe(make_values("bert/"))
    with pytest.raises(UserError, match=r"12, is not a multiple.*\(5\)"):
        layout(stored, num_attention_heads=5)


@pytest.mark.parametrize(
    ("name", "shape", "axes"),
    [
        ("bert/embeddings/LayerNorm/gamma", [], r"\[D\]\. Use"),
        ("bert/pooler/dense/kernel", [12, 13], r"\[D, d\], D = 12"),
        ("cls/squad/output_weights", [3, 12], r"\[2, D\], D = 12"),
        ("output_bias", [8], r"\[L\], L = 7"),
        (
            "bert/encoder/layer_0/attention/self/query/kernel",
            [12, 9],
            r"\[D, NH\], D = 12, N = 3, H = 4",
        ),
    ],
)
def test_a_shape_of_no_bert_is_refused(name, shape, axes):
    values = make_values(ALL) | {name: np.zeros(shape, np.float32)}
    with pytest.raises(
        UserError, match=f"has shape .*, where BERT's has {axes}"
    ):
        plan(values)
