"""Tests of bert_tf.squad.graph_answers against the files that Python writes."""

import json
import re

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.squad import answers, graph_answers, graph_windows, windows
from bert_tf.squad.examples import Context
from bert_tf.squad.graph_spans import Spans
from bert_tf.text.graph_tokenizer import TextTokenizer
from bert_tf.text.tokenization import FullTokenizer

# S; the question has one piece, so that a window has 16 of the context.
_LENGTH = 20
_STRIDE = 5

_TEXTS = [
    " Then-the  caf\u00e9,\nin 1895 (by A. Smith's).",
    "",
    "cafe\u0301 x\u00a0y z \u4e2d\u6587 \u0130stanbul [UNK] # a-a-a",
    "the then the then the then the then the then the then the then the then",
    # So few texts that the first candidates do not give enough of them.
    "a" + "-a" * 30,
    "x",
]


class _Both:
    """The texts, cut up by both sides."""

    def __init__(self, vocab_file):
        tokenizer = FullTokenizer(str(vocab_file))
        contexts = windows.ContextTokenizer(tokenizer)
        self.questions = []
        for number, text in enumerate(_TEXTS):
            tokenized = contexts.tokenize(Context(text))
            room = _LENGTH - 4
            plan = windows.plan_windows(len(tokenized.pieces), room, _STRIDE)
            spans = [windows.Window(3, *planned) for planned in plan]
            self.questions.append(
                windows.Question(f"q{number}", [7], tokenized, spans)
            )
        module = TextTokenizer(tokenizer.vocab, do_lower_case=True)
        texts = tf.constant(_TEXTS)
        pieces, letters = module.tokenize_with_letters(texts)
        self.spans = Spans(texts, pieces, letters, module.unknown_id)
        self.windows = graph_windows.cut(
            tf.ragged.constant([[7]] * len(_TEXTS), tf.int32),
            pieces.ids,
            special_ids=(2, 3),
            max_seq_length=_LENGTH,
            max_query_length=1,
            doc_stride=_STRIDE,
        )

    def logits(self, seed, has_ties):
        size = [2, len(self.windows.questions), _LENGTH]
        logits = np.random.default_rng(seed).normal(0, 3, size)
        return (np.round(logits) if has_ties else logits).astype(np.float32)

    def answer(self, logits, n_best_size, max_answer_length, threshold=None):
        """Returns a list of dict, an output's name -> value."""
        candidates = graph_answers.choose(
            self.windows,
            *logits,
            n_best_size=n_best_size,
            max_answer_length=max_answer_length,
        )
        size = len(_TEXTS)
        found = graph_answers.find_texts(
            candidates, self.spans, size, n_best_size
        )
        null = {}
        if threshold is not None:
            scores = graph_answers.null_scores(self.windows, *logits, size)
            null = {"null_scores": scores, "threshold": threshold}
        columns = graph_answers.best_answers(found, size, n_best_size, **null)
        rows = zip(*(column.numpy().tolist() for column in columns.values()))
        return [dict(zip(columns, row)) for row in rows]

    def write(self, folder, logits, n_best_size, max_answer_length, threshold):
        """Returns a list of what answers.json has."""
        writer = answers.AnswerWriter(
            str(folder),
            n_best_size=n_best_size,
            max_answer_length=max_answer_length,
            version_2_with_negative=threshold is not None,
        )
        with writer:
            writer.add(self.questions, *logits)
        writer.finish(threshold or 0.0, answer_offsets=True)
        written = (folder / answers.ANSWERS_FILE).read_text()
        return list(json.loads(written).values())


@pytest.fixture(scope="module")
def both(request):
    return _Both(request.path.parents[1] / "testdata" / "vocab.txt")


@pytest.mark.parametrize("has_ties", [True, False])
@pytest.mark.parametrize("threshold", [None, 0.0, -1.5])
@pytest.mark.parametrize(
    ("n_best_size", "max_answer_length"), [(20, 30), (3, 30), (9, 2), (1, 1)]
)
def test_answers_are_those_of_the_files(
    both, tmp_path, has_ties, threshold, n_best_size, max_answer_length
):
    for seed in range(4):
        flags = n_best_size, max_answer_length, threshold
        logits = both.logits(seed, has_ties)
        made = both.answer(logits, *flags)
        written = both.write(tmp_path, logits, *flags)
        for context, row, expected in zip(_TEXTS, made, written):
            text = row["answer"].decode()
            start, end = row["start_char"], row["end_char"]
            assert text == expected["text"]
            assert start == (expected["start"] or 0)
            if expected["start"] is not None:
                assert re.sub("[ \n]+", " ", context[start:end]) == text
            # As float32 gives numbers up to 1.
            for name in ("probability", "null_probability"):
                wanted = expected[name] or 0.0
                assert row[name] == pytest.approx(wanted, abs=1e-6)


def _peaks(both, question, starts, ends):
    """Logits of -9, but for what is given: position -> height."""
    logits = np.full([2, len(both.windows.questions), _LENGTH], -9, np.float32)
    row = both.windows.questions.numpy().tolist().index(question)
    for plane, heights in zip(logits, (starts, ends)):
        for position, height in heights.items():
            plane[row, position] = height
    return logits


def test_best_answers_without_a_candidate(both):
    """Nothing but the question among the best: 2018 says "empty"."""
    logits = _peaks(both, 5, {1: 5}, {1: 5})
    found = both.answer(logits, 1, 30)[5]
    assert found == {
        "answer": b"empty",
        "start_char": 0,
        "end_char": 0,
        "probability": 1.0,
        "null_probability": 0.0,
    }


def test_best_answers_of_a_context_without_a_word(both):
    logits = _peaks(both, 0, {}, {})
    place = {"start_char": 0, "end_char": 0, "probability": 1.0}
    first = both.answer(logits, 20, 30)[1]
    assert first == {**place, "answer": b"empty", "null_probability": 0.0}
    second = both.answer(logits, 20, 30, threshold=99.0)[1]
    assert second == {**place, "answer": b"", "null_probability": 1.0}


def test_best_answers_obey_the_threshold(both):
    """No answer scores 8 + 4, the best text, at position 3, 5 + 5."""
    logits = _peaks(both, 5, {0: 8, 3: 5}, {0: 4, 3: 5})
    assert both.answer(logits, 4, 30, threshold=2.0)[5]["answer"] == b"x"
    found = both.answer(logits, 4, 30, threshold=1.9)[5]
    assert found["answer"] == b""
    assert found["probability"] == found["null_probability"] > 0.8


def test_choose_sorts_stably():
    """Two spans score 3, two score 2: then the ranks decide."""
    cut = graph_windows.cut(
        tf.ragged.constant([[7]]),
        tf.ragged.constant([[21, 22, 23]]),
        special_ids=(2, 3),
        max_seq_length=7,
        max_query_length=1,
        doc_stride=2,
    )
    starts = np.float32([[0, 0, 0, 1, 1, 0, 0]])
    ends = np.float32([[0, 0, 0, 0, 1, 2, 0]])
    found = graph_answers.choose(
        cut, starts, ends, n_best_size=3, max_answer_length=9
    )
    # Starts in order: 3, 4, 0; ends: 5, 4, 0. The window begins at 3.
    spans = np.stack([found.first_pieces, found.last_pieces], axis=-1)
    assert spans.tolist() == [[0, 2], [1, 2], [0, 1], [1, 1]]
    scores = found.start_logits + found.end_logits
    assert scores.numpy().tolist() == [3.0, 3.0, 2.0, 2.0]
