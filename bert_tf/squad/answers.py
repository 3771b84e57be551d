"""Candidates to answers, and the files of them.

    predictions.json        id -> text
    nbest_predictions.json  id -> list of {text, probability, start_logit,
                            end_logit}, best first
    null_odds.json          id -> how much better no answer scores than the
                            best text; SQuAD 2.0 only
    answers.json            id -> {text, start, probability, null_probability},
                            on request

The list of n best is written question by question; of each only a text and a
few numbers stay in memory.
"""

import json
import math
import os
import typing

from bert_tf.squad import candidates, final_text, nbest_file
from bert_tf.storage import files

PREDICTIONS_FILE = "predictions.json"
NBEST_FILE = "nbest_predictions.json"
NULL_ODDS_FILE = "null_odds.json"
ANSWERS_FILE = "answers.json"

# What 2018 answers where no span can be an answer.
_NO_CANDIDATE = "empty"


class BestAnswer(typing.NamedTuple):
    """The best answer to a question.

    `text`: str, the best one that is not empty; empty where there is none.
    `start_char`: int, the character of Context.text where it begins; None for
    a text that is not from the context. `probability`: float, among the n best.
    `null_probability`: float, that of no answer. `null_odds`: float, the score
    of no answer less that of `text`. The last two are None for SQuAD 1.1.
    """

    text: str
    start_char: int | None
    probability: float
    null_probability: float | None
    null_odds: float | None


def n_best(chosen, context, n_best_size, null_logits):
    """Lists the best texts for one question, each once.

    `chosen`: iterable of what Candidates.of yields. `context`:
    final_text.ReadContext. `null_logits`: pair of float, those of no answer;
    None for SQuAD 1.1.

    Returns:
      list of (text, start_logit, end_logit, span_start): str, empty for no
      answer; float; float; int, where it begins in ReadContext.text, or None.
      They are 1 to n_best_size, or one more if no answer is not among the best;
      just "empty" with logits 0 if there is nothing else.

    Source: `write_predictions` in run_squad.py (2018).
    """
    seen, entries = set(), []
    find, context_text = context.span, context.text
    for first_piece, last_piece, start_logit, end_logit in chosen:
        if len(entries) >= n_best_size:
            break
        text, start = "", None
        if first_piece != candidates.NO_PIECE:
            start, end = find(first_piece, last_piece)
            text = context_text[start:end]
            if text in seen:
                continue
        seen.add(text)
        entries.append((text, start_logit, end_logit, start))
    if null_logits is not None and "" not in seen:
        entries.append(("", *null_logits, None))
    return entries or [(_NO_CANDIDATE, 0.0, 0.0, None)]


