"""Tests of object graphs, most of them of this one:

root -a-> 1 -b-> 2 (a variable), root -c-> 1
"""

import pytest
import tensorflow as tf

from bert_tf.errors import UserError
from bert_tf.formats.object_graph import ROOT, ObjectGraph, key_of


@pytest.fixture
def graph():
    graph = ObjectGraph()
    assert graph.make("a/b") == 2
    graph.link("c", 1)
    graph.set_variable(2, key_of("a", "b"), "full/name")
    return graph


def test_paths_are_followed(graph):
    assert graph.find("a/b") == graph.find("c/b") == graph.find("b", 1) == 2
    assert graph.find("b") is None
    assert graph.find("a/b/a") is None


def test_the_nearest_to_the_root_is_found(graph):
    assert graph.find_anywhere("b") == 2
    graph.link("b", 1)
    assert graph.find_anywhere("b") == 1
    assert graph.find_anywhere("d") is None


def test_a_walk_visits_each_node_once_the_nearest_first(graph):
    graph.link("a/b/loop", ROOT)
    graph.make("d")
    assert graph.walk() == [0, 1, 3, 2]
    assert graph.walk(2) == [2, 0, 1, 3]
    assert graph.walk(shuns=lambda edge: edge == "b") == [0, 1, 3]


def test_make_keeps_what_there_is(graph):
    assert graph.make("c/b") == 2
    assert graph.make("c/d/e", ROOT) == 4
    assert graph.children == [{"a": 1, "c": 1}, {"b": 2, "d": 3}, {}] + [
        {"e": 4},
        {},
    ]


def test_a_graph_survives_writing(graph):
    again = ObjectGraph.parse(graph.serialize(), "some.ckpt")
    assert again.children == graph.children
    assert again.keys == [None, None, "a/b/.ATTRIBUTES/VARIABLE_VALUE"]
    assert again.full_names == [None, None, "full/name"]


def test_tensorflows_own_graph_is_read(tmp_path):
    holder = tf.Module()
    setattr(holder, "a.b/c", tf.Variable([1.0, 2.0], name="mine"))
    path = tf.train.Checkpoint(holder=holder).write(str(tmp_path / "ckpt"))
    file = tf.train.load_checkpoint(path)
    graph = ObjectGraph.parse(
        file.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"), path
    )
    node = graph.children[graph.find("holder")]["a.b/c"]
    assert graph.keys[node] == key_of("holder", "a.b/c")
    assert file.has_tensor(key_of("holder", "a.b/c"))
    assert graph.full_names[node] == "mine"


@pytest.mark.parametrize(
    ("serialized", "reason"),
    [
        (b"\xff\xff", "cannot be decoded"),
        ("text", "cannot be decoded"),
        (b"", "holds no object"),
    ],
)
def test_garbage_is_no_graph(serialized, reason):
    with pytest.raises(UserError, match=f"some.ckpt is damaged.*{reason}"):
        ObjectGraph.parse(serialized, "some.ckpt")


@pytest.mark.parametrize("node", [3, -1])
def test_an_edge_to_nowhere_is_damage(graph, node):
    graph.children[1]["far"] = node
    with pytest.raises(UserError, match=f"far would be object {node} of 3"):
        ObjectGraph.parse(graph.serialize(), "some.ckpt")
