"""Checkpoints of TensorFlow's Model Garden (tf-models-official), as of 2018's.

Model Garden keeps a BERT by objects. `ModelGardenReader` gives its variables
the names and the layout of 2018; `layout` says what to write so that Model
Garden's own classes find a 2018 model's variables:

    tf.train.Checkpoint(encoder=BertEncoder or BertEncoderV2)
    tf.train.Checkpoint(**BertPretrainerV2.checkpoint_items)
    tf.train.Checkpoint(model=one of these encoders, BertPretrainer,
                        BertPretrainerV2, BertClassifier or BertSpanLabeler)

each with `.read(path)`, as Model Garden's own tasks do: `.restore(path)` asks
for a counter of saves beside them.
"""

from absl import logging

from bert_tf.checkpoints import variable_table
from bert_tf.checkpoints.weight_reader import Stored, WeightReader, listed
from bert_tf.errors import UserError
from bert_tf.formats.model_garden_names import (
    Source,
    axes_text,
    bind,
    encoder_parts,
    head_parts,
    head_pooler_part,
    pooler_part,
    shape_of,
)
from bert_tf.formats.model_garden_search import REST, Search, read_graph
from bert_tf.formats.object_graph import ObjectGraph, key_of

# What Model Garden's models call their encoder.
_ENCODER_EDGES = ("encoder", "encoder_network", "_network")


class ModelGardenReader(WeightReader):
    """A Model Garden checkpoint of a BERT: an encoder with or without heads.

    The encoder is found wherever the checkpoint (a CheckpointReader) has it. If
    a head has a pooler of its own, that one is `bert/pooler`. What belongs to
    no BERT, or to a run (see `slots`), is in `stored` under its key in the
    file.

    Raises:
      UserError: it is damaged, or of no BERT of 2018's architecture.
    """

    format_name = "Model Garden checkpoint"

    def __init__(self, checkpoint):
        search = Search(checkpoint, read_graph(checkpoint))
        self._checkpoint = checkpoint
        self._sources = search.find_sources()
        self._run_keys = search.run_keys()
        self._step_key = search.step_key()
        self.num_attention_heads = search.sizes["N"]
        stored = {name: source.stored for name, source in self._sources.items()}
        super().__init__(checkpoint.path, search.others() | stored)

    def read(self, name):
        """See WeightReader."""
        if name not in self._sources:
            return self._checkpoint.read(name)
        source = self._sources[name]
        return source.relaid(self._checkpoint.read(source.name))

    def slots(self):
        """See WeightReader: here an optimizer's state, counters, metrics."""
        return {key: self.stored[key] for key in sorted(self._run_keys)}

    def global_step(self):
        """See WeightReader: the trainer's step, else its optimizer's."""
        return int(self.read(self._step_key)) if self._step_key else 0


def layout(stored, num_attention_heads):
    """Says how to write a 2018 model as Model Garden's.

    Where there is a next-sentence or classification head, the pooler is in the
    file twice: once for the encoder, once for heads that have their own.

    Args:
      stored: dict, 2018 name -> Stored; without slots and step.
      num_attention_heads: int, N.

    Returns:
      pair: dict, key in the file (str) -> Source; bytes, the value of
      checkpoint_io.OBJECT_GRAPH. What Model Garden has no place for, named in
      the log, is in it for ModelGardenReader.

    Raises:
      UserError: there is no whole encoder, or a variable has no shape of one.
    """
    num_layers = variable_table.sizes(stored).get("num_hidden_layers", 0)
    # Without a layer it lacks at least the first one's variables.
    parts = encoder_parts(max(num_layers, 1))
    missing = [
        name for part in parts for name in part.names() if name not in stored
    ]
    if missing:
        raise UserError(
            "The model has no whole encoder, without which Model Garden opens "
            f"nothing: it lacks {listed(missing)}. Convert a checkpoint of a "
            "whole BERT."
        )
    maker = _LayoutMaker(stored, num_attention_heads)
    maker.add_encoder([*parts, pooler_part(num_layers)])
    maker.add_heads()
    maker.add_rest()
    return maker.entries, maker.graph.serialize()


class _LayoutMaker:
    """Puts the variables of one model into an object graph."""

    def __init__(self, stored, num_attention_heads):
        self.stored = stored
        self.sizes = _sizes(stored, num_attention_heads)
        self.graph = ObjectGraph()
        self.entries = {}

    def add_encoder(self, parts):
        """Adds the encoder, below the root as `encoder` and as `model`."""
        for part in parts:
            self._add(part, "encoder/")
        encoder = self.graph.make("encoder")
        model = self.graph.make("model")
        for edge in _ENCODER_EDGES:
            self.graph.link(edge, encoder, model)
        for edge, child in self.graph.children[encoder].items():
            # In a classifier, say, the functional edges have other meanings.
            if not edge.startswith("layer_with_weights-"):
                self.graph.link(edge, child, model)

    def add_heads(self):
        """Adds the heads, and the pooler for those that want their own."""
        for part in head_parts():
            self._add(part)
        if not self.stored.keys().isdisjoint(
            ["cls/seq_relationship/output_weights", "output_weights"]
        ):
            # With a key of its own: of two variables with one key TensorFlow
            # restores only one.
            self._add(head_pooler_part())

    def _add(self, part, start=""):
        """Adds what the model has of a Part, below `start` (str)."""
        names = [name for name in part.names() if name in self.stored]
        if not names:
            return
        paths = [f"{start}{path}" for path in part.paths]
        node = self.graph.make(paths[-1])
        for path in paths[:-1]:
            self.graph.link(path, node)
        for name in names:
            place, stored = part.place(name), self.stored[name]
            _bind_shape(name, stored, place.axes.split(), self.sizes)
            shape = shape_of(place.model_garden_axes(), self.sizes)
            entry = Source(name, Stored(stored.dtype, shape), place.transposed)
            variable = self.graph.make(place.path, node)
            edges = f"{paths[-1]}/{place.path}".split("/")
            self._set_variable(variable, key_of(*edges), entry)

    def _set_variable(self, node, key, entry):
        self.graph.set_variable(node, key, entry.name)
        self.entries[key] = entry

    def add_rest(self):
        """Adds what is not yet in, each under its 2018 name."""
        placed = {entry.name for entry in self.entries.values()}
        rest = [name for name in self.stored if name not in placed]
        if not rest:
            return
        logging.info(
            "Model Garden has no place for %s; kept below %s, which only "
            "bert_tf reads.",
            listed(rest),
            REST,
        )
        owner = self.graph.make(REST)
        for name in rest:
            node = self.graph.add_child(name, owner)
            entry = Source(name, self.stored[name])
            self._set_variable(node, key_of(REST, name), entry)


def _sizes(stored, num_attention_heads):
    """Returns the sizes (dict, letter -> int) that split axes need."""
    sizes = {"2": 2, "N": num_attention_heads}
    norm = "bert/embeddings/LayerNorm/gamma"
    _bind_shape(norm, stored[norm], ["D"], sizes)
    sizes["H"], rest = divmod(sizes["D"], num_attention_heads)
    if rest:
        raise UserError(
            f"The model's hidden size, {sizes['D']}, is not a multiple of "
            f"`num_attention_heads` ({num_attention_heads}). Use the "
            "configuration that belongs to the checkpoint."
        )
    return sizes


def _bind_shape(name, stored, words, sizes):
    if not bind(words, stored.shape, sizes):
        raise UserError(
            f"The variable {name} has shape {list(stored.shape)}, where BERT's "
            f"has {axes_text(words, sizes)}. Use a checkpoint of a whole BERT, "
            "and the configuration that belongs to it."
        )
