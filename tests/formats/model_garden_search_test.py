"""Tests of finding a BERT, in files that this project wrote and that were then
changed: V=61, D=12, N=3 (H=4), 2 layers, 17 inner, 23 positions.

With Model Garden's own files: model_garden_test.py.
"""

import re

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.checkpoints import checkpoint_io, variable_table
from bert_tf.checkpoints.weight_reader import Stored
from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.formats.model_garden import ModelGardenReader, layout
from bert_tf.formats.object_graph import ROOT, ObjectGraph

CONFIG = BertConfig(
    vocab_size=61,
    hidden_size=12,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=17,
    max_position_embeddings=23,
)
ENCODER = variable_table.encoder_shapes(CONFIG)
SHAPES = ENCODER | variable_table.head_shapes(CONFIG, num_labels=7)
WORDS = "encoder/layer_with_weights-0/embeddings/.ATTRIBUTES/VARIABLE_VALUE"
QUERY = "encoder/layer_with_weights-4/_attention_layer/_query_dense/kernel"


def make_values(shapes):
    rng = np.random.default_rng(0)
    return {
        name: rng.normal(size=shape).astype(np.float32)
        for name, shape in shapes.items()
    }


def describe(values):
    return {k: Stored(v.dtype.name, v.shape) for k, v in values.items()}


class File:
    """What is to be in a file: `values` by key, and the object graph."""

    def __init__(self, values):
        entries, graph = layout(describe(values), num_attention_heads=3)
        self.graph = ObjectGraph.parse(graph, "")
        self.values = {
            key: entry.relaid(values[entry.name])
            for key, entry in entries.items()
        }

    def add(self, path, value, key=None):
        key = key or f"{path}/.ATTRIBUTES/VARIABLE_VALUE"
        self.graph.set_variable(self.graph.make(path), key, path)
        self.values[key] = value

    def open(self, folder):
        graph = tf.constant(self.graph.serialize())
        return open_reader(
            folder, self.values | {checkpoint_io.OBJECT_GRAPH: graph}
        )


def open_reader(folder, tensors):
    path = str(folder / "some.ckpt")
    checkpoint_io.write(path, tensors)
    return ModelGardenReader(checkpoint_io.CheckpointReader(path))


def assert_reads(reader, values):
    assert reader.stored == dict(sorted(describe(values).items()))
    for name, value in values.items():
        read = reader.read(name)
        assert (read.dtype, read.shape) == (value.dtype, value.shape), name
        assert read.tobytes() == value.tobytes(), name


def test_every_bit_comes_back(tmp_path):
    # -0, a NaN of its own and the smallest number.
    odd = np.array([0x80000000, 0x7FC00001, 1], np.uint32).view(np.float32)
    values = make_values(SHAPES) | {
        "my.own/variable": odd,
        "count": np.array(3, np.int64),
    }
    reader = File(values).open(tmp_path)
    assert_reads(reader, values)
    assert reader.slots() == {}
    assert reader.num_attention_heads == 3


def test_the_poolers_second_copy_is_no_other_pooler(tmp_path, caplog):
    values = make_values(SHAPES)
    file = File(values)
    copy = "next_sentence..pooler_dense/bias/.ATTRIBUTES/VARIABLE_VALUE"
    assert copy in file.values
    with caplog.at_level("INFO"):
        assert_reads(file.open(tmp_path), values)
    assert "pooler" not in caplog.text


def test_a_model_without_pooler_has_none(tmp_path):
    values = make_values(SHAPES)
    del values["bert/pooler/dense/kernel"], values["bert/pooler/dense/bias"]
    assert_reads(File(values).open(tmp_path), values)


@pytest.mark.parametrize("functional", [True, False])
def test_each_kind_of_edges_is_enough(tmp_path, functional):
    values = make_values(ENCODER)
    file = File(values)
    encoder = file.graph.children[file.graph.find("encoder")]
    for edge in list(encoder):
        if edge.startswith("layer_with_weights-") != functional:
            del encoder[edge]
    del file.graph.children[ROOT]["model"]
    assert_reads(file.open(tmp_path), values)


def test_the_attention_output_of_early_2020_is_found(tmp_path):
    values = make_values(ENCODER)
    file = File(values)
    for index in (4, 5):
        block = file.graph.find(f"encoder/layer_with_weights-{index}")
        attention = file.graph.children[
            file.graph.find("_attention_layer", block)
        ]
        file.graph.link(
            "_attention_output_dense", attention.pop("_output_dense"), block
        )
    assert_reads(file.open(tmp_path), values)


def test_runs_are_told_from_models(tmp_path):
    values = make_values(ENCODER)
    file = File(values)
    file.add("optimizer/base/_iterations", np.int64(4))
    file.add("train_metrics/0/total", np.float32(1))
    file.add("model/my_head/kernel", np.ones([12, 5], np.float32))
    file.values["model/.ATTRIBUTES/OBJECT_CONFIG_JSON"] = np.array("{}", object)
    reader = file.open(tmp_path)
    suffix = "/.ATTRIBUTES/VARIABLE_VALUE"
    assert list(reader.slots()) == [
        "model/.ATTRIBUTES/OBJECT_CONFIG_JSON",
        f"optimizer/base/_iterations{suffix}",
        f"train_metrics/0/total{suffix}",
    ]
    assert reader.global_step() == 4
    (head,) = reader.stored.keys() - reader.slots().keys() - values.keys()
    assert head == f"model/my_head/kernel{suffix}"
    assert reader.stored[head] == Stored("float32", (12, 5))
    assert reader.read(head).sum() == 60


