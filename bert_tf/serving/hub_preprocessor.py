"""Texts to an encoder's inputs, in the form of TensorFlow Hub.

    preprocessor = hub.load("out/preprocessor/1")
    hub.KerasLayer(preprocessor)(texts)

    tokenize = hub.KerasLayer(preprocessor.tokenize)
    pack = hub.KerasLayer(preprocessor.bert_pack_inputs,
                          arguments={"seq_length": 128})
    pack([tokenize(texts_a), tokenize(texts_b)])

B texts, S sequence length
"""

import itertools

import tensorflow as tf

from bert_tf.features import INPUT_KEYS
from bert_tf.serving.hub_encoder import HUB_INPUTS
from bert_tf.serving.servable import SAMPLE_TEXTS, Servable, as_bytes
from bert_tf.storage import files
from bert_tf.text import graph_packing
from bert_tf.text.graph_tokenizer import TextTokenizer
from bert_tf.text.packing import SPECIAL_TOKENS, require_room
from bert_tf.text.vocabulary import load_vocab, require_special_tokens
from bert_tf.weights.model_folder import VOCAB_FILE

_ANY_TEXTS = tf.TensorSpec([None], tf.string, name="text")
_SPECIAL_TOKENS = {
    "start_of_sequence_id": "[CLS]",
    "end_of_segment_id": "[SEP]",
    "padding_id": "[PAD]",
    "mask_id": "[MASK]",
}


class HubPreprocessor(Servable):
    """A tokenizer and a packer as the preprocessors on TensorFlow Hub are.

    Called with texts, string [B], it gives a dict of HUB_INPUTS to int32
    [B, S], S being its `max_seq_length`. Its parts:

        tokenize: string [B] -> int32 [B, (words), (pieces)], the pieces' ids.
        tokenize.get_special_tokens_dict: () -> dict of int32 [], the ids of
          the special tokens that the vocabulary has.
        bert_pack_inputs: a list of one or two of these (or of int32
          [B, (pieces)]) -> dict as above; `seq_length` is S.

    Ids are those of `FullTokenizer`; a pair that is too long loses pieces of
    the longer text, as in 2018.
    """

    kind = "preprocessor"

    def __init__(self, *, vocab_file, do_lower_case, max_seq_length):
        """Makes the tokenizer.

        Raises:
          UserError: the vocabulary cannot be read or lacks a special token, or
            there is no room for pieces.
        """
        super().__init__()
        require_room(max_seq_length)
        vocab = load_vocab(vocab_file)
        require_special_tokens(vocab, vocab_file, SPECIAL_TOKENS)
        self.vocab_file = vocab_file
        self.do_lower_case = do_lower_case
        self.max_seq_length = max_seq_length
        self.tokenize = _Tokenize(vocab, do_lower_case)
        self.bert_pack_inputs = _Pack(vocab, max_seq_length)

    @tf.function(input_signature=[_ANY_TEXTS])
    def __call__(self, texts):
        """See the class."""
        pieces = self.tokenize.tokenizer.tokenize(texts)
        return self.bert_pack_inputs.pack([pieces], self.max_seq_length)

    def description(self):
        return {
            **super().description(),
            "do_lower_case": self.do_lower_case,
            "max_seq_length": self.max_seq_length,
        }

    def asset_files(self):
        return {
            **super().asset_files(),
            VOCAB_FILE: files.read_bytes(self.vocab_file),
        }

    def signatures(self):
        """See Servable; the parts are traced as well."""
        self.bert_pack_inputs.trace()

        @tf.function(input_signature=[_ANY_TEXTS])
        def serving_default(text):
            return self(text)

        return {"serving_default": serving_default}

    def samples(self):
        return {"serving_default": {"text": as_bytes(SAMPLE_TEXTS)}}


class _Tokenize(tf.Module):
    """`tokenize` of HubPreprocessor."""

    def __init__(self, vocab, do_lower_case):
        super().__init__()
        self.tokenizer = TextTokenizer(vocab, do_lower_case)
        self.get_special_tokens_dict = _SpecialTokens(vocab)

    @tf.function(input_signature=[_ANY_TEXTS])
    def __call__(self, texts):
        pieces = self.tokenizer.tokenize_with_offsets(texts)
        is_first = pieces.is_first.values
        words_before = tf.cumsum(is_first, exclusive=True)
        num_words = tf.reduce_sum(is_first)
        # A piece is of the word whose number is how many first pieces there
        # are up to it, less one.
        words = tf.RaggedTensor.from_value_rowids(
            pieces.ids.values,
            tf.cast(words_before + is_first - 1, tf.int64),
            tf.cast(num_words, tf.int64),
        )
        return tf.RaggedTensor.from_row_lengths(
            words, tf.cast(tf.reduce_sum(pieces.is_first, axis=1), tf.int64)
        )


class _SpecialTokens(tf.Module):
    """`get_special_tokens_dict` of HubPreprocessor's `tokenize`."""

    def __init__(self, vocab):
        super().__init__()
        self._ids = {
            name: vocab[piece]
            for name, piece in _SPECIAL_TOKENS.items()
            if piece in vocab
        }
        self._vocab_size = max(vocab.values()) + 1

    @tf.function(input_signature=[])
    def __call__(self):
        return {
            name: tf.constant(value, tf.int32)
            for name, value in self._ids.items()
        } | {"vocab_size": tf.constant(self._vocab_size, tf.int32)}


class _Pack(tf.Module):
    """`bert_pack_inputs` of HubPreprocessor."""

    def __init__(self, vocab, seq_length):
        super().__init__()
        self._special_ids = vocab["[CLS]"], vocab["[SEP]"]
        # Made here and not as a method: `seq_length` of this object is the
        # default of the function that is saved.
        pack = self.pack

        @tf.function
        def call(inputs, seq_length=seq_length):
            return pack(inputs, seq_length)

        self.__call__ = call

    def pack(self, segments, seq_length):
        """Puts texts' pieces together, see HubPreprocessor."""
        pieces = [
            segment if segment.ragged_rank == 1 else segment.merge_dims(1, 2)
            for segment in segments
        ]
        packed = graph_packing.pack(
            pieces[0],
            pieces[1] if len(pieces) > 1 else None,
            max_seq_length=seq_length,
            special_ids=self._special_ids,
            length=seq_length,
        )
        return {name: packed[key] for name, key in zip(HUB_INPUTS, INPUT_KEYS)}

    def trace(self):
        """Makes what is saved: one and two segments, of words and of pieces."""
        for rank, segments in itertools.product((2, 3), (1, 2)):
            spec = tf.RaggedTensorSpec([None] * rank, tf.int32)
            self.__call__.get_concrete_function(
                [spec] * segments, seq_length=tf.TensorSpec([], tf.int32)
            )
