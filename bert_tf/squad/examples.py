"""A file in SQuAD's layout to questions, each with its context.

The layout, version 1.1 and 2.0:

    {"data": [{"paragraphs": [
        {"context": str, "qas": [
            {"id": str, "question": str, "is_impossible": bool,
             "answers": [{"text": str, "answer_start": int}]}]}]}]}
"""

import bisect
import collections
import dataclasses
import functools
import logging
import re

from bert_tf.errors import UserError
from bert_tf.storage import files, json_files

_logger = logging.getLogger("absl")

# Nothing else ends a word: a no-break space or U+3000 stands within one.
_WORD = re.compile("[^ \t\r\n\u202f]+")

_LISTED = 5


@dataclasses.dataclass(frozen=True)
class Context:
    """A paragraph, split into words once for all of its questions.

    `text`: str, as in the file.
    """

    text: str

    @functools.cached_property
    def _spans(self):
        return [match.span() for match in _WORD.finditer(self.text)]

    @functools.cached_property
    def words(self):
        """list of str, what stands between blank, tab, CR, LF and U+202F."""
        return [self.text[start:end] for start, end in self._spans]

    @functools.cached_property
    def word_starts(self):
        """list of int, the character of `text` at which each word begins."""
        return [start for start, _ in self._spans]

    def word_at(self, char):
        """Returns the word (int) with a character, or else the one before it.

        Before the first word it is -1.
        """
        return bisect.bisect_right(self.word_starts, char) - 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class SquadExample:
    """A question, and for training its answer.

    `qas_id`, `question_text`: str. `context`: Context. `orig_answer_text`: str.
    `start_position`, `end_position`: int, the first and the last word of the
    answer; -1 where there is none. `is_impossible`: bool, whether the context
    has no answer. The last four are None, or false, where nobody asks.

    Source: `SquadExample` in run_squad.py (2018).
    """

    qas_id: str
    question_text: str
    context: Context
    orig_answer_text: str | None = None
    start_position: int | None = None
    end_position: int | None = None
    is_impossible: bool = False

    @property
    def doc_tokens(self):
        """list of str, the context's words, under their 2018 name."""
        return self.context.words


def read_dataset(input_file):
    """Reads a file in SQuAD's layout.

    Args:
      input_file: str.

    Returns:
      list of articles: what stands under "data", checked as far as every
      question goes; answers are not looked at.

    Raises:
      UserError: unreadable, not JSON, or not in this layout; names the place.
    """
    held = json_files.parse(input_file, files.read_text(input_file))
    root = _Place(input_file, "")
    articles = root.entry(held, "data", list)
    num_questions = 0
    for i, article in enumerate(articles):
        place = root.under("data").at(i)
        paragraphs = place.entry(article, "paragraphs", list)
        for j, paragraph in enumerate(paragraphs):
            inner = place.under("paragraphs").at(j)
            inner.entry(paragraph, "context", str)
            for k, qa in enumerate(inner.entry(paragraph, "qas", list)):
                question = inner.under("qas").at(k)
                question.entry(qa, "id", str)
                question.entry(qa, "question", str)
                num_questions += 1
    if not num_questions:
        raise UserError(f"{input_file} holds no question.")
    return articles


def read_squad_examples(
    input_file, is_training, *, version_2_with_negative=False
):
    """Reads a file's questions; see `read_dataset` and `make_examples`."""
    return make_examples(
        read_dataset(input_file),
        input_file,
        is_training=is_training,
        version_2_with_negative=version_2_with_negative,
    )


def make_examples(
    articles, input_file, *, is_training, version_2_with_negative=False
):
    """Makes the questions of a file.

    Args:
      articles: list, from `read_dataset`.
      input_file: str, where they are from.
      is_training: bool, whether answers are wanted: exactly one a question, as
        training files have it.
      version_2_with_negative: bool, whether a question may have none.

    Returns:
      list of SquadExample, in the file's order. A question whose answer is not
      where the file says is left out, with a warning that names it.

    Raises:
      UserError: for training, several answers or none, or `is_impossible`
        missing in version 2.

    Source: `read_squad_examples` in run_squad.py (2018), which failed without
      an id, or took another place, where an answer lay outside of its context.
    """
    examples, skipped, ids = [], [], collections.Counter()
    for keys, paragraph in _paragraphs(articles):
        context = Context(paragraph["context"])
        for number, qa in enumerate(paragraph["qas"]):
            ids[qa["id"]] += 1
            example = SquadExample(
                qas_id=qa["id"], question_text=qa["question"], context=context
            )
            if is_training:
                place = _Place(input_file, f"{keys}.qas[{number}]")
                example, reason = _with_answer(
                    example, qa, place, version_2_with_negative
                )
                if reason:
                    skipped.append(f"{example.qas_id}: {reason}")
                    continue
            examples.append(example)
    _report(input_file, examples, skipped, ids)
    return examples


