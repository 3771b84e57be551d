"""Candidates to answers, and the files of them."""

import json
import math
import os

import numpy as np
import pytest

from benchmarks.squad_answers import plain_answers
from bert_tf.errors import UserError
from bert_tf.squad import answers, windows
from bert_tf.squad.examples import Context
from bert_tf.text.tokenization import FullTokenizer

# S; the question has one piece, so that a window has 16 of the context.
_LENGTH = 20
_OFFSET = 3

_TEXTS = [
    " Then-the  caf\u00e9,\nin 1895 (by A. Smith's).",
    "",
    "cafe\u0301 x\u00a0y z \u4e2d\u6587 \u0130stanbul [UNK] # a-a-a",
    "the then the then the then the then the then the then the then the then",
]


@pytest.fixture
def questions(testdata):
    """Two questions to each of the texts, cut up with a stride of 5."""
    tokenizer = FullTokenizer(str(testdata / "vocab.txt"))
    contexts = windows.ContextTokenizer(tokenizer)
    found = []
    for text in _TEXTS:
        tokenized = contexts.tokenize(Context(text))
        plan = windows.plan_windows(len(tokenized.pieces), 16, 5)
        for _ in range(2):
            found.append(
                windows.Question(
                    qas_id=f"q{len(found)}",
                    question_ids=[7],
                    tokenized=tokenized,
                    windows=[windows.Window(_OFFSET, *span) for span in plan],
                )
            )
    return found


def _random_logits(questions, seed, has_ties):
    num_windows = sum(len(question.windows) for question in questions)
    generator = np.random.default_rng(seed)
    logits = generator.normal(0, 3, [2, num_windows, _LENGTH])
    return (np.round(logits) if has_ties else logits).astype(np.float32)


def _write(folder, questions, logits, batch_size=3, **flags):
    writer = answers.AnswerWriter(str(folder), **flags)
    row = 0
    with writer:
        for begin in range(0, len(questions), batch_size):
            batch = questions[begin : begin + batch_size]
            end = row + sum(len(question.windows) for question in batch)
            writer.add(batch, *logits[:, row:end])
            row = end
    return writer


def _one_question(questions, **peaks):
    """The first question, and logits where nothing but `peaks` is above 0."""
    question = questions[0]
    assert len(question.windows) > 1
    logits = np.full([2, len(question.windows), _LENGTH], -9, np.float32)
    for piece, height in peaks.items():
        logits[:, 0, _OFFSET + int(piece.removeprefix("piece"))] = height
    return [question], logits


@pytest.mark.parametrize("has_ties", [True, False])
@pytest.mark.parametrize("is_v2", [True, False])
@pytest.mark.parametrize(
    ("n_best_size", "max_answer_length"), [(20, 30), (3, 30), (9, 2), (1, 1)]
)
def test_the_files_are_those_of_the_plain_way(
    tmp_path, questions, has_ties, is_v2, n_best_size, max_answer_length
):
    flags = {
        "n_best_size": n_best_size,
        "max_answer_length": max_answer_length,
        "version_2_with_negative": is_v2,
    }
    names = [answers.PREDICTIONS_FILE, answers.NBEST_FILE]
    names += [answers.NULL_ODDS_FILE] * is_v2
    for seed in range(10):
        logits = _random_logits(questions, seed, has_ties)
        writer = _write(tmp_path, questions, logits, **flags)
        predictions, paths = writer.finish(-1.5)
        wanted = plain_answers(
            questions, *logits, null_score_diff_threshold=-1.5, **flags
        )
        assert predictions == wanted[0]
        assert sorted(paths) == sorted(str(tmp_path / name) for name in names)
        assert sorted(os.listdir(tmp_path)) == sorted(names)
        for name, content in zip(names, wanted):
            text = json.dumps(content, indent=4) + "\n"
            assert (tmp_path / name).read_text() == text


def test_softmax():
    # Weights 1, 1/2 and 1/4; no overflow however high the scores are.
    two = math.log(2)
    found = answers.softmax([1000 + two, 1000, 1000 - two])
    # Scores near 1000 have 1e-13 between them.
    np.testing.assert_allclose(found, [4 / 7, 2 / 7, 1 / 7], rtol=1e-12)


class _Words:
    """A context in which a span of pieces stands for itself."""

    text = "abcdef"

    def span(self, first_piece, last_piece):
        return first_piece, last_piece + 1

    def context_char(self, char):
        return char + 100


def test_n_best_has_each_text_once():
    words = _Words()
    words.text = "abab"
    chosen = [(0, 0, 5.0, 5.0), (2, 2, 4.0, 4.0), (3, 3, 3.0, 3.0)]
    assert answers.n_best(chosen, words, 2, None) == [
        ("a", 5.0, 5.0, 0),
        ("b", 3.0, 3.0, 3),
    ]
    assert answers.n_best(chosen, words, 1, None) == [("a", 5.0, 5.0, 0)]


