"""What a BERT model is made of: the 2018 `bert_config.json`."""

import dataclasses
import json
import logging

from bert_tf.errors import UserError
from bert_tf.storage.files import read_text
from bert_tf.storage.json_files import to_text

# "gelu" is 2018's, with tanh; "gelu_erf", the exact form, is what Hugging Face
# calls "gelu".
HIDDEN_ACTIVATIONS = ("gelu", "gelu_erf", "relu", "tanh", "linear", "")

# Written into some 2018 configurations (the multilingual and Chinese models)
# and read by no code.
_UNUSED_KEYS = frozenset(
    {
        "directionality",
        "pooler_fc_size",
        "pooler_num_attention_heads",
        "pooler_num_fc_layers",
        "pooler_size_per_head",
        "pooler_type",
    }
)


@dataclasses.dataclass(frozen=True)
class BertConfig:
    """The sizes and rates of one model, with the keys of the JSON file.

    Use `dataclasses.replace(config, hidden_dropout_prob=0.0)` for a variant.

    Raises:
      UserError: a value that no model can have, by name.

    Source: `BertConfig` in modeling.py (2018). Its defaults are kept; it is
      frozen and checked here, and unknown keys are named in the log. New, for
      models from elsewhere: `layer_norm_eps`, and "gelu_erf".
    """

    vocab_size: int  # V, the number of pieces
    hidden_size: int = 768  # D
    num_hidden_layers: int = 12
    num_attention_heads: int = 12  # N; D is a multiple of it
    intermediate_size: int = 3072  # the feed-forward layer's inner size
    hidden_act: str = "gelu"  # of the feed-forward layer and the LM head
    hidden_dropout_prob: float = 0.1  # embeddings and both layer outputs
    attention_probs_dropout_prob: float = 0.1
    max_position_embeddings: int = 512  # the longest S
    type_vocab_size: int = 16  # segments; the released models have 2
    initializer_range: float = 0.02  # standard deviation
    layer_norm_eps: float = 1e-12  # 2018 had no other

    def __post_init__(self):
        for field in dataclasses.fields(self):
            name, value = field.name, getattr(self, field.name)
            if field.type is int:
                _require_positive_int(name, value)
            elif name.endswith("_dropout_prob"):
                _require_number(name, value, below=1.0)
            elif field.type is float:
                _require_number(name, value)
        if self.hidden_size % self.num_attention_heads:
            raise UserError(
                f"`hidden_size` ({self.hidden_size}) is not a multiple of "
                f"`num_attention_heads` ({self.num_attention_heads}); every "
                "head takes an equal share. Change one of the two."
            )
        # 2018 took null for "no activation", and any mixture of cases.
        activation = "" if self.hidden_act is None else self.hidden_act
        if str(activation).lower() not in HIDDEN_ACTIVATIONS:
            raise UserError(
                f"`hidden_act` is {self.hidden_act!r}; it must be one of "
                f"{', '.join(map(repr, HIDDEN_ACTIVATIONS))}."
            )
        object.__setattr__(self, "hidden_act", str(activation).lower())

    @classmethod
    def from_dict(cls, json_object):
        """Makes a configuration from a dict with the JSON file's keys.

        Raises:
          UserError: `vocab_size` is missing, or a value is impossible.
        """
        known = {field.name for field in dataclasses.fields(cls)}
        if "vocab_size" not in json_object:
            raise UserError(
                "`vocab_size` is missing from the BERT configuration (its keys "
                f"are {sorted(json_object)})."
            )
        unknown = sorted(set(json_object) - known - _UNUSED_KEYS)
        if unknown:
            logging.getLogger("absl").warning(
                "The BERT configuration has keys that mean nothing here, "
                "ignored: %s.",
                ", ".join(unknown),
            )
        return cls(**{k: v for k, v in json_object.items() if k in known})

    @classmethod
    def from_json_file(cls, json_file):
        """Reads a `bert_config.json` (str, a local or remote path).

        Raises:
          UserError: unreadable, not a JSON object, or impossible values; the
            message names the file.
        """
        text = read_text(json_file)
        try:
            json_object = json.loads(text)
        except json.JSONDecodeError as error:
            raise UserError(
                f"{json_file}, line {error.lineno}: not JSON ({error.msg})."
            ) from error
        if not isinstance(json_object, dict):
            raise UserError(
                f"{json_file}: a BERT configuration is a JSON object, this is "
                f"a {type(json_object).__name__}."
            )
        try:
            return cls.from_dict(json_object)
        except UserError as error:
            raise UserError(f"{json_file}: {error}") from error

    def to_dict(self):
        """Returns a dict with the JSON file's keys."""
        return dataclasses.asdict(self)

    def to_json_string(self):
        """Returns the text of a `bert_config.json`: keys sorted, as in 2018.

        `layer_norm_eps` is left out where it is 2018's.
        """
        values = self.to_dict()
        if self.layer_norm_eps == BertConfig.layer_norm_eps:
            del values["layer_norm_eps"]
        return to_text(values)

    def differences(self, other):
        """Lists (str) where another BertConfig is of another model.

        Dropout does not count: it may change from run to run.
        """
        here, there = self.to_dict(), other.to_dict()
        return [
            f"{key} {here[key]!r} (there {there[key]!r})"
            for key in here
            if here[key] != there[key] and not key.endswith("_dropout_prob")
        ]


def _require_positive_int(name, value):
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UserError(
            f"`{name}` is {value!r}; it must be a whole number > 0."
        )


def _require_number(name, value, below=float("inf")):
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0.0 <= value < below:
        rule = "finite and at least 0"
        rule += f", below {below}" if below < float("inf") else ""
        raise UserError(f"`{name}` is {value!r}; it must be a number, {rule}.")