def softmax(scores):
    """Makes probabilities of scores, lists of float both, not empty.

    Source: `_compute_softmax` in run_squad.py (2018).
    """
    greatest = max(scores)
    powers = [math.exp(score - greatest) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def best_answer(entries, probabilities, context, null_logits):
    """Picks the BestAnswer from entries, see `n_best`, and their probabilities.

    Source: `write_predictions` in run_squad.py (2018), which crashed where no
      answer is the only entry; here its `null_odds` is then 0.
    """
    texts = [entry[0] for entry in entries]
    best = next((i for i, text in enumerate(texts) if text), 0)
    text, start_logit, end_logit, span_start = entries[best]
    null_probability = null_odds = start_char = None
    if null_logits is not None:
        null_probability = probabilities[texts.index("")]
        null_score = null_logits[0] + null_logits[1]
        null_odds = null_score - start_logit - end_logit
    if span_start is not None:
        start_char = context.context_char(span_start)
    probability = probabilities[best]
    return BestAnswer(
        text, start_char, probability, null_probability, null_odds
    )


class AnswerWriter:
    """Turns logits into answers and writes them.

        writer = AnswerWriter(folder, version_2_with_negative=True)
        with writer:
            for questions, start_logits, end_logits in batches:
                writer.add(questions, start_logits, end_logits)
        predictions, paths = writer.finish(threshold)

    Attribute: `answers`, dict, id -> BestAnswer. Of several questions with one
    id the last counts, at the place of the first. A file that cannot be written
    is a UserError.

    Source: `write_predictions` in run_squad.py (2018).
    """

    def __init__(
        self,
        folder,
        *,
        n_best_size=20,
        max_answer_length=30,
        do_lower_case=True,
        version_2_with_negative=False,
    ):
        """Stores its arguments; see `candidates.choose` for the numbers.

        `folder`: str, where the files go; it exists.
        """
        self.answers = {}
        self._folder = folder
        self._n_best_size = n_best_size
        self._max_answer_length = max_answer_length
        self._version_2_with_negative = version_2_with_negative
        self._reader = final_text.ContextReader(do_lower_case)
        self._last_read = None, None
        self._file = nbest_file.NBestFile(self._path(NBEST_FILE))

    def __enter__(self):
        self._file.__enter__()
        return self

    def __exit__(self, *exception):
        return self._file.__exit__(*exception)

    def _path(self, name):
        return os.path.join(self._folder, name)

    def add(self, questions, start_logits, end_logits):
        """Answers some questions.

        Args:
          questions: sequence of Q windows.Question, those of one context best
            one after the other.
          start_logits, end_logits: float32 [W, S], of the windows of all
            questions in order.

        Raises:
          UserError: a logit is not finite.
        """
        chosen = candidates.choose(
            questions,
            start_logits,
            end_logits,
            n_best_size=self._n_best_size,
            max_answer_length=self._max_answer_length,
            version_2_with_negative=self._version_2_with_negative,
        )
        blocks = []
        for index, question in enumerate(questions):
            context = self._read(question.tokenized)
            null_logits = chosen.null_logits and chosen.null_logits[index]
            entries = n_best(
                chosen.of(index), context, self._n_best_size, null_logits
            )
            probabilities = softmax([entry[1] + entry[2] for entry in entries])
            self.answers[question.qas_id] = best_answer(
                entries, probabilities, context, null_logits
            )
            text = nbest_file.spell(entries, probabilities)
            blocks.append((question.qas_id, text))
        self._file.write(blocks)

    def _read(self, tokenized):
        if self._last_read[0] is not tokenized:
            self._last_read = tokenized, self._reader.read(tokenized)
        return self._last_read[1]

    @property
    def best_texts(self):
        """dict, id -> str: the best text that is not empty, if there is one."""
        return {key: answer.text for key, answer in self.answers.items()}

    @property
    def null_odds(self):
        """dict, id -> float, see BestAnswer; None for SQuAD 1.1."""
        return {key: answer.null_odds for key, answer in self.answers.items()}

    def finish(self, null_score_diff_threshold=0.0, answer_offsets=False):
        """Writes the other files, once all questions are answered.

        Args:
          null_score_diff_threshold: float; with null odds above it there is no
            answer. Without a meaning for SQuAD 1.1.
          answer_offsets: bool, whether to write answers.json.

        Returns:
          pair: dict, id -> predicted text; list of str, the paths of all files.
        """
        decided = {
            key: _decide(answer, null_score_diff_threshold)
            for key, answer in self.answers.items()
        }
        predictions = {key: answer.text for key, answer in decided.items()}
        contents = {PREDICTIONS_FILE: predictions}
        if self._version_2_with_negative:
            contents[NULL_ODDS_FILE] = self.null_odds
        if answer_offsets:
            contents[ANSWERS_FILE] = {
                key: {
                    "text": answer.text,
                    "start": answer.start_char,
                    "probability": answer.probability,
                    "null_probability": answer.null_probability,
                }
                for key, answer in decided.items()
            }
        for name, content in contents.items():
            text = json.dumps(content, indent=4, allow_nan=False) + "\n"
            files.write_text(self._path(name), text)
        paths = [self._path(name) for name in (NBEST_FILE, *contents)]
        return predictions, paths


def _decide(answer, null_score_diff_threshold):
    """Returns the BestAnswer, or one with an empty text if that is better."""
    odds = answer.null_odds
    if odds is None or odds <= null_score_diff_threshold:
        return answer
    return answer._replace(
        text="", start_char=None, probability=answer.null_probability
    )
