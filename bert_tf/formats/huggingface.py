"""Hugging Face's names of BERT's weights, and what 2018 called them.

Hugging Face stores a projection as [outputs, inputs], 2018 as [inputs,
outputs], the heads' output weights apart, which are [outputs, inputs] in both.
"""

import os
import re

import numpy as np
from absl import logging

from bert_tf.checkpoints.weight_reader import Stored, WeightReader, listed
from bert_tf.errors import UserError
from bert_tf.formats import huggingface_config, safetensors_files
from bert_tf.storage import files, json_files

# What Hugging Face's class for one head has no place for, the pooler in most
# cases, goes into this file beside the weights, under the 2018 names. Only this
# project reads it.
REST_FILE = "bert_tf_rest.safetensors"

_DECODER = "cls.predictions.decoder.weight"
_BIAS = "cls.predictions.bias"
_DECODER_BIAS = "cls.predictions.decoder.bias"  # Another name of the same.
_WORD_EMBEDDINGS = "bert/embeddings/word_embeddings"
_MASKED_LM_BIAS = "cls/predictions/output_bias"

# 2018 name <-> name without the `bert.` prefix, for what follows no rule.
_SPECIAL = {
    _MASKED_LM_BIAS: _BIAS,
    "cls/seq_relationship/output_weights": "cls.seq_relationship.weight",
    "cls/seq_relationship/output_bias": "cls.seq_relationship.bias",
    "output_weights": "classifier.weight",
    "output_bias": "classifier.bias",
    "cls/squad/output_weights": "qa_outputs.weight",
    "cls/squad/output_bias": "qa_outputs.bias",
}
_SPECIAL_2018 = {hugging: name for name, hugging in _SPECIAL.items()}
_ENCODER_PARTS = ("embeddings", "encoder", "pooler")
# The first versions had 2018's spelling.
_LAYER_NORM_PARTS = {"weight": "gamma", "bias": "beta"}
# Not weights: 0, 1, 2, ... and 0, 0, 0, ...
_BUFFERS = ("embeddings.position_ids", "embeddings.token_type_ids")


def name_of_2018(hugging_face_name):
    """Translates a name of Hugging Face's, with or without the `bert.` prefix.

    Returns:
      (str, bool): the 2018 name, and whether the tensor is to be transposed.
      A name that no BERT has is only given slashes.
    """
    name = hugging_face_name.removeprefix("bert.")
    if name in _SPECIAL_2018:
        return _SPECIAL_2018[name], False
    *scopes, last = re.sub(r"\blayer\.(\d+)\b", r"layer_\1", name).split(".")
    transpose = False
    if scopes and scopes[-1] == "LayerNorm":
        last = _LAYER_NORM_PARTS.get(last, last)
    elif scopes and scopes[-1].endswith("_embeddings") and last == "weight":
        last = ""
    elif last == "weight":
        last, transpose = "kernel", True
    if scopes and scopes[0] in _ENCODER_PARTS:
        scopes.insert(0, "bert")
    return "/".join([*scopes, last]).rstrip("/"), transpose


def name_of_hugging_face(name):
    """Translates a 2018 name of an encoder's or a head's variable.

    Returns:
      (str, bool): the name, with the `bert.` prefix where it is the encoder's,
      and whether the tensor is to be transposed.
    """
    if name in _SPECIAL:
        return _SPECIAL[name], False
    *scopes, last = re.sub(r"\blayer_(\d+)\b", r"layer/\1", name).split("/")
    if last.endswith("_embeddings"):
        return ".".join([*scopes, last, "weight"]), False
    spelling = {"kernel": "weight", "gamma": "weight", "beta": "bias"}
    return ".".join([*scopes, spelling.get(last, last)]), last == "kernel"


