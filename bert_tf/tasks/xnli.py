"""XNLI: MNLI's question in fifteen languages."""

import os

from bert_tf.errors import UserError
from bert_tf.tasks.examples import DataProcessor
from bert_tf.tasks.labels import CLASSIFICATION, Labels
from bert_tf.tasks.layouts import Column, Layout, make_examples
from bert_tf.tasks.rows import find_file, read_tsv

_LABELS = ("contradiction", "entailment", "neutral")
# The training files have another word for it.
_RENAMED = {"contradictory": "contradiction"}

_TRAIN = Layout(
    text_a=Column(0, ("premise",)),
    text_b=Column(1, ("hypo",)),
    label=Column(2, ("label",)),
    renamed_labels=_RENAMED,
)
_DEV = Layout(
    text_a=Column(6, ("sentence1",)),
    text_b=Column(7, ("sentence2",)),
    label=Column(1, ("gold_label",)),
    renamed_labels=_RENAMED,
)
_TEST = Layout(text_a=_DEV.text_a, text_b=_DEV.text_b, id_names=("pairID",))
_TRAIN_FILE = os.path.join("multinli", "multinli.train.{}.tsv")
_LANGUAGE = 0  # Its column in the files of all languages.


class XnliProcessor(DataProcessor):
    """XNLI in one language.

    Source: `XnliProcessor` in run_classifier.py (2018), where the language was
      set by a line of code, and which had no test set.
    """

    def __init__(self, language="zh"):
        """Stores `language` (str), as XNLI's files write it."""
        self.language = language

    def get_labels(self):
        """See base class."""
        return list(_LABELS)

    def get_train_examples(self, data_dir):
        """See base class: MNLI's training set, translated by machine."""
        name = _TRAIN_FILE.format(self.language)
        rows = read_tsv(self._find(data_dir, name))
        return self._examples(rows, _TRAIN, "train")

    def get_dev_examples(self, data_dir):
        """See base class; raises UserError if the language has no row."""
        rows = self._read_rows(self._find(data_dir, "xnli.dev.tsv"))
        return self._examples(rows, _DEV, "dev")

    def get_test_examples(self, data_dir):
        """See base class; raises UserError if the language has no row."""
        rows = self._read_rows(self._find(data_dir, "xnli.test.tsv"))
        return self._examples(rows, _TEST, "test")

    def _examples(self, rows, layout, set_type):
        labels = Labels(CLASSIFICATION, tuple(self.get_labels()))
        return make_examples(rows, layout, labels, set_type)

    def _find(self, data_dir, name):
        train = _TRAIN_FILE.format(self.language)
        expected = f" XNLI's files are {train}, xnli.dev.tsv and xnli.test.tsv."
        return find_file(data_dir, name, expected=expected)

    def _read_rows(self, path):
        header, *rows = read_tsv(path)
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
