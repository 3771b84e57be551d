"""Tests of reading JSON that comes from elsewhere."""

import pytest

from bert_tf.errors import UserError
from bert_tf.storage import json_files


def test_an_object_is_read(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('\ufeff{"a": [1, {"b": null}]}')
    assert json_files.read_object(str(path)) == {"a": [1, {"b": None}]}


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("{", "a.json: not JSON"),
        ("[" * 100_000, "a.json: not JSON"),
        ('{"a": ' + "9" * 5000 + "}", "a.json: not JSON"),
        ('{"a": 1, "a": 2}', "a.json: a stands twice"),
        ('{"a": {"b": 1, "b": 2}}', "a.json: b stands twice"),
        ("[1]", "a.json: it must hold a JSON object, this is a list"),
    ],
)
def test_anything_else_is_an_error_that_names_the_file(tmp_path, text, match):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(UserError, match=match):
        json_files.read_object(str(path))


def test_a_file_that_is_far_too_large_is_not_read(tmp_path):
    path = tmp_path / "a.json"
    with open(path, "wb") as stream:
        stream.truncate(2**40)
    with pytest.raises(UserError, match="1,099,511,627,776 bytes"):
        json_files.read_object(str(path))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UserError, match="a.json cannot be read: No such file"):
        json_files.read_object(str(tmp_path / "a.json"))
