"""Questions to records.

S max_seq_length
"""

import dataclasses
import itertools

from bert_tf.data import record_writer
from bert_tf.features import squad_features
from bert_tf.squad import windows
from bert_tf.squad.windows import Question, Window
from bert_tf.text.packing import new_tokenizer

# 2018's: records of one run are numbered from here.
FIRST_UNIQUE_ID = 1_000_000_000


@dataclasses.dataclass(frozen=True, kw_only=True)
class Conversion:
    """What questions become: all that records depend on but the questions.

    `vocab_file`: str. `do_lower_case`: bool. The rest are flags, int; they are
    refused if a length leaves no room.
    """

    vocab_file: str
    do_lower_case: bool
    max_seq_length: int = 384
    doc_stride: int = 128
    max_query_length: int = 64

    def __post_init__(self):
        windows.require_room(
            self.max_seq_length, self.max_query_length, self.doc_stride
        )

    def new_converter(self):
        """Returns a Converter; refuses a vocabulary that cannot be used."""
        return Converter(
            self, new_tokenizer(self.vocab_file, self.do_lower_case)
        )


class Converter:
    """Cuts questions up and makes records of them."""

    def __init__(self, conversion, tokenizer):
        """Stores a Conversion and a tokenization.FullTokenizer."""
        self._conversion = conversion
        self._tokenizer = tokenizer
        self._contexts = windows.ContextTokenizer(tokenizer)
        self._cls, self._sep = tokenizer.convert_tokens_to_ids(
            ["[CLS]", "[SEP]"]
        )

    def questions(self, examples):
        """Yields the windows.Question of each SquadExample.

        Examples of one context that follow each other share its pieces.
        """
        context, tokenized = None, None
        for example in examples:
            if example.context is not context:
                context = example.context
                tokenized = self._contexts.tokenize(context)
            yield self._question(example, tokenized)

    def _question(self, example, tokenized):
        flags = self._conversion
        question_ids = self._tokenizer.tokenize_to_ids(example.question_text)
        question_ids = question_ids[: flags.max_query_length]
        room = flags.max_seq_length - len(question_ids) - windows.NUM_SPECIAL
        offset = len(question_ids) + 2
        plan = windows.plan_windows(len(tokenized.ids), room, flags.doc_stride)
        return Question(
            example.qas_id,
            question_ids,
            tokenized,
            [Window(offset, *planned) for planned in plan],
        )

    def prediction_records(self, examples):
        """Yields the records (list of bytes) of each SquadExample's windows."""
        serializer = self._serializer(is_training=False)
        unique_ids = itertools.count(FIRST_UNIQUE_ID)
        for question in self.questions(examples):
            yield [
                serializer.serialize(
                    self._values(question, window, next(unique_ids))
                )
                for window in question.windows
            ]

    def training_records(self, examples):
        """Does so for examples with answers, which the records have too."""
        serializer = self._serializer(is_training=True)
        unique_ids = itertools.count(FIRST_UNIQUE_ID)
        for example, question in zip(examples, self.questions(examples)):
            first, last = self._answer_span(example, question.tokenized)
            is_impossible = example.is_impossible
            records = []
            for window in question.windows:
                start, end = windows.answer_positions(
                    window, is_impossible, first, last
                )
                values = {
                    **self._values(question, window, next(unique_ids)),
                    "start_positions": [start],
                    "end_positions": [end],
                    "is_impossible": [int(is_impossible)],
                }
                records.append(serializer.serialize(values))
            yield records

    def _answer_span(self, example, tokenized):
        """Returns the answer's first and last piece; -1 without an answer."""
        if example.is_impossible:
            return -1, -1
        word_to_piece = tokenized.word_to_piece
        return windows.improve_answer_span(
            tokenized.pieces,
            word_to_piece[example.start_position],
            word_to_piece[example.end_position + 1] - 1,
            self._tokenizer.tokenize(example.orig_answer_text),
        )

    def _serializer(self, *, is_training):
        length = self._conversion.max_seq_length
        return record_writer.ExampleSerializer(
            squad_features(length, is_training=is_training)
        )

    def _values(self, question, window, unique_id):
        start, end = window.start, window.start + window.length
        input_ids = [
            self._cls,
            *question.question_ids,
            self._sep,
            *question.tokenized.ids[start:end],
            self._sep,
        ]
        length = self._conversion.max_seq_length
        text = record_writer.text_values(input_ids, window.offset, length)
        return {"unique_ids": [unique_id], **text}

    def padding_record(self):
        """Returns the record (bytes), without pieces, that fills up a batch."""
        text = record_writer.text_values([], 0, self._conversion.max_seq_length)
        serializer = self._serializer(is_training=False)
        return serializer.serialize({"unique_ids": [0], **text})


def write_records(path, records_of_questions, *, padding=None, batch_size=1):
    """Writes records to a TFRecord file, which appears when it is complete.

    Args:
      path: str.
      records_of_questions: iterable of lists of bytes.
      padding: bytes, a record that fills up the last batch; None for none.
      batch_size: int, B of that batch.

    Returns:
      int, how many were written without padding.

    Source: `FeatureWriter` in run_squad.py (2018).
    """
    num_records = 0

    def batches():
        nonlocal num_records
        for records in records_of_questions:
            num_records += len(records)
            yield records
        if padding is not None:
            yield [padding] * (-num_records % batch_size)

    record_writer.write(path, batches())
    return num_records
