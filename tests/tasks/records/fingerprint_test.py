"""Records are known again by what they were made of."""

import dataclasses
import json
import os

import pytest

from bert_tf.tasks.examples import InputExample, PaddingInputExample
from bert_tf.tasks.labels import CLASSIFICATION, Labels
from bert_tf.tasks.records import fingerprint
from bert_tf.tasks.records.converter import Conversion

_EXAMPLES = [InputExample("1", "a", "b", "no"), InputExample("2", "c")]


@pytest.fixture
def conversion(tmp_path):
    """A Conversion with a vocabulary of its own."""
    (tmp_path / "vocab.txt").write_text("[UNK]\n")
    labels = Labels(CLASSIFICATION, ("no", "yes"))
    return Conversion(labels, 12, str(tmp_path / "vocab.txt"), True)


@pytest.fixture
def stored(tmp_path, conversion):
    """A file of records, as it were, with its companion; returns its path."""
    path = tmp_path / "train.tf_record"
    path.write_bytes(b"records")
    made_of = fingerprint.fingerprint(_EXAMPLES, conversion)
    fingerprint.store(str(path), made_of, {"num_records": 2})
    return str(path)


def _compare(stored, conversion, examples=_EXAMPLES):
    made_of = fingerprint.fingerprint(examples, conversion)
    return fingerprint.compare(stored, made_of)


def test_the_same_is_known_again(stored, conversion):
    assert _compare(stored, conversion) == ({"num_records": 2}, "")
    # Only what is in the records counts.
    others = [dataclasses.replace(e, guid="x") for e in _EXAMPLES]
    assert _compare(stored, conversion, others)[0] is not None
    moved = conversion.vocab_file + ".copy"
    os.rename(conversion.vocab_file, moved)
    other = dataclasses.replace(conversion, vocab_file=moved)
    assert _compare(stored, other)[0] is not None


@pytest.mark.parametrize(
    "examples",
    [
        _EXAMPLES[:1],
        _EXAMPLES[::-1],
        [*_EXAMPLES, PaddingInputExample()],
        [dataclasses.replace(_EXAMPLES[0], label="yes"), _EXAMPLES[1]],
        [InputExample("1", "a\tb", None, "no"), _EXAMPLES[1]],
        [_EXAMPLES[0], InputExample("2", "c", "")],
    ],
)
def test_other_examples_are_told(stored, conversion, examples):
    found = _compare(stored, conversion, examples)
    assert found == (None, "the data changed")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"max_seq_length": 13}, "--max_seq_length changed"),
        ({"do_lower_case": False}, "--do_lower_case changed"),
        (
            {"labels": Labels(CLASSIFICATION, ("yes", "no"))},
            "the labels changed",
        ),
        (
            {"labels": Labels("multi_label", ("no",)), "max_seq_length": 9},
            "the labels and the kind of labels and --max_seq_length changed",
        ),
    ],
)
def test_other_flags_are_told(stored, conversion, change, reason):
    other = dataclasses.replace(conversion, **change)
    assert _compare(stored, other) == (None, reason)


def test_another_vocabulary_program_or_unicode_is_told(
    stored, conversion, monkeypatch
):
    with open(conversion.vocab_file, "a") as stream:
        stream.write("a\n")
    monkeypatch.setattr(fingerprint, "_FORMAT", 0)
    monkeypatch.setattr("unicodedata.unidata_version", "1.0")
    _, reason = _compare(stored, conversion)
    assert reason == (
        "this program's way of making records and the vocabulary and Python's "
        "version of Unicode changed"
    )


def test_no_file_or_another_size_is_told(stored, conversion):
    with open(stored, "ab") as stream:
        stream.write(b"more")
    assert "size" in _compare(stored, conversion)[1]
    os.remove(stored)
    assert _compare(stored, conversion) == (None, "there is none yet")


def test_other_bytes_of_the_same_number_are_told(stored, conversion):
    with open(stored, "r+b") as stream:
        stream.write(b"R")
    found = _compare(stored, conversion)
    assert found == (None, "its content is not what it was when it was made")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"made_of": 1}', "{"])
def test_a_companion_that_tells_nothing_is_told(stored, conversion, content):
    with open(fingerprint.companion(stored), "w") as stream:
        stream.write(content)
    found = _compare(stored, conversion)
    assert found == (None, "nothing tells what it was made of")


def test_forget_makes_the_companion_tell_nothing(stored, conversion, tmp_path):
    fingerprint.forget(stored)
    assert _compare(stored, conversion)[0] is None
    # Nothing to forget, nothing written.
    fingerprint.forget(str(tmp_path / "other"))
    assert not os.path.exists(tmp_path / "other.json")


def test_the_companion_can_be_read_by_people(stored):
    with open(fingerprint.companion(stored)) as stream:
        content = json.load(stream)
    assert content["made_of"]["labels"] == ["no", "yes"]
    assert content["made_of"]["max_seq_length"] == 12
    assert content["bytes"] == len(b"records")


def test_a_digest_tells_sets_apart(conversion):
    one, other = _EXAMPLES, _EXAMPLES[:1]
    longer = dataclasses.replace(conversion, max_seq_length=13)
    digests = [
        fingerprint.digest(*arguments)
        for arguments in (
            ([one, other], conversion),
            ([one, other], longer),
            ([other, one], conversion),
            ([one], conversion),
        )
    ]
    assert len(set(digests)) == 4
    assert fingerprint.digest([one, other], conversion) == digests[0]
