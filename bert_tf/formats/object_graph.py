"""The object graph of a TensorFlow 2 checkpoint: which object has which value.

Objects are nodes, by number, 0 the root. An edge from one to another has the
name of the attribute that it is. A variable is a node with a key: the name
under which the checkpoint holds its value. The key is a path that once led to
the variable, one of several; only the edges say what a variable is. A path is
written "edge/edge/edge".
"""

from google.protobuf.message import DecodeError
from tensorflow.core.protobuf.trackable_object_graph_pb2 import (
    TrackableObjectGraph,
)

from bert_tf.errors import UserError

ROOT = 0

_VALUE = "VARIABLE_VALUE"


def key_of(*edges):
    """Makes a key as TensorFlow does, of the edges (str) to a variable."""
    escaped = (edge.replace(".", "..").replace("/", ".S") for edge in edges)
    return f"{'/'.join(escaped)}/.ATTRIBUTES/{_VALUE}"


class ObjectGraph:
    """Nodes and edges, to be read from a checkpoint or made for one.

    Attributes:
      children: list of dict, edge -> node, by node.
      keys: list of str or None, by node.
      full_names: list of str or None, by node: a variable's name in its model.
    """

    def __init__(self):
        self.children, self.keys, self.full_names = [], [], []
        self._add_node()

    def _add_node(self):
        self.children.append({})
        self.keys.append(None)
        self.full_names.append(None)
        return len(self.children) - 1

    @classmethod
    def parse(cls, serialized, path):
        """Reads a graph of bytes, a TrackableObjectGraph.

        Raises:
          UserError: it is damaged; `path` (str) names the checkpoint.
        """
        try:
            nodes = TrackableObjectGraph.FromString(serialized).nodes
        except (DecodeError, TypeError) as error:
            raise _damaged(path, f"it cannot be decoded ({error})") from error
        if not nodes:
            raise _damaged(path, "it holds no object")
        graph = cls()
        for _ in nodes[1:]:
            graph._add_node()
        for node, message in enumerate(nodes):
            for child in message.children:
                if not 0 <= child.node_id < len(nodes):
                    raise _damaged(
                        path,
                        f"{child.local_name} would be object {child.node_id} "
                        f"of {len(nodes)}",
                    )
                graph.children[node][child.local_name] = child.node_id
            for attribute in message.attributes:
                if attribute.name == _VALUE:
                    graph.keys[node] = attribute.checkpoint_key
                    graph.full_names[node] = attribute.full_name
        return graph

    def serialize(self):
        """Returns the graph as bytes, a TrackableObjectGraph."""
        message = TrackableObjectGraph()
        values = zip(self.children, self.keys, self.full_names)
        for children, key, full_name in values:
            node = message.nodes.add()
            for edge, child in children.items():
                node.children.add(local_name=edge, node_id=child)
            if key is not None:
                node.attributes.add(
                    name=_VALUE, full_name=full_name, checkpoint_key=key
                )
        return message.SerializeToString(deterministic=True)

    def find(self, path, start=ROOT):
        """Follows a path (str) from a node; returns a node or None."""
        node = start
        for edge in path.split("/"):
            node = self.children[node].get(edge)
            if node is None:
                return None
        return node

    def find_anywhere(self, path):
        """As `find`, from the nearest node to the root that has the path."""
        found = (self.find(path, node) for node in self.walk())
        return next((node for node in found if node is not None), None)

    def walk(self, start=ROOT, *, shuns=lambda edge: False):
        """Lists what a node leads to, itself first, then the nearest.

        `shuns` is a function of an edge (str) that tells whether to pass it by.
        """
        nodes, reached = [start], {start}
        for node in nodes:  # It grows meanwhile.
            for edge, child in self.children[node].items():
                if child not in reached and not shuns(edge):
                    reached.add(child)
                    nodes.append(child)
        return nodes

    def make(self, path, start=ROOT):
        """Follows a path (str), making what it lacks; returns its end."""
        for edge in path.split("/"):
            start = self.add_child(edge, start)
        return start

    def add_child(self, edge, node=ROOT):
        """Returns the child of a node by an edge (str), made where lacking."""
        if edge not in self.children[node]:
            self.children[node][edge] = self._add_node()
        return self.children[node][edge]

    def link(self, path, node, start=ROOT):
        """Makes a path (str) from a node lead to another node."""
        owners, _, edge = path.rpartition("/")
        owner = self.make(owners, start) if owners else start
        self.children[owner][edge] = node

    def set_variable(self, node, key, full_name):
        """Makes a node a variable's (both str)."""
        self.keys[node] = key
        self.full_names[node] = full_name


def _damaged(path, reason):
    return UserError(
        f"The checkpoint {path} is damaged: of its object graph, which says "
        f"what each value is, {reason}. Copy it again, or use another one."
    )