def test_what_an_optimizer_shares_with_the_model_is_the_models(tmp_path):
    file = File(make_values(ENCODER))
    file.add("model/my_head/kernel", np.ones([12, 5], np.float32))
    head = file.graph.find("model/my_head/kernel")
    file.graph.link("optimizer/variables/0", head)
    assert file.open(tmp_path).slots() == {}


def test_a_step_that_is_no_whole_number_is_none(tmp_path):
    file = File(make_values(ENCODER))
    file.add("global_step", np.float32(4))
    assert file.open(tmp_path).global_step() == 0


def assert_refused(folder, file, *reasons):
    pattern = r"the checkpoint \S*some\.ckpt" + "".join(
        f".*{re.escape(reason)}" for reason in reasons
    )
    with pytest.raises(UserError, match=f"(?i){pattern}"):
        file.open(folder)


def test_another_model_has_no_encoder(tmp_path):
    file = File(make_values(ENCODER))
    file.graph = ObjectGraph()
    file.graph.set_variable(file.graph.make("net/layer-0/kernel"), WORDS, "")
    file.graph.make("save_counter")
    assert_refused(
        tmp_path, file, "no encoder", "Its root has: net, save_counter. Save"
    )


@pytest.mark.parametrize("functional", [True, False])
def test_a_factorized_encoder_is_refused(tmp_path, functional):
    file = File(make_values(ENCODER))
    encoder = file.graph.find("encoder")
    edges = file.graph.children[encoder]
    if functional:
        for edge in [e for e in edges if e.startswith("_")]:
            del edges[edge]
        del file.graph.children[ROOT]["model"]
        edges["layer_with_weights-4"] = file.graph.make("projection")
    else:
        file.graph.make("_embedding_projection/kernel", encoder)
    assert_refused(tmp_path, file, "projects its embeddings", "ALBERT")


def test_what_is_missing_is_listed(tmp_path):
    file = File(make_values(ENCODER))
    layer = file.graph.find("encoder/_transformer_layers/1")
    del file.graph.children[layer]["_intermediate_dense"]
    assert_refused(
        tmp_path,
        file,
        "lacks bert/encoder/layer_1/intermediate/dense/kernel, "
        "bert/encoder/layer_1/intermediate/dense/bias. Use",
    )


def test_an_encoder_with_more_is_refused(tmp_path):
    # As one that normalizes before attention, keys and queries apart.
    file = File(make_values(ENCODER))
    path = "encoder/_transformer_layers/0/_attention_layer_norm_kv/gamma"
    file.add(path, np.zeros([12], np.float32))
    assert_refused(tmp_path, file, f"its encoder also has {path}/.ATTR")


@pytest.mark.parametrize("shape", [[12, 12], [12, 4, 3], [13, 3, 4]])
def test_another_shape_is_refused(tmp_path, shape):
    file = File(make_values(ENCODER))
    key = f"{QUERY.replace('query', 'key')}/.ATTRIBUTES/VARIABLE_VALUE"
    file.values[key] = np.zeros(shape, np.float32)
    assert_refused(
        tmp_path,
        file,
        f"{key} has shape {shape}, where "
        "bert/encoder/layer_0/attention/self/key/kernel wants [D, N, H], "
        "D = 12, N = 3, H = 4. Use",
    )


def test_heads_that_do_not_share_the_hidden_size_are_refused(tmp_path):
    file = File(make_values(ENCODER))
    for key, value in file.values.items():
        if re.search(r"_(query|key|value)_dense/kernel", key):
            file.values[key] = np.zeros([12, 3, 5], np.float32)
        elif re.search(r"_(query|key|value)_dense/bias", key):
            file.values[key] = np.zeros([3, 5], np.float32)
        elif "_attention_layer/_output_dense/kernel" in key:
            file.values[key] = np.zeros([3, 5, *value.shape[2:]], np.float32)
    assert_refused(
        tmp_path, file, "3 attention heads of size 5", "hidden size, 12"
    )


def test_a_value_that_is_not_in_the_file_is_damage(tmp_path):
    file = File(make_values(ENCODER))
    del file.values[WORDS]
    assert_refused(tmp_path, file, "is damaged", WORDS)


def test_a_graph_is_one_string(tmp_path):
    tensors = {checkpoint_io.OBJECT_GRAPH: tf.constant([1.0, 2.0])}
    with pytest.raises(UserError, match=r"GRAPH is float32 \[2\], not one"):
        open_reader(tmp_path, tensors)


def test_a_graph_of_other_bytes_is_damage(tmp_path):
    tensors = {checkpoint_io.OBJECT_GRAPH: tf.constant(b"\xff\xff")}
    with pytest.raises(UserError, match="some.ckpt is damaged.*decoded"):
        open_reader(tmp_path, tensors)
