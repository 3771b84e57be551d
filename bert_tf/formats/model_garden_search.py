"""Finds a BERT in the object graph of a Model Garden checkpoint.

By edges, from wherever the checkpoint has them: users, the Model Garden's own
trainers and its converter each give the root other children.
"""

from absl import logging

from bert_tf.checkpoints.checkpoint_io import OBJECT_GRAPH
from bert_tf.checkpoints.weight_reader import Stored, listed
from bert_tf.errors import UserError
from bert_tf.formats.model_garden_names import (
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
from bert_tf.formats.object_graph import ROOT, ObjectGraph

# The root's child with what Model Garden has no place for, each under its 2018
# name. Only this project reads it.
REST = "bert_tf_rest"

_PROJECTION = "_embedding_projection"
# A next-sentence head is known by the name of its layer, in its variables': as
# Model Garden's configurations have it, or as 2018.
_NEXT_SENTENCE = {"next_sentence", "seq_relationship"}
_STEPS = ("global_step", "_iterations", "iterations", "iter")
_RUN_EDGES = {"save_counter", "keras_api", *_STEPS}


def read_graph(checkpoint):
    """Reads the ObjectGraph of a CheckpointReader.

    Raises:
      UserError: it is damaged.
    """
    stored = checkpoint.stored[OBJECT_GRAPH]
    if stored != Stored("string", ()):
        raise UserError(
            f"The checkpoint {checkpoint.path} is damaged: {OBJECT_GRAPH} is "
            f"{stored}, not one string. Copy it again, or use another one."
        )
    return ObjectGraph.parse(checkpoint.read(OBJECT_GRAPH), checkpoint.path)


class Search:
    """A search in a CheckpointReader and its ObjectGraph for one BERT.

    Attributes:
      sizes: dict, letter of an axis -> int, once `find_sources` was called,
        which is to be done first.
    """

    def __init__(self, checkpoint, graph):
        self._path = checkpoint.path
        self._graph = graph
        self._file = dict(checkpoint.stored)
        del self._file[OBJECT_GRAPH]
        self._sources = {}
        self._superseded = set()  # Keys.
        self.sizes = {"2": 2}

    def find_sources(self):
        """Finds the variables that have a 2018 name: dict, name -> Source.

        Raises:
          UserError: there is no encoder, or not one of BERT's architecture.
        """
        encoder = self._find_encoder()
        num_layers = self._count_layers(encoder)
        missing = []
        for part in encoder_parts(num_layers):
            found = self._locate(part, encoder)
            self._take(found)
            missing += [name for name in part.names() if name not in found]
        if missing:
            raise self._no_bert(f"it lacks {listed(missing)}")
        n, h, d = (self.sizes[letter] for letter in "NHD")
        if n * h != d:
            raise self._no_bert(
                f"its {n} attention heads of size {h} do not share out the "
                f"hidden size, {d}"
            )
        head = self._next_sentence_head()
        for part in head_parts(head):
            self._take(self._locate(part))
        self._take_pooler(pooler_part(num_layers), encoder, head)
        self._take_rest()
        self._require_no_more(encoder)
        return self._sources

    def _find_encoder(self):
        embeddings = encoder_parts(0)[0]
        for node in self._graph.walk():
            if not self._locate(embeddings, node):
                continue
            has_layers = self._is_layer(node, 0)
            # A functional model has the projection where the first layer would
            # be.
            if _PROJECTION in self._graph.children[node] or (
                not has_layers and self._is_layer(node, 1)
            ):
                raise self._no_bert(
                    "it projects its embeddings to the hidden size, as ALBERT "
                    "does"
                )
            if has_layers:
                return node
        raise UserError(
            f"In the checkpoint {self._path} no encoder of a BERT is to be "
            "found: no object has both Model Garden's word embeddings and "
            "layers with attention. Its root has: "
            f"{listed(sorted(self._graph.children[ROOT]))}. Save the model "
            "with Model Garden's BertEncoder, as "
            "tf.train.Checkpoint(encoder=...)."
        )

    def _no_bert(self, reason):
        return UserError(
            f"The model in the checkpoint {self._path} is not of BERT's "
            f"architecture: {reason}. Use a checkpoint of Model Garden's "
            "BertEncoder or BertEncoderV2, with or without its heads."
        )

    def _count_layers(self, encoder):
        count = 0
        while self._is_layer(encoder, count):
            count += 1
        return count

    def _is_layer(self, encoder, index):
        return any(
            self._graph.find(f"{path}/_attention_layer", encoder) is not None
            for path in block_paths(index)
        )

    def _find(self, part, start):
        """Returns the node of a Part's object, or None; see `_locate`."""
        for path in part.paths:
            if start is None:
                # What the table calls `model` can have any name, or be the
                # root.
                node = self._graph.find_anywhere(path.removeprefix("model/"))
            else:
                node = self._graph.find(path, start)
            if node is not None:
                return node
        return None

    def _locate(self, part, start=None):
        """Finds the variables of a Part, seen from a node, or wherever it is.

        Returns:
          dict, 2018 name -> (node of the variable, Place); what is found.
        """
        node = self._find(part, start)
        found = {}
        for name in part.names() if node is not None else ():
            place = part.place(name)
            for path in place.paths():
                variable = self._graph.find(path, node)
                if variable is not None and self._graph.keys[variable]:
                    found[name] = variable, place
        return found

    def _take(self, found):
        """Makes sources of what `_locate` found."""
        for name, (node, place) in found.items():
            key, words = self._graph.keys[node], place.model_garden_axes()
            stored = self._stored(key)
            if not bind(words, stored.shape, self.sizes):
                raise self._no_bert(
                    f"{key} has shape {list(stored.shape)}, where {name} "
                    f"wants {axes_text(words, self.sizes)}"
                )
            shape = shape_of(place.axes.split(), self.sizes)
            self._sources[name] = Source(
                key, Stored(stored.dtype, shape), place.transposed
            )

    def _stored(self, key):
        if key not in self._file:
            raise UserError(
                f"The checkpoint {self._path} is damaged: its object graph "
                f"names {key}, which is not in it. Copy it again, or use "
                "another one."
            )
        return self._file[key]

    def _next_sentence_head(self):
        """Returns which of the classification heads it is (str), or None."""
        graph = self._graph
        heads = graph.find_anywhere("classification_heads")
        pooler = graph.find_anywhere("next_sentence.pooler_dense")
        for edge, head in graph.children[heads].items() if heads else ():
            kernel = graph.find("out_proj/kernel", head)
            name = graph.full_names[kernel] if kernel is not None else None
            if name and not _NEXT_SENTENCE.isdisjoint(name.split("/")):
                return edge
            if pooler is not None and graph.find("dense", head) == pooler:
                return edge
        return None

    def _take_pooler(self, part, encoder, next_sentence_head):
        """Takes a head's own pooler, which was trained, else the encoder's."""
        own = self._locate(part, encoder)
        of_head = self._locate(head_pooler_part(next_sentence_head))
        if self._full_names(own) == self._full_names(of_head):
            # One of the two is a copy: this project writes both.
            taken, left = own, of_head
        else:
            taken, left = of_head or own, own
        self._take(taken)
        keys = [self._graph.keys[node] for node, _ in taken.values()]
        self._superseded = {self._graph.keys[node] for node, _ in left.values()}
        self._superseded.difference_update(keys)
        if self._superseded and taken is of_head:
            logging.info(
                "The pooler is the head's, %s; the encoder's own, which that "
                "head does not use, is left out.",
                listed(keys),
            )

    def _full_names(self, found):
        return [self._graph.full_names[node] for node, _ in found.values()]

    def _take_rest(self):
        owner = self._graph.find(REST)
        for name, node in self._graph.children[owner].items() if owner else ():
            key = self._graph.keys[node]
            if key and name not in self._sources:
                self._sources[name] = Source(key, self._stored(key))

    def _require_no_more(self, encoder):
        """Checks that the encoder has nothing that BERT's has not."""
        keys, others = self._graph.keys, self.others()
        more = [
            keys[node]
            for node in self._graph.walk(encoder, shuns=_is_of_run)
            if keys[node] in others
        ]
        if more:
            raise self._no_bert(f"its encoder also has {listed(more)}")

    def others(self):
        """Returns what has no 2018 name: dict, key -> Stored."""
        taken = {source.name for source in self._sources.values()}
        taken |= self._superseded
        return {k: stored for k, stored in self._file.items() if k not in taken}

    def run_keys(self):
        """Lists the keys (set of str) of what belongs to a run, not to a model.

        Only an optimizer, a metric or a counter leads to it. Texts belong to it
        too: in these Keras of 2020 describes layers.
        """
        keys = self._graph.keys
        models = {keys[node] for node in self._graph.walk(shuns=_is_of_run)}
        runs = {key for key in keys if key and key not in models}
        return {
            key
            for key, stored in self.others().items()
            if key in runs or stored.dtype == "string"
        }

    def step_key(self):
        """Returns the key (str) of the run's step, or None."""
        for edge in _STEPS:
            node = self._graph.find_anywhere(edge)
            key = self._graph.keys[node] if node is not None else None
            if self._file.get(key) == Stored("int64", ()):
                return key
        return None


def _is_of_run(edge):
    return edge in _RUN_EDGES or "optimizer" in edge or "metric" in edge
