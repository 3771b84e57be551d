"""Tests of bert_tf.cli.predictor_command: lines in, lines out."""

import io
import json
import re
import subprocess
import sys

import numpy as np
import pytest

from bert_tf.cli import predictor_command
from bert_tf.serving.predictor import Answer, Filling, Prediction


class _Echo:
    """A predictor of any kind that shows what it was given."""

    def __init__(self, kind, is_pair):
        self.kind = kind
        self.description = {"is_pair": is_pair}
        self.calls = []

    def predict(self, texts):
        self.calls.append(texts)
        return [Prediction(repr(text), {"yes": 0.5}) for text in texts]

    def answer(self, questions, contexts):
        self.calls.append((questions, contexts))
        return [Answer(c, 0, len(c), 0.5, 0.25) for c in contexts]

    def fill_mask(self, texts):
        return [[[Filling(text, 0.5)]] for text in texts]

    def embed(self, texts, pooling):
        assert pooling == "cls"
        return np.array([[len(text), 0.5] for text in texts], np.float32)


def _answers(kind, content, *, is_json=False, is_pair=None, stream=io.BytesIO):
    predictor, out = _Echo(kind, is_pair), io.StringIO()
    predictor_command.answer_lines(
        predictor,
        io.BufferedReader(stream(content)),
        out,
        is_json=is_json,
        pooling="cls",
    )
    return [json.loads(line) for line in out.getvalue().splitlines()], predictor


def test_a_line_in_a_line_out():
    """Empty ones too; a line ends at LF, and a CR before it is its end."""
    content = "one\r\n\na\tb\nü\u2028x".encode() + b"\xff"
    found, _ = _answers("classifier", content)
    texts = ["'one'", "''", "('a', 'b')", repr("ü\u2028x")]
    assert found == [
        {"label": text, "probabilities": {"yes": 0.5}} for text in texts
    ]


def test_lines_of_json():
    rows = [{"text_a": "a\tb"}, {"text_a": "c", "text_b": "d\n"}]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    _, predictor = _answers("classifier", content, is_json=True)
    assert predictor.calls == [["a\tb", ("c", "d\n")]]


@pytest.mark.parametrize(
    ("is_pair", "right", "wrong"),
    [
        (False, b"a\n", b"a\tb\n"),
        (True, b"a\tb\n", b"a\n"),
    ],
)
def test_a_classifier_takes_what_it_was_trained_on(is_pair, right, wrong):
    found, predictor = _answers("classifier", right + wrong, is_pair=is_pair)
    assert len(predictor.calls[0]) == 1
    assert "line 2 has" in found[1]["error"]


def test_other_kinds_of_models():
    found, _ = _answers("question_answering", b"who\tme\nwhat\t\n")
    assert [row["text"] for row in found] == ["me", ""]
    assert set(found[0]) == {
        "text",
        "start",
        "end",
        "probability",
        "null_probability",
    }
    found, _ = _answers("masked_lm", b"red\n")
    assert found == [{"masks": [[{"word": "red", "probability": 0.5}]]}]
    found, _ = _answers("encoder", b"red\n")
    assert found == [{"vector": [3.0, 0.5]}]


class _Slowly(io.RawIOBase):
    """Gives a part at a time, as a terminal or a pipe does."""

    def __init__(self, parts):
        self._parts = list(parts)

    def readable(self):
        return True

    def readinto(self, buffer):
        part = self._parts.pop(0) if self._parts else b""
        buffer[: len(part)] = part
        return len(part)


def test_what_is_there_is_answered_before_more_comes():
    parts = [b"one\n", b"two\nthr", b"ee\nfour\n"]
    _, predictor = _answers("classifier", parts, stream=_Slowly)
    assert predictor.calls == [["one"], ["two"], ["three", "four"]]


@pytest.mark.parametrize(
    ("kind", "is_json", "line", "message"),
    [
        ("classifier", False, "a\tb\tc", r"line 2 has 3 column\(s\)"),
        ("question_answering", False, "a", r"line 2 has 1 column\(s\)"),
        ("masked_lm", False, "a\tb", r"line 2 has 2 column\(s\)"),
        ("classifier", True, "{", "line 2 is no JSON"),
        ("classifier", True, "[]", r"line 2 must be .* text_a and text_b, not"),
        ("classifier", True, '{"text_a": 3}', "each a string; it has"),
        ("classifier", True, '{"text": "a"}', "each a string; it has"),
        ("classifier", True, '{"text_b": "b"}', "each a string; it has"),
        ("question_answering", True, '{"question": "a"}', "each a string"),
    ],
)
def test_a_wrong_line_is_named(kind, is_json, line, message):
    first = "a\tb" if kind == "question_answering" else "a"
    if is_json:
        names = ("text", "text_a", "question", "context")
        first = json.dumps(dict.fromkeys(names, "a"))
    content = f"{first}\n{line}\n{first}\n".encode()
    found, _ = _answers(kind, content, is_json=is_json)
    assert re.search(message, found[1]["error"])
    # The others are answered all the same.
    assert len(found) == 3
    assert found[0] == found[2]
    assert "error" not in found[0]


def _run(*words):
    return subprocess.run(
        [sys.executable, "-m", "bert_tf.predictor", *words],
        capture_output=True,
        check=False,
        text=True,
        stdin=subprocess.DEVNULL,
    )


def test_help_lists_the_flags():
    done = _run("--help")
    assert "\nbert_tf.predictor:\n  --input_format" in done.stdout
    assert "tensorflow" not in done.stderr


def test_no_model_is_one_clear_line(tmp_path):
    done = _run(f"--model={tmp_path}")
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {tmp_path} is no SavedModel")
    assert len(done.stderr.splitlines()) == 1
