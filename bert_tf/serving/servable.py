"""What a SavedModel is made of: a model, a tokenizer, ways to call them.

B batch, S sequence length
"""

import functools
import types

import numpy as np
import tensorflow as tf

from bert_tf import features
from bert_tf.data.record_writer import ExampleSerializer
from bert_tf.features import INPUT_KEYS
from bert_tf.formats.saved_model import DESCRIPTION_FILE
from bert_tf.storage import files, json_files
from bert_tf.text import graph_packing
from bert_tf.text.graph_tokenizer import TextTokenizer
from bert_tf.text.packing import SPECIAL_TOKENS
from bert_tf.text.vocabulary import load_vocab, require_special_tokens
from bert_tf.weights.model_folder import CONFIG_FILE, VOCAB_FILE

ANY_TEXTS = tf.TensorSpec([None], tf.string)

# Texts of several lengths and scripts, one of them empty.
SAMPLE_TEXTS = (
    "The quick brown fox jumps over the lazy dog.",
    "",
    "Naïve café: ΟΔΟΣ, 中文, 한국어 & \U0001f600!",
)


class Servable(tf.Module):
    """Something that `export.export` writes as a SavedModel.

    A subclass sets `kind` (str, for the description) and defines

        signatures  () -> dict, name -> tf.function
        samples     () -> dict, a signature's name -> dict, an input's name ->
                    np.ndarray: inputs to compare an export by
    """

    kind = None

    def description(self):
        """Returns the dict that goes into the description file."""
        return {"kind": self.kind}

    def asset_files(self):
        """Returns the files that go with the model: dict, name -> bytes."""
        description = json_files.to_text(self.description())
        return {DESCRIPTION_FILE: description.encode()}

    def keep_assets(self, assets):
        """Makes these files (dict, name -> Asset) part of what is saved."""
        self.assets = list(assets.values())


class ServedModel(Servable):
    """A model and the functions by which it is called from outside.

    A kind of model is a subclass; besides what Servable asks for it may set

        input_names     names of what `serving_default` takes
        special_tokens  what the vocabulary must have
        call_model      input tensors -> dict of outputs
    """

    input_names = INPUT_KEYS
    special_tokens = SPECIAL_TOKENS

    def __init__(
        self, model, config, *, vocab_file, do_lower_case, max_seq_length
    ):
        """Stores what a model (tf_keras.Model) was trained with.

        `max_seq_length`: int, S at most; longer text is cut, or windows made.

        Raises:
          UserError: the vocabulary cannot be read, or lacks a special token.
        """
        super().__init__()
        vocab = load_vocab(vocab_file)
        require_special_tokens(vocab, vocab_file, self.special_tokens)
        # Read-only: tf.Module would save a plain dict.
        self.vocab = types.MappingProxyType(vocab)
        # Its variables, and not the model: tf_keras would add functions of its
        # own for each layer to an export.
        self._weights = model.variables
        self._run = functools.partial(model, training=False)
        self.config = config
        self.vocab_file = vocab_file
        self.do_lower_case = do_lower_case
        self.max_seq_length = max_seq_length
        self._record_features = features.encoder_features(max_seq_length)
        self.tokenizer = TextTokenizer(vocab, do_lower_case)
        self.special_ids = vocab["[CLS]"], vocab["[SEP]"]

    def call_model(self, inputs):
        """Runs the model, without dropout, on INPUT_KEYS to int32 [B, S].

        Returns dict, str -> tensor [B, ...].
        """
        return self._run(inputs)

    def description(self):
        return {
            **super().description(),
            "do_lower_case": self.do_lower_case,
            "max_seq_length": self.max_seq_length,
            "input_names": self.input_names,
        }

    def asset_files(self):
        return {
            **super().asset_files(),
            CONFIG_FILE: self.config.to_json_string().encode(),
            VOCAB_FILE: files.read_bytes(self.vocab_file),
        }

    def signatures(self):
        spec = features.parse_spec(self._record_features)

        @tf.function(input_signature=[ANY_TEXTS])
        def serving_examples(examples):
            parsed = tf.io.parse_example(examples, spec)
            return self.call_model(
                {k: tf.cast(value, tf.int32) for k, value in parsed.items()}
            )

        return {
            "serving_default": self._from_pieces(),
            "serving_examples": serving_examples,
        }

    def _from_pieces(self):
        """Returns the concrete function of `input_names`, any B and S."""

        @tf.function
        def serving_default(**inputs):
            return self.call_model(inputs)

        return serving_default.get_concrete_function(
            **any_size(self.input_names)
        )

    def pack(self, texts_a, texts_b=None, *, length=None):
        """Makes the model's inputs, dict of INPUT_KEYS to int32 [B, S].

        Args:
          texts_a: string [B].
          texts_b: string [B] or None.
          length: int, S; None: as long as the longest needs.
        """
        pieces_b = None if texts_b is None else self.tokenizer.tokenize(texts_b)
        return graph_packing.pack(
            self.tokenizer.tokenize(texts_a),
            pieces_b,
            max_seq_length=self.max_seq_length,
            special_ids=self.special_ids,
            length=length,
        )

    def samples(self):
        texts = tf.constant(SAMPLE_TEXTS)
        inputs = self.pack(texts)
        whole = self.pack(texts, length=self.max_seq_length)
        rows = zip(*(whole[name].numpy().tolist() for name in INPUT_KEYS))
        serializer = ExampleSerializer(self._record_features)
        records = [
            serializer.serialize(
                {
                    "input_ids": input_ids,
                    "input_mask": bytes(input_mask),
                    "segment_ids": bytes(segment_ids),
                }
            )
            for input_ids, input_mask, segment_ids in rows
        ]
        return {
            "serving_default": {k: v.numpy() for k, v in inputs.items()},
            "serving_examples": {"examples": records},
        }


def any_size(names):
    """Returns dict, name -> TensorSpec, of int32 [B, S], any B and any S."""
    return {
        name: tf.TensorSpec([None, None], tf.int32, name=name) for name in names
    }


def as_bytes(texts):
    """Returns texts (sequence of str) as a signature takes them."""
    return np.array([text.encode() for text in texts])
