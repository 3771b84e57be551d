"""Labels as numbers and as a file."""

import pytest

from bert_tf.errors import UserError
from bert_tf.tasks import labels
from bert_tf.tasks.labels import CLASSIFICATION, MULTI_LABEL, REGRESSION, Labels

_ONE = Labels(CLASSIFICATION, ("e", "k", "m"))
_SEVERAL = Labels(MULTI_LABEL, ("e", "k", "m"))
_NUMBER = Labels(REGRESSION)


def test_encode_one_label():
    assert [_ONE.encode(name) for name in ("e", "m")] == [[0], [2]]
    assert (_ONE.num_outputs, _ONE.record_length) == (3, 1)
    assert _ONE.record_dtype == "int64"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("k", [0, 1, 0]),
        ("m,e", [1, 0, 1]),
        (" m , e ,", [1, 0, 1]),
        ("", [0, 0, 0]),
        (["e", "k"], [1, 1, 0]),
        ("e,e", [1, 0, 0]),
    ],
)
def test_encode_several_labels(cell, expected):
    assert _SEVERAL.encode(cell) == expected
    assert (_SEVERAL.num_outputs, _SEVERAL.record_length) == (3, 3)
    assert _SEVERAL.record_dtype == "int64"


def test_encode_a_number():
    assert _NUMBER.encode("3.800") == [3.8]
    assert _NUMBER.encode("-1e3") == [-1000.0]
    assert _NUMBER.encode(2) == [2.0]
    assert (_NUMBER.num_outputs, _NUMBER.record_length) == (1, 1)
    assert _NUMBER.record_dtype == "float32"


def test_encode_no_label_gives_zeros():
    assert _ONE.encode(None) == [0]
    assert _SEVERAL.encode(None) == [0, 0, 0]
    assert _NUMBER.encode(None) == [0]


@pytest.mark.parametrize(
    ("kind", "label", "unknown"),
    [
        (_ONE, "f", "'f'"),
        (_ONE, "e ", "'e '"),
        (_ONE, "", "''"),
        (_SEVERAL, "e,f", "'f'"),
    ],
)
def test_encode_names_an_unknown_label_and_the_known_ones(kind, label, unknown):
    message = f"label {unknown} is unknown. The labels are 'e', 'k', 'm'"
    with pytest.raises(UserError, match=message):
        kind.encode(label)


@pytest.mark.parametrize("label", ["5", "5.", ".5", "+0.5E-1", "-1e3", 5])
def test_encode_takes_plain_numbers(label):
    assert _NUMBER.encode(label) == [float(label)]


@pytest.mark.parametrize(
    "label",
    ["", "high", "nan", "-inf", "1e39", "3,5", "1_000", "\u0663", " 1", "1 "],
)
def test_encode_refuses_what_is_no_finite_number(label):
    with pytest.raises(UserError, match=f"label {label!r} is no number"):
        _NUMBER.encode(label)


def test_spell_shows_the_first_of_very_many():
    assert labels.spell(("a", "b ")) == "'a', 'b '"
    assert labels.spell(tuple("x" * 25)).endswith("'x' and 5 more")


@pytest.mark.parametrize("name", ["", " a", "a\tb", "a\nb", "a\u2028b"])
def test_check_names_refuses_what_no_file_could_hold(name):
    with pytest.raises(UserError, match="here: .* is no label"):
        labels.check_names(("x", name), "here")
    with pytest.raises(UserError, match=r"here: 0 label\(s\) \(none\)"):
        labels.check_names((), "here", least=1)


def test_sort_labels_by_value_or_by_code_point():
    assert labels.sort_labels({"10", "9", "-1"}) == ("-1", "9", "10")
    assert labels.sort_labels({"10", "9", "x"}) == ("10", "9", "x")
    assert labels.sort_labels({"b", "B", "a"}) == ("B", "a", "b")
    assert labels.sort_labels({"7", "07"}) == ("07", "7")
    # No numbers but to Python: U+0663 is an Arabic 3.
    assert labels.sort_labels({"9", "1_0"}) == ("1_0", "9")
    assert labels.sort_labels({"9", "10", "\u0663"}) == ("10", "9", "\u0663")
    assert labels.sort_labels({"9" * 5000, "10"}) == ("10", "9" * 5000)


def one_of(*names):
    return labels.Labels(labels.CLASSIFICATION, names)


def test_a_regression_leaves_its_kind_alone(tmp_path):
    number = labels.Labels(labels.REGRESSION)
    labels.write_labels(tmp_path, number)
    assert labels.read_labels(tmp_path) is None
    labels.require_same_labels(tmp_path, number, "--labels")


def test_another_kind_is_refused(tmp_path):
    several = labels.Labels(labels.MULTI_LABEL, ("a", "b"))
    labels.write_labels(tmp_path, several)
    labels.require_same_labels(tmp_path, several, "--labels")
    with pytest.raises(UserError, match="for multi_label, --labels is classif"):
        labels.require_same_labels(tmp_path, one_of("a", "b"), "--labels")


def test_labels_are_read_as_written(tmp_path):
    names = ("not this", "ü", "#")
    labels.write_labels(tmp_path, one_of(*names))
    assert labels.read_labels(tmp_path) == names
    written = (tmp_path / "labels.txt").read_text(encoding="utf-8")
    assert written == "not this\nü\n#\n"


def test_read_labels_of_a_folder_without(tmp_path):
    assert labels.read_labels(tmp_path) is None


def test_read_labels_refuses_another_file(tmp_path):
    (tmp_path / "labels.txt").write_text("a\n\nb\n")
    with pytest.raises(UserError, match="labels.txt: '' is no label"):
        labels.read_labels(tmp_path)


def test_require_same_labels_takes_the_same_or_none(tmp_path):
    labels.require_same_labels(tmp_path, one_of("a", "b"), "--labels")
    labels.write_labels(tmp_path, one_of("a", "b"))
    labels.require_same_labels(tmp_path, one_of("a", "b"), "--labels")


@pytest.mark.parametrize("names", [("b", "a"), ("a", "b", "c"), ("a",)])
def test_require_same_labels_refuses_others(tmp_path, names):
    labels.write_labels(tmp_path, one_of("a", "b"))
    message = "labels.txt has the labels 'a', 'b', but --labels has "
    with pytest.raises(UserError, match=message + labels.spell(names)):
        labels.require_same_labels(tmp_path, one_of(*names), "--labels")
