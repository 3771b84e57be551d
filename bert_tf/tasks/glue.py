"""The tasks of the GLUE benchmark, in its folder layout.

A processor is a table of which column is what; `GlueProcessor` reads by it.
Some published files name a column otherwise than GLUE's; their name stands
behind GLUE's.
"""

import dataclasses

from bert_tf.errors import UserError
from bert_tf.tasks.examples import FileProcessor
from bert_tf.tasks.labels import CLASSIFICATION, REGRESSION, Labels
from bert_tf.tasks.layouts import Column, Layout, make_examples
from bert_tf.tasks.rows import find_file, read_tsv

_SENTENCE_1 = ("sentence1", "Premise")
_SENTENCE_2 = ("sentence2", "Hypothesis")

# Index, two sentences and a label: RTE, WNLI and others.
_PAIR = Layout(
    text_a=Column(1, _SENTENCE_1),
    text_b=Column(2, _SENTENCE_2),
    label=Column(3, ("label",)),
)


class GlueProcessor(FileProcessor):
    """Reads train.tsv, dev.tsv and test.tsv by the tables of its class.

    Class attributes:
      label_names: tuple of str, in the order of the ids.
      kind: str, see labels.Labels.
      labelled: Layout of the files to train and evaluate on.
      unlabelled: Layout of the files to predict.
    """

    label_names = ("0", "1")
    kind = CLASSIFICATION
    labelled = _PAIR
    unlabelled = dataclasses.replace(_PAIR, label=None)

    def get_labels(self):
        """See base class; empty for a regression."""
        return list(self.label_names)

    def _read(self, data_dir, set_type, *file_names):
        file_names = file_names or [f"{set_type}.tsv"]
        rows = read_tsv(find_file(data_dir, *file_names))
        return self._create_examples(rows, set_type)

    def _create_examples(self, lines, set_type):
        """Makes examples of a file's rows, a header among them if it has one.

        2018's name, for those who override it. `set_type` is 2018's too:
        "train", "dev", "dev_matched" and so on, "test" for all test sets.
        """
        layout = self.unlabelled if set_type == "test" else self.labelled
        labels = Labels(self.kind, tuple(self.get_labels()))
        return make_examples(lines, layout, labels, set_type)


class ColaProcessor(GlueProcessor):
    """CoLA: is a sentence grammatical?

    Source: `ColaProcessor` in run_classifier.py (2018).
    """

    # Only its test file has a header. All files of the other tasks have one.
    labelled = Layout(Column(3), label=Column(1), has_header=False)
    unlabelled = Layout(Column(1, ("sentence",)))


class Sst2Processor(GlueProcessor):
    """SST-2: is a sentence of a film review positive (1) or negative (0)?"""

    labelled = Layout(Column(0, ("sentence",)), label=Column(1, ("label",)))
    unlabelled = Layout(Column(1, ("sentence",)))


class MrpcProcessor(GlueProcessor):
    """MRPC: does a sentence of the news say the same as another?

    Source: `MrpcProcessor` in run_classifier.py (2018).
    """

    unlabelled = Layout(Column(3, ("#1 String",)), Column(4, ("#2 String",)))
    labelled = dataclasses.replace(unlabelled, label=Column(0, ("Quality",)))


class QqpProcessor(GlueProcessor):
    """QQP: do two questions ask the same?"""

    labelled = Layout(
        Column(3, ("question1",)),
        Column(4, ("question2",)),
        Column(5, ("is_duplicate",)),
        # Line ends inside a few questions broke these rows in two.
        skips_short_rows=True,
    )
    unlabelled = Layout(Column(1, ("question1",)), Column(2, ("question2",)))


class StsbProcessor(GlueProcessor):
    """STS-B: how similar are two sentences, from 0 to 5? A regression."""

    kind = REGRESSION
    label_names = ()
    unlabelled = Layout(Column(7, _SENTENCE_1), Column(8, _SENTENCE_2))
    labelled = dataclasses.replace(unlabelled, label=Column(9, ("score",)))


class MnliProcessor(GlueProcessor):
    """MNLI: does one sentence entail or contradict another?

    Source: `MnliProcessor` in run_classifier.py (2018), which had the matched
      sets (genres as in training) alone.
    """

    label_names = ("contradiction", "entailment", "neutral")
    unlabelled = Layout(
        Column(8, _SENTENCE_1), Column(9, _SENTENCE_2), guid=Column(0)
    )
    labelled = dataclasses.replace(
        unlabelled, label=Column(-1, ("gold_label",))
    )

    def get_dev_examples(self, data_dir):
        """See base class: the matched set."""
        return self._read(data_dir, "dev_matched")

    def get_dev_mismatched_examples(self, data_dir):
        """As `get_dev_examples`: genres that are not in the training set."""
        return self._read(data_dir, "dev_mismatched")

    def get_test_examples(self, data_dir):
        """See base class: the matched set."""
        return self._read(data_dir, "test", "test_matched.tsv")

    def get_test_mismatched_examples(self, data_dir):
        """As `get_test_examples`: genres that are not in the training set."""
        return self._read(data_dir, "test", "test_mismatched.tsv")


class QnliProcessor(GlueProcessor):
    """QNLI: does a sentence hold the answer to a question?"""

    label_names = ("entailment", "not_entailment")
    unlabelled = Layout(Column(1, ("question",)), Column(2, ("sentence",)))
    labelled = dataclasses.replace(unlabelled, label=Column(3, ("label",)))


class RteProcessor(GlueProcessor):
    """RTE: does one text entail another?"""

    label_names = ("entailment", "not_entailment")


class WnliProcessor(GlueProcessor):
    """WNLI: does a sentence entail one with its pronoun replaced?"""


class AxProcessor(GlueProcessor):
    """AX, the diagnostic set: to be predicted by a model trained on MNLI."""

    label_names = MnliProcessor.label_names

    def get_train_examples(self, data_dir):
        """Raises UserError: there are none, and none to evaluate on either."""
        raise UserError(
            "AX has nothing to train or evaluate on. Train with "
            "--task_name=MNLI, then use --task_name=AX --do_predict with that "
            "model."
        )

    get_dev_examples = get_train_examples

    def get_test_examples(self, data_dir):
        """See base class."""
        return self._read(data_dir, "test", "diagnostic.tsv", "AX.tsv")
