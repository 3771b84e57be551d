"""Tests of scores, on numbers that can be redone by hand."""

import json

import pytest

from bert_tf.errors import UserError
from bert_tf.squad import scores


def dataset(**answers):
    """Makes articles of questions, id=[answers]."""
    qas = [
        {
            "id": qas_id,
            "question": "what",
            "answers": [{"text": text, "answer_start": 0} for text in texts],
        }
        for qas_id, texts in answers.items()
    ]
    return [{"paragraphs": [{"context": "", "qas": qas}]}]


# Of "red cat" and "cat" one word of two and one of one are common: F1 2/3.
ARTICLES = dataset(a=["The cat!", "dog"], b=["red cat"], c=["x"])
IMPOSSIBLE = dataset(a=["cat"], b=["dog"], c=[], d=[])


def test_version_1(caplog):
    predictions = {"a": "cat", "b": "cat"}
    assert scores.score(
        ARTICLES, predictions, version_2_with_negative=False
    ) == pytest.approx({"exact_match": 100 / 3, "f1": 100 * (1 + 2 / 3) / 3})
    # One line, and not one a question.
    assert "1 questions have no prediction (c)" in caplog.text
    assert "Unanswered question" not in caplog.text


def test_version_2_and_its_parts():
    predictions = {"a": "cat", "b": "", "c": "", "d": "mat", "e": "?"}
    results = scores.score(
        IMPOSSIBLE, predictions, version_2_with_negative=True
    )
    assert results == {
        "exact": 50.0,
        "f1": 50.0,
        "total": 4,
        "HasAns_exact": 50.0,
        "HasAns_f1": 50.0,
        "HasAns_total": 2,
        "NoAns_exact": 50.0,
        "NoAns_f1": 50.0,
        "NoAns_total": 2,
    }


def test_the_best_threshold_and_what_it_gives():
    # Up to odds of -1, a and b are right, c and d without an answer.
    texts = {"a": "cat", "b": "dog", "c": "mat", "d": "mat"}
    odds = {"a": -3.0, "b": -1.0, "c": 2.0, "d": 4.0}
    results = scores.score(
        IMPOSSIBLE, {**texts, "d": ""}, version_2_with_negative=True
    )
    assert results["exact"] == 75.0
    found = scores.score_thresholds(IMPOSSIBLE, texts, odds)
    assert found["best_f1"] == found["best_exact"] == 100.0
    assert found["best_f1_thresh"] == -1.0
    assert scores.find_best_threshold(IMPOSSIBLE, found, odds) == -1.0


def test_where_no_answer_is_best_the_threshold_is_below_all_odds():
    texts = dict.fromkeys("abcd", "wrong")
    odds = {"a": -7.0, "b": -1.0, "c": 2.0, "d": 4.0}
    found = scores.score_thresholds(IMPOSSIBLE, texts, odds)
    assert scores.find_best_threshold(IMPOSSIBLE, found, odds) == -8.0


def test_null_odds_of_another_run():
    with pytest.raises(UserError, match=r"no null odds for 1 predictions \(b"):
        scores.score_thresholds(
            IMPOSSIBLE, {"a": "cat", "b": "dog"}, {"a": 1.0}
        )


def test_predictions_of_another_file():
    with pytest.raises(UserError, match="None of the 1 predictions is for"):
        scores.score(ARTICLES, {"z": ""}, version_2_with_negative=False)


def test_predictions_for_no_question_are_told(caplog):
    predictions = {"a": "cat", "b": "", "c": "", "z": ""}
    scores.score(ARTICLES, predictions, version_2_with_negative=False)
    assert "1 predictions are for no question (z)" in caplog.text


@pytest.mark.parametrize(
    ("articles", "version_2", "reason"),
    [
        (ARTICLES, False, None),
        (ARTICLES, True, None),
        (IMPOSSIBLE, True, None),
        (IMPOSSIBLE, False, r"2 questions have no answer \(c, d\)"),
        (dataset(a=[], b=[]), True, "no question has an answer"),
        (
            [{"paragraphs": [{"qas": [{"id": "a"}]}]}],
            False,
            r"1 questions have no `answers` \(a\)",
        ),
        (
            [{"paragraphs": [{"qas": [{"id": "a", "answers": ["x"]}]}]}],
            False,
            "`answers` of a must be a list",
        ),
    ],
)
def test_why_a_file_cannot_be_scored_by(articles, version_2, reason):
    import re

    found = scores.reason_not_to_score(articles, version_2)
    assert found is None if reason is None else re.match(reason, found)


@pytest.mark.parametrize(
    ("text", "expected"), [("0.0", 0.0), ("-2.5", -2.5), ("auto", "auto")]
)
def test_thresholds(text, expected):
    assert scores.parse_threshold(text, True) == expected


@pytest.mark.parametrize("text", ["high", "nan", "inf", ""])
def test_a_threshold_that_is_none(text):
    with pytest.raises(UserError, match="must be a finite number or auto"):
        scores.parse_threshold(text, True)


def test_a_best_threshold_needs_version_2():
    with pytest.raises(UserError, match="needs --version_2_with_negative"):
        scores.parse_threshold("auto", False)


def test_files_that_are_read(tmp_path):
    path = tmp_path / "some.json"
    path.write_text(json.dumps({"a": "cat"}))
    assert scores.read_predictions(str(path)) == {"a": "cat"}
    path.write_text(json.dumps({"a": -1.5, "b": 2}))
    assert scores.read_null_odds(str(path)) == {"a": -1.5, "b": 2}


@pytest.mark.parametrize(
    ("read", "content", "message"),
    [
        (
            scores.read_predictions,
            "[]",
            "some.json must hold an object, id to a text",
        ),
        (
            scores.read_predictions,
            '{"a": 1}',
            "the entry of a must be a text, but is 1",
        ),
        (scores.read_predictions, "{", "some.json: not JSON"),
        (
            scores.read_null_odds,
            '{"a": "1"}',
            "the entry of a must be a number",
        ),
        (
            scores.read_null_odds,
            '{"a": true}',
            "the entry of a must be a number",
        ),
        (scores.read_null_odds, '{"a": NaN}', "the entry of a is nan"),
    ],
)
def test_files_that_are_something_else(tmp_path, read, content, message):
    path = tmp_path / "some.json"
    path.write_text(content)
    with pytest.raises(UserError, match=message):
        read(str(path))
