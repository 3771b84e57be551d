"""GLUE's tasks: small files in its layout, and the real ones."""

import gzip

import pytest

from bert_tf.errors import UserError
from bert_tf.tasks import glue
from bert_tf.tasks.examples import InputExample, row_ids

_NLI = ["contradiction", "entailment", "neutral"]
_MNLI = "index promptID pairID genre p1 p2 t1 t2 sentence1 sentence2"
_STS = "index genre filename year old_index source1 source2 sentence1 sentence2"
_PAIR = "index sentence1 sentence2"
_QUESTIONS = "question1 question2"

# Processor, what is read and from which file; a header and a row as GLUE has
# them, with blanks for tabs; the guid and the label of the row's example.
_CASES = [
    ("Cola", "train", "train", "", "gj04 1 * a", "train-0", "1"),
    ("Cola", "dev", "dev", "", "gj04 0  a", "dev-0", "0"),
    ("Cola", "test", "test", "index sentence", "0 a", "test-1", "0"),
    ("Sst2", "train", "train", "sentence label", "a 1", "train-1", "1"),
    ("Sst2", "dev", "dev", "sentence label", "a 0", "dev-1", "0"),
    ("Sst2", "test", "test", "index sentence", "0 a", "test-1", "0"),
    ("Mrpc", "train", "train", "Quality i j x y", "1 5 6 a b", "train-1", "1"),
    ("Mrpc", "dev", "dev", "Quality i j x y", "1 5 6 a b", "dev-1", "1"),
    ("Mrpc", "test", "test", "index i j x y", "0 5 6 a b", "test-1", "0"),
    (
        *("Qqp", "train", "train", f"id qid1 qid2 {_QUESTIONS} is_duplicate"),
        *("9 5 6 a b 1", "train-1", "1"),
    ),
    ("Qqp", "test", "test", f"id {_QUESTIONS}", "0 a b", "test-1", "0"),
    (
        *("Stsb", "dev", "dev", f"{_STS} score", "0 x x x x x x a b 4.750"),
        *("dev-1", "4.750"),
    ),
    ("Stsb", "test", "test", _STS, "0 x x x x x x a b", "test-1", None),
    (
        *("Mnli", "train", "train", f"{_MNLI} label1 gold_label"),
        *("7 x x x x x x x a b neutral entailment", "train-7", "entailment"),
    ),
    (
        *("Mnli", "dev", "dev_matched", f"{_MNLI} label1 label2 gold_label"),
        *("7 x x x x x x x a b - - neutral", "dev_matched-7", "neutral"),
    ),
    (
        *("Mnli", "dev_mismatched", "dev_mismatched", f"{_MNLI} gold_label"),
        *("7 x x x x x x x a b neutral", "dev_mismatched-7", "neutral"),
    ),
    (
        *("Mnli", "test", "test_matched", _MNLI),
        *("7 x x x x x x x a b", "test-7", "contradiction"),
    ),
    (
        *("Mnli", "test_mismatched", "test_mismatched", _MNLI),
        *("8 x x x x x x x a b", "test-8", "contradiction"),
    ),
    (
        *("Qnli", "train", "train", "index question sentence label"),
        *("0 a b not_entailment", "train-1", "not_entailment"),
    ),
    (
        *("Qnli", "test", "test", "index question sentence"),
        *("0 a b", "test-1", "entailment"),
    ),
    (
        *("Rte", "dev", "dev", f"{_PAIR} label"),
        *("0 a b not_entailment", "dev-1", "not_entailment"),
    ),
    ("Rte", "test", "test", _PAIR, "0 a b", "test-1", "entailment"),
    ("Wnli", "train", "train", f"{_PAIR} label", "0 a b 1", "train-1", "1"),
    ("Wnli", "test", "test", _PAIR, "0 a b", "test-1", "0"),
    ("Ax", "test", "diagnostic", _PAIR, "0 a b", "test-1", "contradiction"),
    (
        *("Ax", "test", "AX", "Logic Premise Hypothesis Label"),
        *("x a b neutral", "test-1", "contradiction"),
    ),
]


@pytest.mark.parametrize(
    ("name", "names"),
    [
        *((name, ["0", "1"]) for name in ("Cola", "Sst2", "Mrpc", "Qqp")),
        ("Wnli", ["0", "1"]),
        ("Stsb", []),
        ("Mnli", _NLI),
        ("Ax", _NLI),
        ("Qnli", ["entailment", "not_entailment"]),
        ("Rte", ["entailment", "not_entailment"]),
    ],
)
def test_the_labels_are_in_the_order_of_their_ids(name, names):
    assert _processor(name).get_labels() == names


def _processor(name):
    return getattr(glue, f"{name}Processor")()


@pytest.mark.parametrize(
    ("name", "method", "file_name", "header", "row", "guid", "label"),
    _CASES,
    ids=["-".join(case[::2][:2]) for case in _CASES],
)
def test_each_file_is_read_in_its_layout(
    tmp_path, name, method, file_name, header, row, guid, label
):
    lines = [line.replace(" ", "\t") for line in (header, row) if line]
    (tmp_path / f"{file_name}.tsv").write_text("\n".join(lines) + "\n")
    method = getattr(_processor(name), f"get_{method}_examples")
    text_b = "b" if " a b" in row else None
    assert method(str(tmp_path)) == [InputExample(guid, "a", text_b, label)]


def test_a_byte_order_mark_is_no_part_of_the_first_label(tmp_path):
    # F57: the label is in column 0 and there is no header.
    (tmp_path / "dev.tsv").write_bytes(
        b"\xef\xbb\xbfQuality\tb\n1\tx\ty\ta\tb\n"
    )
    (example,) = glue.MrpcProcessor().get_dev_examples(str(tmp_path))
    assert example.label == "1"


