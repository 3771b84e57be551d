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

# Words end at these only: a no-break space or U+3000 stands within a word.
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
        """Returns the word (int) with a character, or else the one before.

        It is -1 before the first word.
        """
        return bisect.bisect_right(self.word_starts, char) - 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class SquadExample:
    """A question, and for training its answer.

    `qas_id`, `question_text`: str. `context`: Context. `orig_answer_text`: str.
    `start_position`, `end_position`: int, the first and the last word of the
    answer; -1 where there is none. `is_impossible`: bool, whether the context
    has no answer. The last four are left at their defaults for prediction.

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

    Returns:
      list of articles: what stands under "data", checked as far as every
      question goes; answers are not looked at.

    Raises:
      UserError: unreadable, not JSON, or not in this layout; names the place.
    """
    held = json_files.parse(input_file, files.read_text(input_file))
    articles = _entry(held, "data", list, input_file)
    num_questions = 0
    for keys, paragraph in _paragraphs(articles, input_file):
        place = input_file, keys
        _entry(paragraph, "context", str, *place)
        for i, qa in enumerate(_entry(paragraph, "qas", list, *place)):
            for key in ("id", "question"):
                _entry(qa, key, str, input_file, f"{keys}.qas[{i}]")
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
      is_training: bool, whether answers are wanted: exactly one a question.
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
    for keys, paragraph in _paragraphs(articles, input_file):
        context = Context(paragraph["context"])
        for number, qa in enumerate(paragraph["qas"]):
            ids[qa["id"]] += 1
            example = SquadExample(
                qas_id=qa["id"], question_text=qa["question"], context=context
            )
            if is_training:
                place = input_file, f"{keys}.qas[{number}]"
                answer = _only_answer(qa, place, version_2_with_negative)
                found, reason = _answer_words(answer, context, place)
                if reason:
                    skipped.append(f"{example.qas_id}: {reason}")
                    continue
                example = dataclasses.replace(example, **found)
            examples.append(example)
    _report(input_file, examples, skipped, ids)
    return examples


def _paragraphs(articles, input_file):
    """Yields where each paragraph stands (str), and the paragraph."""
    for i, article in enumerate(articles):
        place = input_file, f"data[{i}]"
        paragraphs = _entry(article, "paragraphs", list, *place)
        for j, paragraph in enumerate(paragraphs):
            yield f"data[{i}].paragraphs[{j}]", paragraph


def _answer_words(answer, context, place):
    """Finds an answer (dict; None for none) among the words of its context.

    Returns what SquadExample has of it (dict), and why the question is of no
    use for training, or None.
    """
    if answer is None:
        nothing = {"orig_answer_text": "", "is_impossible": True}
        return {**nothing, "start_position": -1, "end_position": -1}, None
    input_file, keys = place
    place = input_file, f"{keys}.answers[0]"
    text = _entry(answer, "text", str, *place)
    start_char = _entry(answer, "answer_start", int, *place)
    last_char = start_char + len(text) - 1
    if not text.strip():
        return None, "its answer is empty"
    if start_char < 0 or last_char >= len(context.text):
        return None, (
            f"`answer_start` is {start_char} for an answer of {len(text)} "
            f"characters, but the context has {len(context.text)}"
        )
    start = context.word_at(start_char)
    end = context.word_at(last_char)
    # An answer may begin or end within a word; training is on whole words.
    words = " ".join(context.words[start : end + 1]) if start >= 0 else ""
    if " ".join(text.split()) not in words:
        return None, f"its answer {text!r} is not there, but {words!r}"
    found = {"start_position": start, "end_position": end}
    return {**found, "orig_answer_text": text}, None


def _only_answer(qa, place, version_2_with_negative):
    """Returns the one answer (dict) of a question to train on, or None."""
    where = ": ".join(place)
    if version_2_with_negative:
        if "is_impossible" not in qa:
            raise UserError(
                f"{where} (id {qa['id']}) has no `is_impossible`, which "
                "--version_2_with_negative needs to train. A file of version "
                "1.1 is trained on without that flag."
            )
        if _entry(qa, "is_impossible", bool, *place):
            return None
    answers = _entry(qa, "answers", list, *place)
    if len(answers) != 1:
        remedy = (
            "A file of version 2.0 needs --version_2_with_negative."
            if not answers and not version_2_with_negative
            else "Development files have several and are not for training."
        )
        raise UserError(
            f"{where} (id {qa['id']}) has {len(answers)} answers; to train, "
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


_KINDS = {
    list: "a list",
    str: "a text",
    int: "a whole number",
    bool: "true or false",
}


def _entry(held, key, kind, input_file, keys=""):
    """Returns held[key], of a type (kind).

    `keys`: str, where in the file `held` is, as in `data[3].paragraphs[0]`.
    """
    if not isinstance(held, dict):
        raise UserError(
            f"{input_file}: {keys or 'its outermost value'} must be an object "
            f"with `{key}`, but is {_spell(held)}. Is this a file in SQuAD's "
            "layout?"
        )
    place = f"{input_file}: {keys}.{key}" if keys else f"{input_file}: {key}"
    if key not in held:
        found = ", ".join(list(held)[:_LISTED]) or "nothing"
        raise UserError(
            f"{place} is missing; there is {found}. Is this a file in SQuAD's "
            "layout?"
        )
    value = held[key]
    if type(value) is not kind:
        raise UserError(
            f"{place} must be {_KINDS[kind]}, but is {_spell(value)}."
        )
    return value


def _spell(value):
    text = repr(value)
    return f"{type(value).__name__} {text[:40]}{'...' * (len(text) > 40)}"
