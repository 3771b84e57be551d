"""Weights out of a SavedModel that this project exported.

Its object graph has, below its root, each variable under its 2018 name.
"""

from bert_tf.checkpoints.weight_reader import WeightReader
from bert_tf.errors import UserError
from bert_tf.formats.object_graph import ROOT

# The root's child that has them, see serving.hub_encoder.
_EDGE = "bert_variables"


def is_exported(graph):
    """Tells whether an ObjectGraph is of such a SavedModel."""
    return _EDGE in graph.children[ROOT]


class SavedVariablesReader(WeightReader):
    """The checkpoint in a SavedModel of this project."""

    format_name = "SavedModel"

    def __init__(self, checkpoint, graph):
        """Finds the variables.

        Args:
          checkpoint: CheckpointReader.
          graph: ObjectGraph, its.

        Raises:
          UserError: it is damaged.
        """
        owner = graph.find(_EDGE)
        self._checkpoint = checkpoint
        self._keys = {
            name: graph.keys[node]
            for name, node in graph.children[owner].items()
        }
        lost = sorted(set(self._keys.values()) - checkpoint.stored.keys())
        if lost:
            raise UserError(
                f"The checkpoint {checkpoint.path} is damaged: its object "
                f"graph names {lost[0]}, which is not in it. Export it again."
            )
        super().__init__(
            checkpoint.path,
            {name: checkpoint.stored[key] for name, key in self._keys.items()},
        )

    def read(self, name):
        """See WeightReader."""
        return self._checkpoint.read(self._keys[name])
