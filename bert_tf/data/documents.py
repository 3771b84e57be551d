"""Text files to documents: sentences as ids of their pieces.

The ids are held flat, 4 bytes a piece. A list of str for each sentence, as in
2018, takes some twenty times as much.
"""

import array
import logging

from bert_tf.errors import UserError
from bert_tf.storage import files
from bert_tf.storage.progress import Heartbeat

_logger = logging.getLogger("absl")


class Documents:
    """Sentences of piece ids, grouped into documents, in three flat arrays."""

    def __init__(self):
        # The ids of all sentences, one after the other.
        self.pieces = array.array("i")
        # Where in `pieces` each sentence starts, and the last one ends.
        self.sentence_starts = array.array("q", [0])
        # With which sentence each document starts; then the number of them.
        self.document_starts = array.array("q", [0])

    def __len__(self):
        """Counts the documents that are ended."""
        return len(self.document_starts) - 1

    @property
    def num_sentences(self):
        """int, the sentences of all documents."""
        return len(self.sentence_starts) - 1

    def add_sentence(self, ids):
        """Adds a sentence (list of int, not empty) to the last document."""
        self.pieces.fromlist(ids)
        self.sentence_starts.append(len(self.pieces))

    def end_document(self):
        """Ends the last document, unless it is empty."""
        if self.num_sentences > self.document_starts[-1]:
            self.document_starts.append(self.num_sentences)

    def sentence_range(self, document):
        """Returns a document's first sentence and the one after its last."""
        first, end = self.document_starts[document : document + 2]
        return first, end


def read_documents(paths, tokenizer):
    """Reads text: one sentence a line, a blank line between documents.

    Lines end at LF alone. A line of nothing but white space is blank. A line
    that leaves no piece, such as one of zero-width spaces, adds nothing and
    ends nothing. As in 2018 the end of a file does not end a document.

    `paths` (list of str) are local or remote; the tokenizer is a FullTokenizer.

    Raises:
      UserError: a file cannot be read, or is not UTF-8, or has an unknown word
        where the vocabulary has no [UNK] (names file and line); or there is no
        sentence at all.

    Source: the first half of `create_training_instances` in
      create_pretraining_data.py (2018), which made empty files of no sentence.
    """
    documents = Documents()
    heartbeat = Heartbeat("Read %s sentences so far.")
    for path in paths:
        num_before = documents.num_sentences
        for line_number, line in _stripped_lines(path):
            if not line:
                documents.end_document()
                continue
            try:
                ids = tokenizer.tokenize_to_ids(line)
            except KeyError as error:
                raise UserError(
                    f"{path}, line {line_number}: {error.args[0]} Add it to "
                    "the vocabulary."
                ) from error
            if ids:
                documents.add_sentence(ids)
            heartbeat.beat(documents.num_sentences)
        if documents.num_sentences == num_before:
            _logger.warning("%s holds no sentence.", path)
    documents.end_document()
    if not len(documents):
        raise UserError(
            f"No sentence in {', '.join(paths)}, hence 0 instances. The input "
            "is text: one sentence a line, a blank line between documents."
        )
    return documents


def _stripped_lines(path):
    """Yields (number from 1, str without white space at its ends) per line."""
    try:
        with (
            files.naming_failures(path, "read"),
            files.open_binary(path) as stream,
        ):
            for number, line in enumerate(stream, 1):
                yield number, line.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path}, line {number}: not UTF-8 (byte "
            f"0x{line[error.start]:02X}). Convert the file to UTF-8."
        ) from error
