"""What a task's data are made of, under the names of 2018."""

import dataclasses

from bert_tf.tasks import rows


@dataclasses.dataclass
class InputExample:
    """One or two texts and their label.

    Attributes:
      guid: str, what identifies it in messages.
      text_a: str, not tokenized.
      text_b: str, the second text of a pair; None or "" for none.
      label: str; for a regression its number; for several labels a str with
        commas between them, or a list of str. None where there is none.
      row_id: str or None, what identifies it in a file of predictions; None
        for the number of its row, from 0. Not part of what is compared.

    Source: `InputExample` in run_classifier.py (2018).
    """

    guid: str
    text_a: str
    text_b: str | None = None
    label: str | None = None
    row_id: str | None = dataclasses.field(default=None, compare=False)


class PaddingInputExample:
    """Fills up the last batch, which on a TPU has to be as large as the others.

    Its record is all zeros, with `is_real_example` 0.

    Source: `PaddingInputExample` in run_classifier.py (2018).
    """


class DataProcessor:
    """Reads one data set; a new one is a subclass and a line in `registry`.

    class MineProcessor(DataProcessor):
        def get_labels(self):
            return ["no", "yes"]

        def get_train_examples(self, data_dir):
            path = os.path.join(data_dir, "train.tsv")
            return [
                InputExample(f"train-{i}", row[0], label=row[1])
                for i, row in enumerate(self._read_tsv(path))
            ]

    Source: `DataProcessor` in run_classifier.py (2018).
    """

    def get_train_examples(self, data_dir):
        """Returns the list of InputExample to train on."""
        raise self._lacks("get_train_examples")

    def get_dev_examples(self, data_dir):
        """Returns the list of InputExample to evaluate on."""
        raise self._lacks("get_dev_examples")

    def get_test_examples(self, data_dir):
        """Returns the list of InputExample to predict; no label is needed."""
        raise self._lacks("get_test_examples")

    def get_labels(self):
        """Returns the list of labels (str); their order is that of the ids."""
        raise self._lacks("get_labels")

    def _lacks(self, method):
        return NotImplementedError(
            f"{type(self).__name__} does not define `{method}`."
        )

    @classmethod
    def _read_tsv(cls, input_file, quotechar=None):
        """Reads a TSV file into a list of rows.Row, which are lists of str."""
        if quotechar is None:
            return rows.read_tsv(input_file)
        return rows.read_quoted(input_file, "\t", quotechar)


class FileProcessor(DataProcessor):
    """Reads all its sets by one method, which a subclass defines: `_read`.

    `_read(data_dir, name)` returns the InputExamples of "train", "dev" or
    "test"; it raises what `layouts.make_examples` does.
    """

    def get_train_examples(self, data_dir):
        """See base class."""
        return self._read(data_dir, "train")

    def get_dev_examples(self, data_dir):
        """See base class."""
        return self._read(data_dir, "dev")

    def get_test_examples(self, data_dir):
        """See base class."""
        return self._read(data_dir, "test")


def without_labels(examples):
    """Takes the labels off a list of InputExample that is to be predicted.

    Whatever label stands there was not checked and must not matter.

    Source: new; 2018 gave each a label that its own tasks happen to have.
    """
    return [dataclasses.replace(example, label=None) for example in examples]


def row_ids(examples):
    """Returns what identifies examples in a file of predictions (list of str).

    These are the own ids of the file that the examples (list of InputExample)
    come from. Where it has none they are the numbers of the rows from 0, as the
    lines of 2018's test_results.tsv.
    """
    return [
        str(number) if example.row_id is None else example.row_id
        for number, example in enumerate(examples)
    ]