def _paragraphs(articles):
    """Yields where each paragraph stands (str), and the paragraph."""
    for i, article in enumerate(articles):
        for j, paragraph in enumerate(article["paragraphs"]):
            yield f"data[{i}].paragraphs[{j}]", paragraph


def _with_answer(example, qa, place, version_2_with_negative):
    """Returns the example with its answer; and why it is no use, or None."""
    answer = _only_answer(qa, place, version_2_with_negative)
    if answer is None:
        return (
            dataclasses.replace(
                example,
                orig_answer_text="",
                start_position=-1,
                end_position=-1,
                is_impossible=True,
            ),
            None,
        )
    place = place.under("answers").at(0)
    text = place.entry(answer, "text", str)
    start_char = place.entry(answer, "answer_start", int)
    context = example.context
    last_char = start_char + len(text) - 1
    if not text.strip():
        return example, "its answer is empty"
    if start_char < 0 or last_char >= len(context.text):
        return example, (
            f"`answer_start` is {start_char} for an answer of {len(text)} "
            f"characters, but the context has {len(context.text)}"
        )
    start = context.word_at(start_char)
    end = context.word_at(last_char)
    # Answers may begin or end within a word; words are what is learned.
    found = " ".join(context.words[start : end + 1]) if start >= 0 else ""
    if " ".join(text.split()) not in found:
        return example, f"its answer {text!r} is not there, but {found!r}"
    return (
        dataclasses.replace(
            example,
            orig_answer_text=text,
            start_position=start,
            end_position=end,
        ),
        None,
    )


def _only_answer(qa, place, version_2_with_negative):
    """Returns the one answer (dict) of a question to train on, or None."""
    if version_2_with_negative:
        if "is_impossible" not in qa:
            raise UserError(
                f"{place} (id {qa['id']}) has no `is_impossible`, which "
                "--version_2_with_negative needs to train. A file of version "
                "1.1 is trained on without that flag."
            )
        if place.entry(qa, "is_impossible", bool):
            return None
    answers = place.entry(qa, "answers", list)
    if len(answers) != 1:
        remedy = (
            "A file of version 2.0 needs --version_2_with_negative."
            if not answers and not version_2_with_negative
            else "Development files have several and are not for training."
        )
        raise UserError(
            f"{place} (id {qa['id']}) has {len(answers)} answers; to train, "
            f"each question has exactly 1. {remedy}"
        )
    return answers[0]


def _report(input_file, examples, skipped, ids):
    if skipped:
        _logger.warning(
            "%s: %d of %d questions are left out of training:\n  %s",
            input_file,
            len(skipped),
            len(skipped) + len(examples),
            "\n  ".join(skipped),
        )
    if not examples:
        raise UserError(f"{input_file} holds no question that can be used.")
    twice = [qas_id for qas_id, count in ids.items() if count > 1]
    if twice:
        _logger.warning(
            "%s: %d ids stand at several questions (%s%s); predictions have "
            "one entry an id, that of the last question.",
            input_file,
            len(twice),
            ", ".join(twice[:_LISTED]),
            ", ..." if len(twice) > _LISTED else "",
        )


@dataclasses.dataclass(frozen=True)
class _Place:
    """Where in a file something stands, as in `data[3].paragraphs[0]`."""

    path: str
    keys: str

    def under(self, key):
        return _Place(self.path, f"{self.keys}.{key}" if self.keys else key)

    def at(self, index):
        return _Place(self.path, f"{self.keys}[{index}]")

    def entry(self, held, key, kind):
        """Returns held[key], which must be of a type (kind)."""
        if not isinstance(held, dict):
            where = self.keys or "its outermost value"
            raise UserError(
                f"{self.path}: {where} must be an object with `{key}`, but is "
                f"{_spell(held)}. Is this a file in SQuAD's layout?"
            )
        if key not in held:
            found = ", ".join(list(held)[:_LISTED]) or "nothing"
            raise UserError(
                f"{self.path}: {self.under(key).keys} is missing; there is "
                f"{found}. Is this a file in SQuAD's layout?"
            )
        value = held[key]
        if type(value) is not kind:
            raise UserError(
                f"{self.path}: {self.under(key).keys} must be "
                f"{_KINDS[kind]}, but is {_spell(value)}."
            )
        return value

    def __str__(self):
        return f"{self.path}: {self.keys}"


_KINDS = {
    list: "a list",
    str: "a text",
    int: "a whole number",
    bool: "true or false",
}


def _spell(value):
    text = repr(value)
    return f"{type(value).__name__} {text[:40]}{'...' * (len(text) > 40)}"
