"""The variables of a BERT model: 2018's names, and their shapes.

The layers get these names by themselves; here they stand in one table for those
who judge a checkpoint without building a model.

Dimension letters: D hidden_size, V vocabulary, L labels.
"""

import re

from bert_tf.checkpoints.weight_reader import listed
from bert_tf.errors import UserError

ENCODER_SCOPE = "bert/"
POOLER_SCOPE = "bert/pooler/"

# What a person calls each head -> the variable by which it is known.
HEADS = {
    "masked language model": "cls/predictions/output_bias",
    "next sentence": "cls/seq_relationship/output_bias",
    "classifier": "output_bias",
    "SQuAD": "cls/squad/output_bias",
}


def is_encoders(name):
    """Tells whether a variable (str) is the encoder's or the pooler's."""
    return name.startswith(ENCODER_SCOPE)


def is_inner(name):
    """Tells whether a variable (str) is the encoder's, not the pooler's."""
    return is_encoders(name) and not name.startswith(POOLER_SCOPE)


def encoder_shapes(config):
    """Lists the encoder's variables, pooler included: name -> tuple of int."""
    d, inner = config.hidden_size, config.intermediate_size
    shapes = {
        "embeddings/word_embeddings": (config.vocab_size, d),
        "embeddings/token_type_embeddings": (config.type_vocab_size, d),
        "embeddings/position_embeddings": (config.max_position_embeddings, d),
        **_layer_norm("embeddings", d),
        **_dense("pooler/dense", d, d),
    }
    for index in range(config.num_hidden_layers):
        layer = f"encoder/layer_{index}"
        for projection in ("query", "key", "value"):
            shapes |= _dense(f"{layer}/attention/self/{projection}", d, d)
        shapes |= _dense(f"{layer}/attention/output/dense", d, d)
        shapes |= _layer_norm(f"{layer}/attention/output", d)
        shapes |= _dense(f"{layer}/intermediate/dense", d, inner)
        shapes |= _dense(f"{layer}/output/dense", inner, d)
        shapes |= _layer_norm(f"{layer}/output", d)
    return {f"{ENCODER_SCOPE}{name}": shape for name, shape in shapes.items()}


def head_shapes(config, num_labels):
    """Lists the variables of all heads, as `encoder_shapes` does; L labels."""
    d = config.hidden_size
    return {
        **_dense("cls/predictions/transform/dense", d, d),
        **_layer_norm("cls/predictions/transform", d),
        "cls/predictions/output_bias": (config.vocab_size,),
        **_output("cls/seq_relationship/", 2, d),
        **_output("", num_labels, d),
        **_output("cls/squad/", 2, d),
    }


def _dense(scope, inputs, outputs):
    return {f"{scope}/kernel": (inputs, outputs), f"{scope}/bias": (outputs,)}


def _layer_norm(scope, d):
    return {f"{scope}/LayerNorm/{part}": (d,) for part in ("gamma", "beta")}


def _output(scope, labels, d):
    return {
        f"{scope}output_weights": (labels, d),
        f"{scope}output_bias": (labels,),
    }


def known_shapes(config, stored):
    """Lists what a BERT can hold: name -> tuple of int, all heads included.

    `stored` (dict, 2018 name -> Stored) tells how many labels there are.
    """
    classifier = stored.get("output_bias")
    num_labels = classifier.shape[0] if classifier and classifier.shape else 1
    return {**encoder_shapes(config), **head_shapes(config, num_labels)}


def require_config(reader, config, config_file):
    """Checks, without a model, that a checkpoint is one of these sizes.

    `config_file` is where the configuration comes from, for the message.

    Raises:
      UserError: a size contradicts the weights; or a variable is missing, of
        another shape, or no float32. All are listed.
    """
    stored = reader.model()
    others = contradictions(reader, config)
    faults = {"Other sizes": others}
    if not others:
        known = known_shapes(config, stored)
        lacking = [name for name in known if name not in stored]
        faults = {
            "Of another shape": _of_another_shape(stored, known),
            "Not float32": [
                f"{name} ({stored[name].dtype})"
                for name in known
                if name in stored and stored[name].dtype != "float32"
            ],
            # All of the encoder, and heads of which there are only parts.
            "Not in the file": [
                name
                for name in lacking
                if is_inner(name) or has_part_of(stored, name, known)
            ],
            "Not in such a model": [
                n for n in stored if is_encoders(n) and n not in known
            ],
        }
    told = [f"{fault}: {listed(x)}." for fault, x in faults.items() if x]
    if told:
        raise UserError(
            f"The checkpoint {reader.path} is not of the model that "
            f"{config_file} describes. {' '.join(told)} Use the configuration "
            "that belongs to it, and all of its files."
        )


def contradictions(reader, config):
    """Lists (str) what a configuration says otherwise than the weights."""
    found = sizes(reader.stored)
    if reader.num_attention_heads:
        found["num_attention_heads"] = reader.num_attention_heads
    return [
        f"`{field}` {getattr(config, field)} ({number} in the weights)"
        for field, number in found.items()
        if getattr(config, field) != number
    ]


def _of_another_shape(stored, known):
    return [
        f"{name} ({list(stored[name].shape)} in the file, {list(shape)} here)"
        for name, shape in known.items()
        if name in stored and stored[name].shape != shape or 0 in shape
    ]


def has_part_of(stored, name, names):
    """Tells whether others of a variable's head, or of the pooler, are stored.

    `names` are all variables of the model, `name` is one of them.
    """
    part = _part(name)
    return any(other in stored for other in names if _part(other) == part)


def _part(name):
    """Returns the scope (str) of the head or the pooler; "" is a classifier."""
    return "/".join(name.split("/")[:2]) if "/" in name else ""


def sizes(stored):
    """Reads off shapes (2018 name -> Stored) what a configuration would say.

    Returns a dict, field -> int. The number of heads cannot be seen.
    """
    found = {}
    for field, name, axis in (
        ("vocab_size", "embeddings/word_embeddings", 0),
        ("hidden_size", "embeddings/word_embeddings", 1),
        ("intermediate_size", "encoder/layer_0/intermediate/dense/bias", 0),
        ("max_position_embeddings", "embeddings/position_embeddings", 0),
        ("type_vocab_size", "embeddings/token_type_embeddings", 0),
    ):
        entry = stored.get(f"{ENCODER_SCOPE}{name}")
        if entry and len(entry.shape) > axis:
            found[field] = entry.shape[axis]
    layer = re.compile(r"bert/encoder/layer_(\d+)/")
    layers = {match[1] for match in map(layer.match, stored) if match}
    if layers:
        found["num_hidden_layers"] = len(layers)
    return found


def heads(stored):
    """Names the heads (list of str, see HEADS) that a checkpoint holds."""
    return [head for head, variable in HEADS.items() if variable in stored]
