"""Rows to examples by where columns are."""

import dataclasses
import logging

import pytest

from bert_tf.errors import UserError
from bert_tf.tasks.examples import InputExample, row_ids
from bert_tf.tasks.labels import CLASSIFICATION, REGRESSION, Labels
from bert_tf.tasks.layouts import Column, Layout, make_examples
from bert_tf.tasks.rows import Row

_LABELS = Labels(CLASSIFICATION, ("no", "yes"))
_LAYOUT = Layout(
    text_a=Column(2, ("question", "q")),
    text_b=Column(3, ("answer",)),
    label=Column(1, ("label",)),
)
_HEADER = "index label question answer"
_UNLABELLED = dataclasses.replace(_LAYOUT, label=None)


def _make(*lines, layout=_LAYOUT, labels=_LABELS):
    """Makes examples of lines with blanks between columns."""
    rows = [
        Row(line.split(" "), "dev.tsv", number)
        for number, line in enumerate(lines, 1)
    ]
    return make_examples(rows, layout, labels, "dev")


@pytest.mark.parametrize(
    ("header", "row"),
    [
        (_HEADER, "7 yes a b"),
        ("w x y z", "7 yes a b"),
        ("index label question z", "7 yes a b"),
        ("answer index q label", "b 7 a yes"),
        ("x question  answer x label ", "x a  b x yes"),
    ],
    ids=["usual", "other-names", "one-other-name", "other-order", "more"],
)
def test_columns_are_found_by_name_or_else_by_position(header, row):
    assert _make(header, row) == [InputExample("dev-1", "a", "b", "yes")]


def test_without_a_header_the_first_row_counts():
    layout = dataclasses.replace(_LAYOUT, has_header=False)
    made = _make("7 yes a b", "8 no c d", layout=layout)
    assert [example.guid for example in made] == ["dev-0", "dev-1"]
    assert [example.label for example in made] == ["yes", "no"]


def test_a_guid_column_and_a_last_column():
    layout = dataclasses.replace(
        _LAYOUT, label=Column(-1, ("gold",)), guid=Column(0)
    )
    made = _make("x x x x", "9e x a b x x yes", layout=layout)
    assert made == [InputExample("dev-9e", "a", "b", "yes")]


def test_unlabelled_rows_get_the_first_label():
    made = _make(_HEADER, "7 unheard-of a b", layout=_UNLABELLED)
    assert made == [InputExample("dev-1", "a", "b", "no")]
    made = _make(
        _HEADER, "7 - a b", layout=_UNLABELLED, labels=Labels(REGRESSION)
    )
    assert made[0].label is None


def test_labels_are_renamed():
    layout = dataclasses.replace(_LAYOUT, renamed_labels={"nope": "no"})
    made = _make(_HEADER, "7 nope a b", "8 yes c d", layout=layout)
    assert [example.label for example in made] == ["no", "yes"]


def test_an_unknown_label_is_named_with_its_place():
    message = "dev.tsv, line 3, column 1: the label 'yea' is unknown. .*'no', "
    with pytest.raises(UserError, match=message) as raised:
        _make(_HEADER, "7 yes a b", "8 yea c d")
    assert "header" not in str(raised.value)


def test_a_label_that_is_no_number_is_named_with_its_place():
    with pytest.raises(UserError, match="line 2, column 1: .*'x' is no number"):
        _make(_HEADER, "7 x a b", labels=Labels(REGRESSION))


def test_a_short_row_is_named():
    with pytest.raises(UserError, match=r"line 3: 3 column\(s\), but column 3"):
        _make(_HEADER, "7 yes a b", "8 no c")


def test_a_header_where_none_should_be_is_hinted_at():
    layout = dataclasses.replace(_LAYOUT, has_header=False)
    message = "line 1, column 1: the label 'label' .* is a header, delete it"
    with pytest.raises(UserError, match=message):
        _make(_HEADER, "7 yes a b", layout=layout)


@pytest.mark.parametrize(
    ("line", "layout"),
    [
        ("x yes a b", _LAYOUT),
        ("7 w a b", _LAYOUT),
        ("7 w a b", _UNLABELLED),
        ("7", _LAYOUT),
    ],
)
def test_a_row_where_the_header_should_be_is_refused(line, layout):
    with pytest.raises(UserError, match="line 1: there should be a header"):
        _make(line, "8 no c d", layout=layout)


def test_a_number_where_the_header_should_be_is_refused():
    with pytest.raises(UserError, match=r"should be a header.*'x \| 2.5 \| a"):
        _make("x 2.5 a b", "y 3 c d", labels=Labels(REGRESSION))


def test_a_header_alone_is_refused():
    with pytest.raises(UserError, match="dev.tsv has no rows: a header"):
        _make(_HEADER)


def test_a_name_that_stands_twice_is_refused():
    message = r"line 1: the header names the column 'answer' 2 times .*3, 4"
    with pytest.raises(UserError, match=message):
        _make(f"{_HEADER} answer", "7 yes a b c")


def test_a_few_short_rows_are_passed_over_where_that_is_known(caplog):
    layout = dataclasses.replace(_LAYOUT, skips_short_rows=True)
    lines = [_HEADER, *["7 yes a b"] * 199]
    lines[9] = "8 no"
    with caplog.at_level(logging.WARNING):
        made = _make(*lines, layout=layout)
    assert len(made) == 198
    (record,) = caplog.records
    assert record.getMessage() == (
        "dev.tsv: 1 of 199 rows are passed over, since they have fewer than 4 "
        "columns; the published file has some that are broken in two. Lines 10."
    )


def test_many_short_rows_are_never_passed_over():
    layout = dataclasses.replace(_LAYOUT, skips_short_rows=True)
    lines = [_HEADER, *["7 yes a b"] * 99]
    lines[9] = "8 no"
    with pytest.raises(UserError, match=r"line 10: 2 column\(s\)"):
        _make(*lines, layout=layout)


def test_a_header_of_another_task_is_told(caplog):
    caplog.set_level(logging.WARNING)
    _make(_HEADER, "7 yes a b", "8 no a b")
    assert not caplog.messages
    _make("index label s1 s2", "7 yes a b", "8 no a b")
    (message,) = caplog.messages
    assert message.startswith("dev.tsv: the header is not that of this task")
    assert "'question' (column 2), 'answer' (column 3), 'label'" in message
    assert "it is 'index | label | s1 | s2'" in message


def test_a_layout_that_knows_no_names_expects_none(caplog):
    layout = Layout(Column(1), label=Column(0))
    _make("x y", "yes a", layout=layout)
    assert not caplog.messages


@pytest.mark.parametrize(
    ("header", "ids"),
    [
        (_HEADER, ["7", "9"]),
        ("x label question answer", ["0", "1"]),
        ("id label question answer", ["7", "9"]),
    ],
)
def test_ids_are_the_file_s_own_or_the_rows_numbers(header, ids):
    assert row_ids(_make(header, "7 yes a b", "9 no a b")) == ids
