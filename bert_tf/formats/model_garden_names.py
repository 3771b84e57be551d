"""Where TensorFlow's Model Garden keeps each variable of 2018's.

One table, for reading and for writing. Model Garden has objects in place of
names: paths of edges, as in object_graph.py. The 2.20 release reaches an
encoder's layers by attributes (`_embedding_layer`), and BertEncoder, as all of
the encoders of 2020, by the order of a functional model as well
(`layer_with_weights-0`).

Letters of axes: D hidden_size, N heads, H size per head, I intermediate_size, V
vocabulary, P positions, T segments, L labels; 2 is two.
"""

import math
import typing

import numpy as np

from bert_tf.checkpoints.weight_reader import Stored


class Place(typing.NamedTuple):
    """Where a variable is, seen from its part, and how it lies there."""

    path: str
    # 2018's axes. Letters of one word are one axis in 2018 and several in Model
    # Garden. A small letter is of the same size as the capital.
    axes: str
    transposed: bool = False  # Two axes, which Model Garden has the other way.

    def paths(self):
        """Lists where to look for it (str); early 2020's path is last."""
        former = self.path.replace(*_FORMER)
        return [self.path] if former == self.path else [self.path, former]

    def model_garden_axes(self):
        """Lists Model Garden's axes, words (str) of one letter."""
        letters = self.axes.replace(" ", "")
        return list(letters[::-1] if self.transposed else letters)


# Before attention had its own output, the block had it.
_FORMER = ("_attention_layer/_output_dense/", "_attention_output_dense/")


def shape_of(words, sizes):
    """Multiplies out axes (list of str) to a shape (tuple of int).

    `sizes` is a dict, capital letter -> int.
    """
    return tuple(
        math.prod(sizes[letter.upper()] for letter in word) for word in words
    )


def axes_text(words, sizes):
    """Describes axes for a message; see `shape_of`."""
    letters = dict.fromkeys("".join(words).upper())
    known = [f"{x} = {sizes[x]}" for x in letters if x in sizes and x != "2"]
    return f"[{', '.join(words)}]" + (f", {', '.join(known)}" if known else "")


def bind(words, shape, sizes):
    """Learns sizes from a shape; tells (bool) whether it agrees with the axes.

    `words` are the axes, `sizes` is a dict, capital letter -> int, added to. It
    must already hold the letters of words that have several. What it holds is
    checked.
    """
    if len(words) != len(shape):
        return False
    for word, size in zip(words, shape):
        if len(word) == 1:
            sizes.setdefault(word.upper(), size)
    return shape_of(words, sizes) == tuple(shape)


class Source(typing.NamedTuple):
    """What a value is made of, in the one layout or in the other."""

    name: str  # the key in the file, or the 2018 variable, that it is made of
    stored: Stored  # as it will be
    transposed: bool = False  # its two axes change places

    def relaid(self, value):
        """Gives an np.ndarray its new layout; the numbers stay as they are."""
        value = value.T if self.transposed else value
        return np.ascontiguousarray(value).reshape(self.stored.shape)


class Part(typing.NamedTuple):
    """The variables of one Model Garden object."""

    scope: str  # A 2018 name is this and a key of `places`.
    paths: list  # of str; all lead to the object, the last gives its keys
    places: dict  # str -> Place

    def names(self):
        """Lists the 2018 names."""
        return [f"{self.scope}{name}" for name in self.places]

    def place(self, name):
        """Returns the Place of one of `names`."""
        return self.places[name.removeprefix(self.scope)]


def _dense(name, path, axes):
    return {
        f"{name}/kernel": Place(f"{path}/kernel", axes),
        f"{name}/bias": Place(f"{path}/bias", axes.split()[-1]),
    }


def _norm(name, path):
    return {
        f"{name}/{part}": Place(f"{path}/{part}", "D")
        for part in ("gamma", "beta")
    }


