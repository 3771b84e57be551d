"""Hugging Face's `config.json` and 2018's `bert_config.json`."""

import dataclasses

from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.storage.json_files import read_object

FILE = "config.json"
TOKENIZER_FILE = "tokenizer_config.json"

# Hugging Face's "gelu" is the exact form, 2018's the one with tanh.
_ACTIVATIONS = {
    "gelu": "gelu_erf",
    "gelu_python": "gelu_erf",
    "gelu_new": "gelu",
    "gelu_fast": "gelu",
    "gelu_accurate": "gelu",
    "gelu_pytorch_tanh": "gelu",
    "gelu_python_tanh": "gelu",
    "relu": "relu",
    "tanh": "tanh",
    "linear": "linear",
}
_HUGGING_FACE_ACTIVATIONS = {
    "gelu": "gelu_new",
    "gelu_erf": "gelu",
    "relu": "relu",
    "tanh": "tanh",
    "linear": "linear",
    "": "linear",
}
# All others mean the same to both.
_SHARED_KEYS = [
    field.name
    for field in dataclasses.fields(BertConfig)
    if field.name != "hidden_act"
]
# Key, the value that leaves a model a plain BERT, what another one means.
_PLAIN = (
    ("model_type", "bert", "another architecture"),
    ("position_embedding_type", "absolute", "relative positions"),
    ("is_decoder", False, "a decoder"),
    ("is_encoder_decoder", False, "a decoder"),
    ("add_cross_attention", False, "attention to another sequence"),
    ("pruned_heads", {}, "layers with fewer heads"),
)


def read(path):
    """Reads a `config.json` as a BERT configuration that gives its numbers.

    Returns:
      BertConfig; its `hidden_act` names the form of GELU that Hugging Face
      computes.

    Raises:
      UserError: not JSON, or a model that is no plain BERT.
    """
    given = read_object(path)
    for key, plain, meaning in _PLAIN:
        if given.get(key) not in (None, plain):
            raise UserError(
                f"{path}: `{key}` is {given[key]!r}, which stands for "
                f"{meaning}; only plain BERT models ({key} {plain!r}) can be "
                "read."
            )
    activation = given.get("hidden_act") or "gelu"
    if not isinstance(activation, str) or activation not in _ACTIVATIONS:
        raise UserError(
            f"{path}: `hidden_act` is {activation!r}; known are "
            f"{', '.join(_ACTIVATIONS)}."
        )
    # Where a key is missing Hugging Face's default counts.
    values = {"vocab_size": 30522, "type_vocab_size": 2}
    for key in _SHARED_KEYS:
        if given.get(key) is not None:
            values[key] = given[key]
    try:
        return BertConfig(**values, hidden_act=_ACTIVATIONS[activation])
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def to_hugging_face(config, architecture, num_labels=None):
    """Makes the contents (dict) of a `config.json`.

    `architecture` (str) is Hugging Face's class, `num_labels` (int) a
    classifier's.
    """
    contents = {
        "architectures": [architecture],
        "model_type": "bert",
        "hidden_act": _HUGGING_FACE_ACTIVATIONS[config.hidden_act],
        "torch_dtype": "float32",
        **{key: getattr(config, key) for key in _SHARED_KEYS},
    }
    if num_labels:
        labels = {str(index): f"LABEL_{index}" for index in range(num_labels)}
        contents["id2label"] = labels
        contents["label2id"] = {label: int(i) for i, label in labels.items()}
    return contents
