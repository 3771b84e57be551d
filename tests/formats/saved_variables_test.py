"""Tests of saved_variables; whole exports: serving/hub_encoder_test."""

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.checkpoints.checkpoint_io import CheckpointReader
from bert_tf.checkpoints.weight_reader import Stored
from bert_tf.errors import UserError
from bert_tf.formats import saved_variables
from bert_tf.formats.object_graph import ObjectGraph
from bert_tf.formats.saved_variables import SavedVariablesReader
from bert_tf.weights.loading import open_checkpoint


@pytest.fixture
def module(tmp_path):
    """The folder (str) of a SavedModel with one variable, and another."""
    module = tf.Module()
    kernel = tf.Variable(np.arange(6, dtype=np.float32).reshape(2, 3))
    # Found first, it gives the variable its key in the file.
    module.all = [kernel]
    module.bert_variables = {"bert/pooler/dense/kernel": kernel}
    module.do_lower_case = tf.Variable(True)
    tf.saved_model.save(module, str(tmp_path))
    return str(tmp_path)


def test_variables_have_their_2018_names(module):
    reader = open_checkpoint(module)
    assert isinstance(reader, SavedVariablesReader)
    name = "bert/pooler/dense/kernel"
    assert reader.stored == {name: Stored("float32", (2, 3))}
    np.testing.assert_array_equal(reader.read(name), [[0, 1, 2], [3, 4, 5]])


def test_is_exported_tells_it_from_model_garden():
    graph = ObjectGraph()
    graph.make("encoder")
    assert not saved_variables.is_exported(graph)
    graph.make("bert_variables")
    assert saved_variables.is_exported(graph)


def test_a_variable_that_is_lost_is_told(module):
    graph = ObjectGraph()
    owner = graph.make("bert_variables")
    graph.set_variable(graph.add_child("bert/x", owner), "lost/key", "bert/x")
    checkpoint = CheckpointReader(f"{module}/variables/variables")
    with pytest.raises(UserError, match="lost/key, which is not in it"):
        SavedVariablesReader(checkpoint, graph)