class HuggingFaceReader(WeightReader):
    """A Hugging Face BERT in safetensors files, one or an index of several.

    Attributes:
      buffers: tuple of str, tensors that are no weights and are passed over.
      dtypes: tuple of str, those of the weights in the files, as "BF16".

    Raises:
      UserError: a header that contradicts itself, two tensors of one
        meaning, or a weight that is no floating point number.
    """

    format_name = "Hugging Face safetensors"

    def __init__(self, path):
        tensors = safetensors_files.list_tensors(path)
        self.buffers = tuple(
            name for name in tensors if name.removeprefix("bert.") in _BUFFERS
        )
        # 2018 name -> (name in the file, Tensor, whether to transpose it)
        self._tensors = {}
        rest = os.path.join(os.path.dirname(path), REST_FILE)
        if files.is_file(rest):
            for name, tensor in safetensors_files.list_tensors(rest).items():
                self._tensors[name] = name, tensor, False
        # Other names of the word embeddings and of the masked LM's bias.
        self._decoder = tensors.pop(_DECODER, None)
        self._decoder_bias = None
        if _BIAS in tensors:
            self._decoder_bias = tensors.pop(_DECODER_BIAS, None)
        for name, tensor in tensors.items():
            if name not in self.buffers:
                self._add(path, name, tensor)
        dtypes = {tensor.dtype for _, tensor, _ in self._tensors.values()}
        self.dtypes = tuple(sorted(dtypes))
        stored = {}
        for meaning, (_, tensor, transpose) in self._tensors.items():
            shape = tensor.shape[::-1] if transpose else tensor.shape
            stored[meaning] = Stored("float32", shape)
        super().__init__(path, stored)

    def _add(self, path, name, tensor):
        _require_float(path, name, tensor)
        meaning, transpose = name_of_2018(
            _BIAS if name == _DECODER_BIAS else name
        )
        if meaning in self._tensors:
            raise UserError(
                f"{path} holds {meaning} twice, as {name} and as "
                f"{self._tensors[meaning][0]}; which one counts cannot be "
                "known. Remove one."
            )
        self._tensors[meaning] = name, tensor, transpose

    def read(self, name):
        """See WeightReader; float32, whatever the file's dtype."""
        if name == _MASKED_LM_BIAS:
            self._require_same(_WORD_EMBEDDINGS, self._decoder, _DECODER)
            self._require_same(name, self._decoder_bias, _DECODER_BIAS)
        return self._read(name)

    def _read(self, name):
        in_file, tensor, transpose = self._tensors[name]
        value = safetensors_files.read_tensor(tensor, in_file)
        return np.ascontiguousarray(value.T) if transpose else value

    def _require_same(self, name, other, other_name):
        """Checks that what stands twice in the file is the same."""
        if other is None or name not in self._tensors:
            return
        _require_float(self.path, other_name, other)
        value = safetensors_files.read_tensor(other, other_name)
        if not np.array_equal(value, self._read(name)):
            raise UserError(
                f"{self.path}: {other_name} differs from {name}. 2018's masked "
                "language model has one for both, so that this head cannot be "
                "taken over. The encoder can: convert_checkpoint.py "
                "--encoder_only."
            )

    def log_left_out(self):
        """Names in the log what a model of 2018's cannot hold of this one."""
        if self.buffers:
            logging.info("Left out, no weights: %s.", listed(self.buffers))
        folder = os.path.dirname(self.path)
        config = os.path.join(folder, huggingface_config.FILE)
        given = json_files.read_object(config) if files.is_file(config) else {}
        names = given.get("architectures") or []
        others = [name for name in names if name not in CLASSES]
        if others:
            logging.warning(
                "%s is for %s. A head called `classifier` is taken for one of "
                "texts; nothing here says that it was another.",
                self.path,
                ", ".join(map(str, others)),
            )
        labels = given.get("id2label") or {}
        if any(label != f"LABEL_{index}" for index, label in labels.items()):
            logging.warning("Left out, the labels' names: %s.", labels)

    def slots(self):
        """See WeightReader; Hugging Face keeps nothing of a run there."""
        return {}


def _require_float(path, name, tensor):
    if not safetensors_files.is_float(tensor):
        raise UserError(
            f"{path}: {name} is {tensor.dtype}; weights must be float32, "
            "float16 or bfloat16. Save the model as one of these; of a "
            "quantized model use the original."
        )


# Hugging Face's classes, by the heads they have: the first that a model's heads
# suffice for is its class. Beside the names that begin so a class has the
# embeddings and the layers; whatever else a model holds has no place in it.
CLASSES = {
    "BertForQuestionAnswering": ("cls/squad/",),
    "BertForSequenceClassification": ("output_", "bert/pooler/"),
    # A classifier of pieces needs no pooler.
    "BertForTokenClassification": ("output_",),
    "BertForPreTraining": (
        "cls/predictions/",
        "cls/seq_relationship/",
        "bert/pooler/",
    ),
    "BertForMaskedLM": ("cls/predictions/",),
    "BertForNextSentencePrediction": ("cls/seq_relationship/", "bert/pooler/"),
    "BertModel": ("bert/pooler/",),
}


def choose_class(names):
    """Chooses one of CLASSES (str) for a model with these 2018 names."""
    for name, scopes in CLASSES.items():
        if all(any(n.startswith(scope) for n in names) for scope in scopes):
            return name
    # One without its pooler.
    return "BertModel"


def has_place(class_name, name):
    """Tells whether one of CLASSES has a place for a known 2018 name."""
    return name.startswith(
        ("bert/embeddings/", "bert/encoder/", *CLASSES[class_name])
    )