def test_unbalanced_quotes_neither_join_nor_drop_rows(tmp_path):
    # F59
    lines = 'index\tsentence\n0\t"open\n1\tb\n2\tc "d" e"\n'
    (tmp_path / "test.tsv").write_text(lines)
    read = glue.ColaProcessor().get_test_examples(str(tmp_path))
    assert [example.text_a for example in read] == ['"open', "b", 'c "d" e"']


def test_short_rows_of_qqp_are_passed_over(tmp_path, caplog):
    header = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
    rows = "1\t2\t3\ta\tb\t0\n" * 200
    # One row, broken in two by a line end in a question.
    broken = '9\t8\t7\t"What\n"\tWho?\t1\n'
    (tmp_path / "train.tsv").write_text(header + rows + broken)
    read = glue.QqpProcessor().get_train_examples(str(tmp_path))
    assert len(read) == 200
    assert "Lines 202, 203." in caplog.text


def test_ax_has_nothing_to_train_or_evaluate_on(tmp_path):
    for method in ("get_train_examples", "get_dev_examples"):
        with pytest.raises(UserError, match="AX has nothing .*=MNLI"):
            getattr(glue.AxProcessor(), method)(str(tmp_path))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match="no .*/dev_matched.tsv. The folder"):
        glue.MnliProcessor().get_dev_examples(str(tmp_path))


@pytest.mark.parametrize(
    ("task", "source", "method", "count", "last_label"),
    [
        ("CoLA", "train.tsv", "get_train_examples", 8551, "1"),
        ("CoLA", "dev.tsv", "get_dev_examples", 1043, "1"),
        ("SST-2", "train.tsv.gz", "get_train_examples", 67349, "0"),
        ("SST-2", "dev.tsv", "get_dev_examples", 872, "1"),
        ("MRPC", "train.tsv", "get_train_examples", 3668, "0"),
        ("MRPC", "dev.tsv", "get_dev_examples", 408, "1"),
        ("MRPC", "test.tsv", "get_test_examples", 1725, "0"),
        ("QQP", "train.tsv.gz", "get_train_examples", 10000, "0"),
        ("QQP", "dev.tsv", "get_dev_examples", 2000, "0"),
        ("STS-B", "train.tsv", "get_train_examples", 5749, "0"),
        ("STS-B", "dev.tsv", "get_dev_examples", 1500, "0"),
        ("STS-B", "test.tsv.gz", "get_test_examples", 1379, None),
        ("MNLI", "train.tsv", "get_train_examples", 480, "entailment"),
        ("MNLI", "train_9k.tsv.gz", "get_train_examples", 8999, "entailment"),
        ("MNLI", "dev_matched.tsv", "get_dev_examples", 1000, "neutral"),
        ("QNLI", "train.tsv", "get_train_examples", 320, "not_entailment"),
        ("QNLI", "train_9k.tsv.gz", "get_train_examples", 8999, "entailment"),
        ("RTE", "train.tsv", "get_train_examples", 2490, "not_entailment"),
        ("RTE", "dev.tsv", "get_dev_examples", 277, "not_entailment"),
    ],
)
def test_real_files_are_read(
    tmp_path, shared_file, task, source, method, count, last_label
):
    content = shared_file(f"data/{task}/{source}").read_bytes()
    if source.endswith(".gz"):
        content = gzip.decompress(content)
    name = source.removesuffix(".gz").replace("_9k", "")
    (tmp_path / name).write_bytes(content)
    processor = _processor(task.replace("-", "").capitalize())
    read = getattr(processor, method)(str(tmp_path))
    assert len(read) == count
    assert read[-1].label == last_label
    assert all(example.text_a for example in read)


def test_a_test_file_without_header_is_refused(tmp_path):
    # In the layout of CoLA's other files: the label would be taken for a text.
    lines = "gj04\t1\t\ta b\ngj04\t0\t\tc d\n"
    (tmp_path / "test.tsv").write_text(lines)
    with pytest.raises(UserError, match="test.tsv, line 1: .*'sentence'"):
        glue.ColaProcessor().get_test_examples(str(tmp_path))


def test_what_a_subclass_overrides_acts(tmp_path):
    class Mine(glue.RteProcessor):
        def get_labels(self):
            return ["yes", "no"]

    text = "index\tsentence1\tsentence2\tlabel\n0\ta\tb\tno\n"
    (tmp_path / "train.tsv").write_text(text)
    (read,) = Mine().get_train_examples(str(tmp_path))
    assert read.label == "no"

    class Swapped(Mine):
        # As users of the 2018 code wrote it.
        def _create_examples(self, lines, set_type):
            return [
                InputExample(f"{set_type}-{i}", line[2], line[1], line[3])
                for i, line in enumerate(lines)
                if i
            ]

    expected = [InputExample("train-1", "b", "a", "no")]
    assert Swapped().get_train_examples(str(tmp_path)) == expected


def test_ids_of_both_sets_of_mnli_are_their_index(tmp_path):
    header = "\t".join(["index", *"abcdefg", "sentence1", "sentence2"])
    row = "\t".join(["31", *"abcdefg", "x", "y"])
    for name in ("matched", "mismatched"):
        path = tmp_path / f"test_{name}.tsv"
        path.write_text(f"{header}\n{row}\n")
    processor = glue.MnliProcessor()
    for read in (
        processor.get_test_examples(str(tmp_path)),
        processor.get_test_mismatched_examples(str(tmp_path)),
    ):
        assert row_ids(read) == ["31"]
