"""What a checkpoint holds, told in a few lines."""

import math

from bert_tf.checkpoints.variable_table import (
    contradictions,
    heads,
    is_encoders,
    known_shapes,
    sizes,
)
from bert_tf.checkpoints.weight_reader import GLOBAL_STEP, listed
from bert_tf.formats.huggingface import HuggingFaceReader

_WORDS = (
    ("num_hidden_layers", "layers"),
    ("hidden_size", "hidden size"),
    ("intermediate_size", "intermediate size"),
    ("vocab_size", "vocabulary"),
    ("max_position_embeddings", "positions"),
    ("type_vocab_size", "segments"),
)


def describe(reader, config=None, config_file=None):
    """Describes a WeightReader: lines (str) of the form "what: value".

    `config` is a BertConfig and `config_file` (str) where it is from; both are
    None if there is none beside the weights.
    """
    form = reader.format_name
    if isinstance(reader, HuggingFaceReader):
        form = f"{form}, {', '.join(reader.dtypes)}"
    slots = reader.slots()
    model = reader.model()
    lines = [
        ("format", form),
        ("path", reader.path),
        ("step", reader.global_step() if GLOBAL_STEP in slots else "none"),
        ("sizes", _sizes(model)),
        ("configuration", _configuration(reader, config, config_file)),
        ("heads", ", ".join(heads(model)) or "none"),
        ("parameters", _parameters(model)),
        ("optimizer slots and steps", len(slots)),
    ]
    others = [] if config is None else contradictions(reader, config)
    if others:
        lines.append(("it does not fit", ", ".join(others)))
    elif config is not None:
        known = known_shapes(config, model)
        more = [name for name in model if name not in known]
        lines += [("other variables", listed(more))] if more else []
    return "".join(f"{what}: {value}\n" for what, value in lines)


def _sizes(model):
    found = sizes(model)
    told = [
        f"{words} {found[field]}" for field, words in _WORDS if field in found
    ]
    return ", ".join(told) or "not those of a BERT"


def _configuration(reader, config, config_file):
    if config is None:
        known = "the number of attention heads is not known"
        if reader.num_attention_heads:
            known = f"{reader.num_attention_heads} attention heads"
        return f"none beside it; {known}"
    return (
        f"{config_file}: {config.num_attention_heads} attention heads, "
        f"activation {config.hidden_act!r}"
    )


def _parameters(model):
    counts = {name: math.prod(entry.shape) for name, entry in model.items()}
    encoder = sum(n for name, n in counts.items() if is_encoders(name))
    return f"{sum(counts.values()):,}, of them the encoder's {encoder:,}"
