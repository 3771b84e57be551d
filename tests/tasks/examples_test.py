"""The 2018 classes."""

import subprocess
import sys

import pytest

from bert_tf.errors import UserError
from bert_tf.tasks import examples


class _MineProcessor(examples.DataProcessor):
    """What a user writes."""

    def get_labels(self):
        """See base class."""
        return ["no", "yes"]

    def get_train_examples(self, data_dir):
        """See base class."""
        lines = self._read_tsv(f"{data_dir}/mine.tsv")
        return [
            examples.InputExample(guid=i, text_a=line[1], label=line[0])
            for i, line in enumerate(lines)
        ]


def test_input_example_takes_what_it_took_in_2018():
    example = examples.InputExample("train-1", "a", "b", "0")
    same = examples.InputExample(
        guid="train-1", text_a="a", text_b="b", label="0"
    )
    assert example == same
    single = examples.InputExample(guid="test-1", text_a="a")
    assert single.text_b is None
    assert single.label is None


def test_a_processor_of_ones_own_reads_rows(tmp_path):
    (tmp_path / "mine.tsv").write_text('no\ta "b\nyes\tc\n\n')
    (first, second) = _MineProcessor().get_train_examples(tmp_path)
    assert first == examples.InputExample(0, 'a "b', label="no")
    assert second.text_a == "c"


def test_a_processor_of_ones_own_is_told_the_line(tmp_path):
    (tmp_path / "mine.tsv").write_text("no\ta\nyes\n")
    with pytest.raises(UserError, match=r"mine.tsv, line 2: 1 column\(s\)"):
        _MineProcessor().get_train_examples(tmp_path)


def test_read_tsv_takes_a_quote_character(tmp_path):
    (tmp_path / "a.tsv").write_text('"a\tb"\tc\n')
    read = examples.DataProcessor._read_tsv(str(tmp_path / "a.tsv"), '"')
    assert read == [["a\tb", "c"]]


@pytest.mark.parametrize("name", ["train_examples", "dev_examples"])
def test_data_processor_names_what_a_subclass_lacks(name):
    processor = examples.DataProcessor()
    message = f"DataProcessor does not define `get_{name}`"
    with pytest.raises(NotImplementedError, match=message):
        getattr(processor, f"get_{name}")("folder")


def test_data_processor_names_what_a_subclass_lacks_to_predict():
    with pytest.raises(NotImplementedError, match="_MineProcessor .*get_test"):
        _MineProcessor().get_test_examples("folder")
    with pytest.raises(NotImplementedError, match="define `get_labels`"):
        examples.DataProcessor().get_labels()


def test_without_labels_leaves_all_else():
    given = [examples.InputExample("test-1", "a", "b", "not among them")]
    expected = [examples.InputExample("test-1", "a", "b")]
    assert examples.without_labels(given) == expected


def test_no_module_brings_tensorflow_or_scikit_learn():
    # Data are checked before TensorFlow starts, and processes that convert
    # import these modules only. In one of its own: here all is imported.
    code = (
        "import sys; from bert_tf.tasks import registry, records, metrics, "
        "predictions; sys.exit(any(m in sys.modules for m in "
        "('tensorflow', 'sklearn', 'scipy')))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
