"""XNLI: files of 2018's layout, and the real one."""

import shutil

import pytest

from bert_tf.errors import UserError
from bert_tf.tasks.examples import InputExample, row_ids
from bert_tf.tasks.xnli import XnliProcessor

_HEADER = "language gold_label p1 p2 t1 t2 sentence1 sentence2 promptID"


def _write(folder, name, *lines):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(line.replace(" ", "\t") + "\n" for line in lines))


def test_the_default_language_is_that_of_2018():
    processor = XnliProcessor()
    assert processor.language == "zh"
    expected = ["contradiction", "entailment", "neutral"]
    assert processor.get_labels() == expected


def test_training_rows_are_read_and_their_label_renamed(tmp_path):
    _write(
        tmp_path,
        "multinli/multinli.train.sw.tsv",
        "premise hypo label",
        "a b neutral",
        "c d contradictory",
    )
    assert XnliProcessor("sw").get_train_examples(str(tmp_path)) == [
        InputExample("train-1", "a", "b", "neutral"),
        InputExample("train-2", "c", "d", "contradiction"),
    ]


def test_rows_of_other_languages_are_passed_over(tmp_path):
    rows = [
        _HEADER,
        "en neutral x x x x a b 1",
        "sw contradiction x x x x c d 1",
        "en bad x x x x e f 1",
        "sw entailment x x x x g h 1",
    ]
    _write(tmp_path, "xnli.dev.tsv", *rows)
    _write(tmp_path, "xnli.test.tsv", *rows)
    processor = XnliProcessor("sw")
    # Lines are counted, as in 2018, those of other languages too.
    assert processor.get_dev_examples(str(tmp_path)) == [
        InputExample("dev-2", "c", "d", "contradiction"),
        InputExample("dev-4", "g", "h", "entailment"),
    ]
    assert processor.get_test_examples(str(tmp_path)) == [
        InputExample("test-2", "c", "d", "contradiction"),
        InputExample("test-4", "g", "h", "contradiction"),
    ]


def test_a_language_without_rows_is_named(tmp_path):
    _write(tmp_path, "xnli.dev.tsv", _HEADER, "en neutral x x x x a b")
    with pytest.raises(UserError, match="--xnli_language=xx. It has en"):
        XnliProcessor("xx").get_dev_examples(str(tmp_path))
    _write(tmp_path, "xnli.dev.tsv", _HEADER)
    with pytest.raises(UserError, match="It has no rows at all"):
        XnliProcessor().get_dev_examples(str(tmp_path))


def test_a_missing_header_is_told(tmp_path):
    row = "zh neutral x x x x a b"
    _write(tmp_path, "xnli.test.tsv", row, row)
    with pytest.raises(UserError, match="line 1: there should be a header"):
        XnliProcessor().get_test_examples(str(tmp_path))


def test_a_language_without_a_training_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"no .*multinli\.train\.xx\.tsv"):
        XnliProcessor("xx").get_train_examples(str(tmp_path))


def test_the_real_file_is_read(tmp_path, shared_file):
    shutil.copy(shared_file("data/XNLI/xnli.dev.tsv"), tmp_path)
    read = XnliProcessor().get_dev_examples(str(tmp_path))
    assert len(read) == 2490
    assert sum(example.label == "neutral" for example in read) == 830


def test_what_is_there_and_what_should_be_is_listed(tmp_path):
    (tmp_path / "multinli").mkdir()
    (tmp_path / "multinli" / "multinli.train.en.tsv").write_text("")
    with pytest.raises(UserError) as raised:
        XnliProcessor().get_train_examples(str(tmp_path))
    assert (
        "XNLI's files are multinli/multinli.train.zh.tsv, xnli.dev.tsv and "
        "xnli.test.tsv. The folder has multinli, "
        "multinli/multinli.train.en.tsv."
    ) in str(raised.value)


def test_ids_are_the_pairs_of_the_file(tmp_path):
    header = _HEADER.replace("promptID", "pairID")
    rows = ["en x x x x x a b 4", "zh x x x x x a b 4", "zh x x x x x c d 8"]
    _write(tmp_path, "xnli.test.tsv", header, *rows)
    read = XnliProcessor().get_test_examples(str(tmp_path))
    assert row_ids(read) == ["4", "8"]


def test_labels_of_a_subclass_act(tmp_path):
    class Mine(XnliProcessor):
        def get_labels(self):
            return ["other"]

    _write(tmp_path, "xnli.dev.tsv", _HEADER, "zh other x x x x a b")
    (read,) = Mine().get_dev_examples(str(tmp_path))
    assert read.label == "other"
