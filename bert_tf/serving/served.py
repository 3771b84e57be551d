"""What a SavedModel is made of: a model, a tokenizer, ways to call them.

B batch, S sequence length
"""

import functools
import types

import tensorflow as tf

from bert_tf import features
from bert_tf.data.record_writer import ExampleSerializer
from bert_tf.features import INPUT_KEYS
from bert_tf.serving.exportable import SAMPLE_TEXTS, Exportable, any_size
from bert_tf.storage import files
from bert_tf.text import graph_packing
from bert_tf.text.graph_tokenizer import TextTokenizer
from bert_tf.text.packing import SPECIAL_TOKENS
from bert_tf.text.vocabulary import load_vocab, require_special_tokens
from bert_tf.weights.model_folder import CONFIG_FILE, VOCAB_FILE

ANY_TEXTS = tf.TensorSpec([None], tf.string)


class Served(Exportable):
    """A model and the functions by which it is called from outside.

    A kind of model is a subclass, which defines

        kind            str, for the description
        input_names     names of what `serving_default` takes
        special_tokens  what the vocabulary must have
        call_model      input tensors -> dict of outputs
        signatures      name -> tf.function, more than those here
        samples         name -> inputs to compare an export by
    """

    input_names = INPUT_KEYS
    special_tokens = SPECIAL_TOKENS

    def __init__(
        self, model, config, *, vocab_file, do_lower_case, max_seq_length
    ):
        """Stores what the model was trained with, and makes the tokenizer.

        Args:
          model: tf_keras.Model, one of `models`.
          config: BertConfig.
          vocab_file: str.
          do_lower_case: bool.
          max_seq_length: int, S at most; longer text is cut, or windows made.

        Raises:
          UserError: the vocabulary cannot be read, or lacks a special token.
        """
        super().__init__()
        vocab = load_vocab(vocab_file)
        require_special_tokens(vocab, vocab_file, self.special_tokens)
        # Read-only, and so no dict that tf.Module would save.
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
        """Runs the model without dropout.

        Args:
          inputs: dict of INPUT_KEYS to int32 [B, S].

        Returns:
          dict, str -> tensor [B, ...].
        """
        return self._run(inputs)

    def description(self):
        """See Exportable."""
        return {
            **super().description(),
            "do_lower_case": self.do_lower_case,
            "max_seq_length": self.max_seq_length,
            "input_names": self.input_names,
        }

    def asset_files(self):
        """See Exportable."""
        return {
            **super().asset_files(),
            CONFIG_FILE: self.config.to_json_string().encode(),
            VOCAB_FILE: files.read_bytes(self.vocab_file),
        }

    def signatures(self):
        """See Exportable."""
        return {
            "serving_default": self._from_pieces(),
            "serving_examples": self._from_examples(),
        }

    def _from_pieces(self):
        """Returns the concrete function of `input_names`, any B and S."""

        @tf.function
        def serving_default(**inputs):
            return self.call_model(inputs)

        return serving_default.get_concrete_function(
            **any_size(self.input_names)
        )

    def _from_examples(self):
        @tf.function(input_signature=[ANY_TEXTS])
        def serving_examples(examples):
            parsed = tf.io.parse_example(
                examples, features.parse_spec(self._record_features)
            )
            return self.call_model(
                {
                    name: tf.cast(value, tf.int32)
                    for name, value in parsed.items()
                }
            )

        return serving_examples

    def pack(self, texts_a, texts_b=None, *, length=None):
        """Makes the model's inputs of texts.

        Args:
          texts_a: string [B].
          texts_b: string [B] or None.
          length: int or None: S; None: as long as the longest needs.

        Returns:
          dict of INPUT_KEYS to int32 [B, S].
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
        """See Exportable."""
        inputs = self.pack(tf.constant(SAMPLE_TEXTS))
        inputs = {name: value.numpy() for name, value in inputs.items()}
        whole = self.pack(tf.constant(SAMPLE_TEXTS), length=self.max_seq_length)
        return {
            "serving_default": inputs,
            "serving_examples": {"examples": self._records(whole)},
        }

    def _records(self, inputs):
        """Returns dict of INPUT_KEYS to int32 [B, S] as a list of B records."""
        serializer = ExampleSerializer(self._record_features)
        rows = zip(*(inputs[name].numpy().tolist() for name in INPUT_KEYS))
        return [
            serializer.serialize(
                {
                    "input_ids": input_ids,
                    "input_mask": bytes(input_mask),
                    "segment_ids": bytes(segment_ids),
                }
            )
            for input_ids, input_mask, segment_ids in rows
        ]
