"""Tables of one's own."""

import gzip
import logging

import pytest

from bert_tf.errors import UserError
from bert_tf.tasks import own_table
from bert_tf.tasks.examples import InputExample, row_ids
from bert_tf.tasks.labels import MULTI_LABEL, REGRESSION
from bert_tf.tasks.own_table import TableOptions, TableProcessor

_OPTIONS = TableOptions("question", "answer", "ok")


def _write(folder, content, name="train.tsv"):
    (folder / name).write_text(content, encoding="utf-8")
    return str(folder)


def test_columns_by_name(tmp_path):
    folder = _write(tmp_path, "ok\tanswer\tid\tquestion\nk\tb\t9\ta\n")
    processor = TableProcessor(_OPTIONS, ("e", "k", "m"))
    assert processor.get_labels() == ["e", "k", "m"]
    expected = [InputExample("train-1", "a", "b", "k")]
    assert processor.get_train_examples(folder) == expected


@pytest.mark.parametrize("has_header", [True, False])
def test_columns_by_number(tmp_path, has_header):
    header = "ok\tw\tx\ty\n" if has_header else ""
    folder = _write(tmp_path, header + "k\tb\t9\ta\n", "dev.tsv")
    options = TableOptions("3", "1", "0", has_header=has_header)
    read = TableProcessor(options, ("e", "k")).get_dev_examples(folder)
    assert read == [InputExample(f"dev-{int(has_header)}", "a", "b", "k")]


def test_a_header_name_that_is_a_number_wins(tmp_path):
    folder = _write(tmp_path, "1\t0\na\tk\n")
    options = TableOptions("1", label_column="0")
    read = TableProcessor(options, ("e", "k")).get_train_examples(folder)
    assert read == [InputExample("train-1", "a", None, "k")]


def test_a_name_and_a_number_together(tmp_path):
    folder = _write(tmp_path, "ok\tx\nk\ta\n")
    options = TableOptions("1", label_column="ok")
    read = TableProcessor(options, ("e", "k")).get_train_examples(folder)
    assert read == [InputExample("train-1", "a", None, "k")]


def test_prediction_needs_no_label_column(tmp_path):
    # F61: labels e, k and m, and a file with other columns, or any label.
    folder = _write(tmp_path, "answer\tquestion\nb\ta\n", "test.tsv")
    processor = TableProcessor(_OPTIONS, ("e", "k", "m"))
    (example,) = processor.get_test_examples(folder)
    assert (example.text_a, example.text_b) == ("a", "b")
    _write(tmp_path, "answer\tquestion\tok\nb\ta\tnew\n", "test.tsv")
    assert processor.get_test_examples(folder) == [example]
    no_label = TableProcessor(TableOptions("question", "answer"), ("e", "k"))
    assert no_label.get_test_examples(folder) == [example]


def test_csv_with_quotes(tmp_path):
    content = 'ok,question,answer\nk,"a, ""b""",c\n'
    folder = _write(tmp_path, content, "train.csv")
    options = TableOptions("question", "answer", "ok", data_format="csv")
    read = TableProcessor(options, ("e", "k")).get_train_examples(folder)
    assert read == [InputExample("train-1", 'a, "b"', "c", "k")]


def test_several_labels_in_a_cell(tmp_path):
    content = "question\tok\na\tm, e\nb\t\nc\tk\n"
    folder = _write(tmp_path, content)
    options = TableOptions("question", label_column="ok", kind=MULTI_LABEL)
    names = own_table.read_label_names(options, folder)
    assert names == ("e", "k", "m")
    read = TableProcessor(options, names).get_train_examples(folder)
    assert [example.label for example in read] == ["m, e", "", "k"]


def test_regression(tmp_path):
    folder = _write(tmp_path, "question\tok\na\t-2.5\nb\t1e1\n")
    options = TableOptions("question", label_column="ok", kind=REGRESSION)
    assert own_table.choose_label_names(options, folder, None, []) == ()
    processor = TableProcessor(options)
    assert processor.get_labels() == []
    read = processor.get_train_examples(folder)
    assert [example.label for example in read] == ["-2.5", "1e1"]
    _write(tmp_path, "question\tok\na\tnan\n")
    with pytest.raises(UserError, match="line 2, column 1: .*'nan' is no num"):
        processor.get_train_examples(folder)