def test_n_best_has_no_answer_once():
    chosen = [(0, 0, 5.0, 5.0), (-1, -1, 2.0, 1.0)]
    first, none = ("a", 5.0, 5.0, 0), ("", 2.0, 1.0, None)
    assert answers.n_best(chosen, _Words(), 2, (2.0, 1.0)) == [first, none]
    # Beyond the best: one more entry.
    assert answers.n_best(chosen, _Words(), 1, (2.0, 1.0)) == [first, none]


def test_n_best_of_nothing():
    assert answers.n_best([], _Words(), 2, None) == [("empty", 0.0, 0.0, None)]


def test_best_answer_is_the_best_that_is_not_empty():
    entries = [("", 4.0, 2.0, None), ("c", 3.0, 2.5, 2), ("d", 1.0, 1.0, 3)]
    found = answers.best_answer(entries, [0.5, 0.3, 0.2], _Words(), (4.0, 2.0))
    # 4 + 2 - 3 - 2.5
    assert found == ("c", 102, 0.3, 0.5, 0.5)


def test_writer_with_places(tmp_path, questions):
    # " Then-the  cafe,": pieces 2 on are "the", and a word after two blanks.
    question, logits = _one_question(questions, piece2=5)
    writer = _write(tmp_path, question, logits)
    predictions, paths = writer.finish(answer_offsets=True)
    assert predictions == writer.best_texts
    assert str(tmp_path / answers.ANSWERS_FILE) in paths
    found = json.loads((tmp_path / answers.ANSWERS_FILE).read_text())["q0"]
    text, start = found["text"], found["start"]
    assert text
    assert question[0].tokenized.context.text[start:].startswith(text)
    assert found["null_probability"] is None
    assert writer.null_odds == {"q0": None}


def test_writer_applies_the_threshold_at_the_end(tmp_path, questions):
    question, logits = _one_question(questions, piece2=5)
    # No answer scores 8 + 4, the best text 5 + 5.
    logits[0, :, 0], logits[1, :, 0] = 8, 4
    flags = {"version_2_with_negative": True, "n_best_size": 4}
    writer = _write(tmp_path, question, logits, **flags)
    assert writer.null_odds == {"q0": 2.0}
    predictions, _ = writer.finish(2.0, answer_offsets=True)
    assert predictions == writer.best_texts
    assert predictions["q0"]
    predictions, _ = writer.finish(1.9, answer_offsets=True)
    assert predictions == {"q0": ""}
    found = json.loads((tmp_path / answers.ANSWERS_FILE).read_text())["q0"]
    assert (found["text"], found["start"]) == ("", None)
    assert found["probability"] == found["null_probability"] > 0.8


def test_writer_without_a_word_in_the_context(tmp_path, questions):
    # F81: 2018 crashed in the second case.
    question = [questions[2]]
    assert not question[0].windows
    logits = np.zeros([2, 0, _LENGTH], np.float32)
    entry = {"probability": 1.0, "start_logit": 0.0, "end_logit": 0.0}
    for is_v2, text in ((False, "empty"), (True, "")):
        writer = _write(
            tmp_path, question, logits, version_2_with_negative=is_v2
        )
        assert writer.finish(-99.0)[0] == {"q2": text}
        found = json.loads((tmp_path / answers.NBEST_FILE).read_text())
        assert found == {"q2": [{"text": text, **entry}]}
    assert writer.null_odds == {"q2": 0.0}
    assert writer.answers["q2"].start_char is None


def test_writer_without_a_possible_answer(tmp_path, questions):
    # Only padding and the question are among the best; 2018 crashed.
    question, logits = _one_question(questions)
    logits[:, :, :_OFFSET] = 1
    flags = {"version_2_with_negative": True, "n_best_size": 2}
    writer = _write(tmp_path, question, logits, **flags)
    assert writer.finish()[0] == {"q0": ""}
    assert writer.null_odds == {"q0": 0.0}


def test_writer_takes_the_last_of_several_with_one_id(tmp_path, questions):
    # F85. All have one of three ids; as a dict would have it.
    renamed = [
        windows.Question(f"id{number % 3}", [7], q.tokenized, q.windows)
        for number, q in enumerate(questions)
    ]
    logits = _random_logits(renamed, 7, has_ties=False)
    predictions, _ = _write(tmp_path, renamed, logits).finish()
    wanted = plain_answers(renamed, *logits)
    assert list(predictions.items()) == list(wanted[0].items())
    text = json.dumps(wanted[1], indent=4) + "\n"
    assert (tmp_path / answers.NBEST_FILE).read_text() == text


def test_writer_refuses_nan_and_leaves_no_file(tmp_path, questions):
    # F51: 2018 wrote NaN, which is no JSON.
    logits = _random_logits(questions, 0, has_ties=False)
    logits[1, -1, 2] = np.nan
    with pytest.raises(UserError, match="'q7'.*diverged"):
        _write(tmp_path, questions, logits)
    assert not os.listdir(tmp_path)


def test_finish_where_a_file_cannot_be_written(tmp_path, questions):
    writer = _write(tmp_path, *_one_question(questions, piece2=5))
    (tmp_path / answers.PREDICTIONS_FILE).mkdir()
    with pytest.raises(UserError, match="predictions.json cannot be written"):
        writer.finish()
