"""The file of the n best answers."""

import json
import os

import pytest

from bert_tf.errors import UserError
from bert_tf.squad import nbest_file
from bert_tf.storage import files

_ENTRIES = [
    ('A "ß"\n\u2028\U0001f600\\', 1.5, -0.1, 3),
    ("", 1e-7, 1e22, None),
    ("zero", 0.0, -0.0, None),
    ("zero", -0.0, 0.0, 1),
]
_PROBABILITIES = [1 / 3, 1e-30, 0.0, 1.0]


def _as_objects(entries, probabilities):
    names = "text", "probability", "start_logit", "end_logit"
    return [
        dict(zip(names, (text, probability, start, end)))
        for (text, start, end, _), probability in zip(entries, probabilities)
    ]


@pytest.mark.parametrize("ids", [[], ["a"], ["a", 'b"é', ""]])
def test_the_file_is_what_json_dumps_gives(tmp_path, ids):
    path = tmp_path / "nbest.json"
    with nbest_file.NBestFile(str(path)) as file:
        for number, key in enumerate(ids, start=1):
            value = nbest_file.spell(_ENTRIES[:number], _PROBABILITIES)
            file.write([(key, value)])
    expected = {
        key: _as_objects(_ENTRIES[:number], _PROBABILITIES)
        for number, key in enumerate(ids, start=1)
    }
    assert path.read_text() == json.dumps(expected, indent=4) + "\n"


def test_spell_takes_minus_zero_for_itself():
    text = nbest_file.spell(_ENTRIES, _PROBABILITIES)
    assert text.count(": -0.0") == 2
    found = json.loads(text)
    assert found == _as_objects(_ENTRIES, _PROBABILITIES)


def test_an_id_again_takes_the_place_of_the_first(tmp_path):
    path = tmp_path / "nbest.json"
    with nbest_file.NBestFile(str(path)) as file:
        file.write([("é", "1"), ("b", "22"), ("é", "333"), ("c", "4")])
        file.write([("c", "[5]"), ("é", "66")])
    expected = {"é": 66, "b": 22, "c": 5}
    text = json.dumps(expected, indent=4) + "\n"
    assert path.read_text() == text.replace("5", "[5]")
    assert os.listdir(tmp_path) == ["nbest.json"]


def test_after_an_error_there_is_no_new_file(tmp_path):
    path = tmp_path / "nbest.json"
    path.write_text("before")
    with (
        pytest.raises(ZeroDivisionError),
        nbest_file.NBestFile(str(path)) as file,
    ):
        file.write([("a", str(1 / 0))])
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["nbest.json"]


def test_a_file_that_cannot_be_written(tmp_path):
    path = str(tmp_path / "missing" / "nbest.json")
    with (
        pytest.raises(UserError, match="nbest.json cannot be written"),
        nbest_file.NBestFile(path),
    ):
        pass


def test_a_disk_that_is_full(tmp_path, monkeypatch):
    if not os.path.exists("/dev/full"):
        pytest.skip("/dev/full is not on this machine")
    # What is written beside goes to a device that is always full.
    opens = files.open_binary
    monkeypatch.setattr(
        files, "open_binary", lambda _, mode: opens("/dev/full", mode)
    )
    path = str(tmp_path / "nbest.json")
    with (
        pytest.raises(UserError, match="nbest.json cannot be written"),
        nbest_file.NBestFile(path) as file,
    ):
        file.write([("a", "1")])
    assert not os.listdir(tmp_path)


def test_a_remote_file():
    import tensorflow as tf

    tf.io.gfile.makedirs("ram://squad")
    path = "ram://squad/nbest.json"
    with nbest_file.NBestFile(path) as file:
        file.write([("a", "1"), ("b", "2"), ("a", "3")])
    with tf.io.gfile.GFile(path) as stream:
        assert stream.read() == '{\n    "a": 3,\n    "b": 2\n}\n'
    assert tf.io.gfile.listdir("ram://squad") == ["nbest.json"]