def test_label_names_that_are_given():
    options = TableOptions("question")
    names = own_table.choose_label_names(options, None, "yes, no,may be", [])
    assert names == ("yes", "no", "may be")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("yes", r"--labels=yes: 1 label\(s\) \('yes'\), but there must be 2"),
        ("yes,,no", "--labels=yes,,no: '' is no label"),
        ("yes,no,yes", "'yes' is there more than once"),
    ],
)
def test_label_names_that_are_refused(value, message):
    options = TableOptions("question")
    with pytest.raises(UserError, match=message):
        own_table.choose_label_names(options, None, value, [])


def test_read_label_names_is_the_same_whatever_the_order(tmp_path):
    for content in ("a\tm\nb\te\nc\tm\n", "a\te\nb\tm\n"):
        folder = _write(tmp_path, "question\tok\n" + content)
        options = TableOptions("question", label_column="ok")
        assert own_table.read_label_names(options, folder) == ("e", "m")


def test_read_label_names_refuses_a_single_label(tmp_path):
    folder = _write(tmp_path, "question\tok\na\tk\nb\tk\n")
    options = TableOptions("question", label_column="ok")
    message = r"train.tsv, column 1: 1 label\(s\) \('k'\)"
    with pytest.raises(UserError, match=message):
        own_table.read_label_names(options, folder)


@pytest.mark.parametrize("label", ["", " ", "k "])
def test_read_label_names_names_a_row_without_a_label(tmp_path, label):
    folder = _write(tmp_path, f"question\tok\na\tk\nb\t{label}\n")
    options = TableOptions("question", label_column="ok")
    message = f"train.tsv, line 3, column 1: the label is {label!r}"
    with pytest.raises(UserError, match=message):
        own_table.read_label_names(options, folder)


def test_read_label_names_warns_of_a_header_taken_for_a_row(tmp_path, caplog):
    folder = _write(tmp_path, "text\tok\na\tk\nb\tk\nc\te\nd\te\n")
    options = TableOptions("0", label_column="1", has_header=False)
    with caplog.at_level(logging.WARNING):
        own_table.read_label_names(options, folder)
    (record,) = caplog.records
    assert "line 1: no other row has the label 'ok'" in record.getMessage()


def test_a_row_taken_for_the_header_is_refused(tmp_path):
    folder = _write(tmp_path, "a\tk\nb\te\nc\tk\n")
    options = TableOptions("0", label_column="1")
    with pytest.raises(UserError, match="line 1: there should be a header"):
        TableProcessor(options, ("e", "k")).get_train_examples(folder)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("answer\tok", "--text_a_column=question, but the header has 'answer'"),
        ("question\tok", "--text_b_column=answer, but the header has"),
        ("question\tanswer", "--label_column=ok, but the header has"),
        ("question\tanswer\tok\tok", "has 'ok' 2 times.*--label_column as a n"),
    ],
)
def test_a_column_that_is_not_there_is_named(tmp_path, header, message):
    folder = _write(tmp_path, header + "\na\tb\tk\te\n")
    with pytest.raises(UserError, match=f"train.tsv, line 1: .*{message}"):
        TableProcessor(_OPTIONS, ("e", "k")).get_train_examples(folder)


def test_a_name_that_stands_twice_but_is_not_meant_is_let_be(tmp_path):
    content = "question\tx\tx\tanswer\tok\na\t\t\tb\tk\n"
    folder = _write(tmp_path, content)
    read = TableProcessor(_OPTIONS, ("e", "k")).get_train_examples(folder)
    assert read == [InputExample("train-1", "a", "b", "k")]


@pytest.mark.parametrize("name", ["train", "test"])
def test_a_tab_inside_a_text_is_named(tmp_path, name):
    content = "question\tanswer\tok\na\tb\te\t\na\tb\tc\tk\n"
    folder = _write(tmp_path, content, f"{name}.tsv")
    method = f"get_{name}_examples"
    message = f"{name}.tsv, line 3: 4 columns, but the header has 3.*with 'k'"
    with pytest.raises(UserError, match=message):
        getattr(TableProcessor(_OPTIONS, ("e", "k")), method)(folder)


