"""Examples to records, within one process.

S max_seq_length
"""

import dataclasses

from bert_tf import model_folder
from bert_tf.tasks import packing
from bert_tf.tasks.encoding import encode_label, encode_record
from bert_tf.tasks.examples import PaddingInputExample
from bert_tf.tasks.labels import Labels, require_same_labels


@dataclasses.dataclass(frozen=True)
class Conversion:
    """What examples become: all that records depend on but the examples.

    `labels`: labels.Labels. `max_seq_length`: int, S. `vocab_file`: str.
    `do_lower_case`: bool.
    """

    labels: Labels
    max_seq_length: int
    vocab_file: str
    do_lower_case: bool

    def __post_init__(self):
        packing.require_room(self.max_seq_length)

    def features(self):
        """Returns the tuple of features.Feature of such records."""
        from bert_tf import features  # Deferred: it imports TensorFlow.

        return features.classifier_features(
            self.max_seq_length,
            label_length=self.labels.record_length,
            label_dtype=self.labels.record_dtype,
        )

    def require_same(self, folder, source):
        """Checks that a folder's model, if any, was trained on such records.

        Args:
          folder: str.
          source: str, where the labels come from, for the message.

        Raises:
          UserError: its labels, their kind or its vocabulary are others.
        """
        require_same_labels(folder, self.labels, source)
        model_folder.require_same_vocabulary(folder, self.vocab_file)

    def new_converter(self):
        """Returns a Converter.

        Raises:
          UserError: the vocabulary cannot be read, or lacks a special token.
        """
        tokenizer = packing.new_tokenizer(self.vocab_file, self.do_lower_case)
        return Converter(self.labels, self.max_seq_length, tokenizer)


class Converter:
    """Makes records of examples."""

    def __init__(self, labels, max_seq_length, tokenizer):
        """Stores its arguments.

        Args:
          labels: labels.Labels.
          max_seq_length: int, S.
          tokenizer: tokenization.FullTokenizer.
        """
        self._labels = labels
        self._max_seq_length = max_seq_length
        self._tokenizer = tokenizer
        self._special_ids = tokenizer.convert_tokens_to_ids(["[CLS]", "[SEP]"])

    def convert(self, examples):
        """Makes the records of some examples.

        Args:
          examples: list of InputExample and PaddingInputExample.

        Returns:
          pair: list of bytes, a record each; int, how many were cut.

        Raises:
          UserError: an unknown label (names the guid).
        """
        records, num_cut = [], 0
        dtype = self._labels.record_dtype
        for example in examples:
            if isinstance(example, PaddingInputExample):
                input_ids, num_first, label = [], 0, self._labels.encode(None)
            else:
                label = packing.encode_label(example, self._labels)
                input_ids, num_first, is_cut = self._pack(example)
                num_cut += is_cut
            label_entry = encode_label(tuple(label), dtype)
            records.append(
                encode_record(
                    input_ids, num_first, self._max_seq_length, label_entry
                )
            )
        return records, num_cut

    def log(self, example):
        """Writes what becomes of an InputExample to the log."""
        input_ids, _, _ = self._pack(example)
        pieces = self._tokenizer.convert_ids_to_tokens(input_ids)
        packing.log_example(example, pieces)

    def _pack(self, example):
        return packing.pack(
            *packing.tokenize(example, self._tokenizer),
            self._max_seq_length,
            self._special_ids,
        )