def _output(letter):
    return {
        "output_weights": Place("kernel", f"{letter} D", transposed=True),
        "output_bias": Place("bias", letter),
    }


# In the order of a functional model.
_EMBEDDINGS = {
    "_embedding_layer": {"word_embeddings": Place("embeddings", "V D")},
    "_position_embedding_layer": {
        "position_embeddings": Place("embeddings", "P D")
    },
    "_type_embedding_layer": {
        "token_type_embeddings": Place("embeddings", "T D")
    },
    "_embedding_norm_layer": {
        "LayerNorm/gamma": Place("gamma", "D"),
        "LayerNorm/beta": Place("beta", "D"),
    },
}
_BLOCK = {
    **_dense("attention/self/query", "_attention_layer/_query_dense", "D NH"),
    **_dense("attention/self/key", "_attention_layer/_key_dense", "D NH"),
    **_dense("attention/self/value", "_attention_layer/_value_dense", "D NH"),
    **_dense(
        "attention/output/dense", "_attention_layer/_output_dense", "NH D"
    ),
    **_norm("attention/output/LayerNorm", "_attention_layer_norm"),
    **_dense("intermediate/dense", "_intermediate_dense", "D I"),
    **_dense("output/dense", "_output_dense", "I D"),
    **_norm("output/LayerNorm", "_output_layer_norm"),
}
_POOLER = {"kernel": Place("kernel", "D d"), "bias": Place("bias", "D")}


def encoder_parts(num_layers):
    """Lists an encoder's Parts, without pooler; paths start at the encoder."""
    embeddings = [
        Part(
            "bert/embeddings/",
            [attribute, f"layer_with_weights-{index}"],
            places,
        )
        for index, (attribute, places) in enumerate(_EMBEDDINGS.items())
    ]
    blocks = [
        Part(f"bert/encoder/layer_{index}/", block_paths(index), _BLOCK)
        for index in range(num_layers)
    ]
    return embeddings + blocks


def block_paths(index):
    """Lists the paths (str) from an encoder to one of its layers (int)."""
    functional = len(_EMBEDDINGS) + index
    return [f"_transformer_layers/{index}", f"layer_with_weights-{functional}"]


def pooler_part(num_layers):
    """Returns the encoder's pooler (Part); paths start at the encoder."""
    _, after_blocks = block_paths(num_layers)
    return Part("bert/pooler/dense/", ["_pooler_layer", after_blocks], _POOLER)


def head_parts(next_sentence="0"):
    """Lists the heads' Parts; paths start at the root.

    `next_sentence` says which of BertPretrainerV2's `classification_heads`
    (str) is that head; None says that none of them is.
    """
    masked_lm = {
        **_dense("transform/dense", "dense", "D d"),
        **_norm("transform/LayerNorm", "layer_norm"),
        "output_bias": Place("bias", "V"),
    }
    next_sentence_paths = ["model/classification/layer_with_weights-0"]
    if next_sentence is not None:
        next_sentence_paths.append(
            f"model/classification_heads/{next_sentence}/out_proj"
        )
    return [
        Part("cls/predictions/", ["model/masked_lm", "masked_lm"], masked_lm),
        Part("cls/seq_relationship/", next_sentence_paths, _output("2")),
        Part("", ["model/classifier/out_proj"], _output("L")),
        Part(
            "cls/squad/",
            ["model/span_labeling/layer_with_weights-0"],
            _output("2"),
        ),
    ]


def head_pooler_part(next_sentence="0"):
    """Returns the pooler that a head has (Part); see `head_parts`.

    A head with one of its own takes no notice of the encoder's.
    """
    paths = ["model/classifier/dense", "sentence_prediction.pooler_dense"]
    if next_sentence is not None:
        paths.append(f"model/classification_heads/{next_sentence}/dense")
    paths.append("next_sentence.pooler_dense")
    return Part("bert/pooler/dense/", paths, _POOLER)