def test_a_number_beyond_the_columns_is_named(tmp_path):
    folder = _write(tmp_path, "a\tb\n", "test.tsv")
    options = TableOptions("0", "2", has_header=False)
    message = "test.tsv, line 1: --text_b_column=2, .* there are 2 column"
    with pytest.raises(UserError, match=message):
        TableProcessor(options, ("e", "k")).get_test_examples(folder)


def test_options_that_do_not_fit_are_refused():
    with pytest.raises(UserError, match="=tsv needs --text_a_column"):
        TableOptions(None)
    with pytest.raises(UserError, match="--data_format=xls is unknown; it is"):
        TableOptions("a", data_format="xls")
    with pytest.raises(UserError, match="--label_column=ok: without a header"):
        TableOptions("0", label_column="ok", has_header=False)


def test_training_needs_a_label_column(tmp_path):
    options = TableOptions("question")
    folder = _write(tmp_path, "question\na\n")
    message = "To train or evaluate, --task_name=tsv needs --label_column"
    with pytest.raises(UserError, match=message):
        TableProcessor(options, ("e", "k")).get_train_examples(folder)
    with pytest.raises(UserError, match=message):
        own_table.read_label_names(options, folder)


def test_a_real_table_is_read(tmp_path, shared_file):
    source = shared_file("data/XNLI/zh_dev_text_a_text_b_label.tsv.gz")
    content = gzip.decompress(source.read_bytes()).decode()
    folder = _write(tmp_path, content)
    options = TableOptions("text_a", "text_b", "label")
    names = own_table.read_label_names(options, folder)
    assert names == ("contradiction", "entailment", "neutral")
    assert (
        len(TableProcessor(options, names).get_train_examples(folder)) == 2490
    )


def test_a_real_csv_table_is_read(tmp_path, shared_file):
    source = shared_file("data/arc/arc_easy_test_swag_columns.csv")
    folder = _write(tmp_path, source.read_text(encoding="utf-8"), "train.csv")
    options = TableOptions("sent1", "ending0", "label", data_format="csv")
    names = own_table.read_label_names(options, folder)
    assert names == ("0", "1", "2", "3")
    assert len(TableProcessor(options, names).get_train_examples(folder)) == 548


def test_a_number_that_is_none_is_told_with_its_place(tmp_path):
    folder = _write(tmp_path, "x\ty\na\t1.5\nb\t1_000\n")
    processor = TableProcessor(
        TableOptions("x", label_column="y", kind=REGRESSION)
    )
    with pytest.raises(
        UserError, match="train.tsv, line 3, column 1: the label '1_000'"
    ):
        processor.get_train_examples(folder)


@pytest.mark.parametrize(("row", "count"), [("c\tk\td", 3), ("c", 1)])
def test_an_uneven_row_of_a_table_without_header_is_told(tmp_path, row, count):
    folder = _write(tmp_path, f"a\te\nb\tk\n{row}\n")
    options = TableOptions("0", label_column="1", has_header=False)
    message = rf"line 3: {count} column\(s\), but the first row has 2"
    with pytest.raises(UserError, match=message):
        TableProcessor(options, ("e", "k")).get_train_examples(folder)


def test_a_header_alone_has_no_labels(tmp_path):
    folder = _write(tmp_path, "x\ty\n")
    with pytest.raises(UserError, match="train.tsv has no rows: a header"):
        own_table.read_label_names(TableOptions("x", label_column="y"), folder)


@pytest.mark.parametrize(
    ("names", "flags"),
    [
        (("x", "x", "y"), "--text_a_column and --text_b_column"),
        (("x", "0", "y"), "--text_a_column and --text_b_column"),
        (("x", None, "0"), "--text_a_column and --label_column"),
        (("x", "y", "y"), "--text_b_column and --label_column"),
    ],
)
def test_a_column_cannot_be_two_things(tmp_path, names, flags):
    folder = _write(tmp_path, "x\ty\na\te\n")
    processor = TableProcessor(TableOptions(*names), ("a", "e"))
    with pytest.raises(UserError, match=f"{flags} both mean column"):
        processor.get_train_examples(folder)


def test_the_ids_of_a_table_are_numbers_whatever_its_columns(tmp_path):
    folder = _write(tmp_path, "id\tx\n7\ta\n9\tb\n", "test.tsv")
    processor = TableProcessor(TableOptions("x"), ("e", "k"))
    assert row_ids(processor.get_test_examples(folder)) == ["0", "1"]
