"""XNLI: MNLI's question in fifteen languages."""

import os

from bert_tf.errors import UserError
from bert_tf.tasks.examples import FileProcessor
from bert_tf.tasks.labels import CLASSIFICATION, Labels
from bert_tf.tasks.layouts import Column, Layout, make_examples
from bert_tf.tasks.rows import find_file, read_tsv

# The training files have another word for it.
_RENAMED = {"contradictory": "contradiction"}
_TEXTS = {
    "text_a": Column(6, ("sentence1",)),
    "text_b": Column(7, ("sentence2",)),
}
_LAYOUTS = {
    "train": Layout(
        text_a=Column(0, ("premise",)),
        text_b=Column(1, ("hypo",)),
        label=Column(2, ("label",)),
        renamed_labels=_RENAMED,
    ),
    "dev": Layout(
        **_TEXTS, label=Column(1, ("gold_label",)), renamed_labels=_RENAMED
    ),
    "test": Layout(**_TEXTS, id_names=("pairID",)),
}
_LANGUAGE = 0  # Its column in the files of all languages.


class XnliProcessor(FileProcessor):
    """XNLI in one language; a UserError if there is no row in it.

    The training set is MNLI's, translated by machine.

    Source: `XnliProcessor` in run_classifier.py (2018), where the language was
      set by a line of code, and which had no test set.
    """

    def __init__(self, language="zh"):
        """Stores `language` (str), as XNLI's files write it."""
        self.language = language

    def get_labels(self):
        """See base class."""
        return ["contradiction", "entailment", "neutral"]

    def _read(self, data_dir, set_type):
        train = os.path.join("multinli", f"multinli.train.{self.language}.tsv")
        path = find_file(
            data_dir,
            train if set_type == "train" else f"xnli.{set_type}.tsv",
            expected=f" XNLI's files are {train}, xnli.dev.tsv and "
            "xnli.test.tsv.",
        )
        rows = read_tsv(path)
        if set_type != "train":
            rows = self._in_language(rows, path)
        labels = Labels(CLASSIFICATION, tuple(self.get_labels()))
        return make_examples(rows, _LAYOUTS[set_type], labels, set_type)

    def _in_language(self, rows, path):
        """Returns the header and the rows of the language."""
        header, *rows = rows
        wanted = [row for row in rows if row[_LANGUAGE] == self.language]
        found = sorted({row[_LANGUAGE] for row in rows})
        if header[_LANGUAGE] in found:
            raise UserError(
                f"{header.place}: there should be a header, but this is a row "
                f"in {header[_LANGUAGE]}. Put a line with the columns' names "
                "before it."
            )
        if not wanted:
            raise UserError(
                f"{path} has no row in the language "
                f"--xnli_language={self.language}. It has "
                f"{', '.join(found) or 'no rows at all'}."
            )
        return [header, *wanted]
