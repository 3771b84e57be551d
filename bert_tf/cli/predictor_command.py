"""`python -m bert_tf.predictor`: lines in, lines of JSON out."""

import json
import sys

from absl import flags

from bert_tf.cli import common_flags
from bert_tf.errors import UserError

# --help lists these flags as those of bert_tf.predictor, which is what runs.
flags.disclaim_key_flags()

# Lines are read in blocks of at most this; those of a block are answered
# together.
_BYTES_AT_A_TIME = 1 << 16

_FIELDS = {
    "question_answering": ("question", "context"),
    "masked_lm": ("text",),
    "encoder": ("text",),
}


def run():
    """Defines the flags, and runs as a script does."""
    # --help heads the flags with this, in place of a long path.
    sys.argv[0] = "bert_tf.predictor"
    model = flags.DEFINE_string(
        "model", None, "The --export_dir of an export, or a folder in it."
    )
    input_format = flags.DEFINE_enum(
        "input_format",
        "text",
        ["text", "json"],
        "text: a line is a text, or two with a tab between: a pair, or a "
        "question and its context. json: a line is an object with text, or "
        "text_a and text_b, or question and context.",
    )
    pooling = flags.DEFINE_enum(
        "pooling",
        "mean",
        ["mean", "cls"],
        "Of an encoder: the mean over a text's pieces, or the vector of [CLS].",
    )
    flags.mark_flags_as_required(["model"])

    def main():
        from bert_tf.serving.predictor import Predictor

        num_wrong = answer_lines(
            Predictor.from_export(model.value),
            sys.stdin.buffer,
            sys.stdout,
            is_json=input_format.value == "json",
            pooling=pooling.value,
        )
        if num_wrong:
            raise UserError(
                f"{num_wrong} line(s) could not be answered: see `error` in "
                "the output."
            )

    common_flags.run(main)


def answer_lines(predictor, lines, out, *, is_json, pooling="mean"):
    """Answers each line by one; returns how many the predictor does not take.

    As many as wait are answered together; one that comes alone is answered at
    once. A line that is not taken is answered by an object with `error`.

    Args:
      predictor: predictor.Predictor.
      lines: io.BufferedReader of UTF-8; other bytes are left out.
      out: text file.
      is_json: bool, whether a line is a JSON object.
      pooling: str, see `Predictor.embed`.
    """
    names, least = _fields_of(predictor)
    num_wrong = 0
    for first, chunk in _chunks(lines):
        rows, answers = {}, {}
        for number, line in enumerate(chunk, first):
            try:
                rows[number] = _fields(line, number, names, least, is_json)
            except UserError as error:
                answers[number] = {"error": str(error)}
        num_wrong += len(answers)
        if rows:
            found = _answer(predictor, list(rows.values()), pooling)
            answers.update(zip(rows, found, strict=True))
        for _, answer in sorted(answers.items()):
            out.write(json.dumps(answer, ensure_ascii=False) + "\n")
        out.flush()
    return num_wrong


def _fields_of(predictor):
    """Returns the names of a line's texts, and how many it must have."""
    if predictor.kind != "classifier":
        names = _FIELDS[predictor.kind]
        return names, len(names)
    is_pair = predictor.description["is_pair"]
    if is_pair is None:
        return ("text_a", "text_b"), 1
    names = ("text_a", "text_b") if is_pair else ("text",)
    return names, len(names)


def _chunks(stream):
    """Yields the number (from 1) of the first line, and a list of lines."""
    number, begun = 1, b""
    # read1 does not wait for a full block: it returns many lines of a file, but
    # one that was just typed at once.
    while block := stream.read1(_BYTES_AT_A_TIME):
        *lines, begun = (begun + block).split(b"\n")
        if lines:
            yield number, list(map(_decode, lines))
            number += len(lines)
    if begun:
        yield number, [_decode(begun)]


def _decode(line):
    return line.decode("utf-8", "ignore").removesuffix("\r")


def _fields(line, number, names, least, is_json):
    """Returns the texts (list of str) of a line."""
    if is_json:
        return _json_fields(line, number, names, least)
    fields = line.split("\t")
    if not least <= len(fields) <= len(names):
        raise UserError(
            f"line {number} has {len(fields)} column(s); it must be "
            f"{' and '.join(names)}, with a tab between."
        )
    return fields


def _json_fields(line, number, names, least):
    try:
        found = json.loads(line)
    except ValueError as error:
        raise UserError(f"line {number} is no JSON: {error}.") from None
    wanted = f"line {number} must be a JSON object with {' and '.join(names)}"
    if not isinstance(found, dict):
        raise UserError(f"{wanted}, not {found!r}.")
    fields = [found.get(name) for name in names]
    if least < len(fields) and fields[-1] is None:
        fields.pop()
    if not all(isinstance(field, str) for field in fields):
        raise UserError(f"{wanted}, each a string; it has {found!r}.")
    return fields


def _answer(predictor, rows, pooling):
    """Returns an answer, as JSON has it, for each row of texts."""
    if predictor.kind == "classifier":
        pairs = [row[0] if len(row) == 1 else tuple(row) for row in rows]
        return [found._asdict() for found in predictor.predict(pairs)]
    if predictor.kind == "question_answering":
        return [found._asdict() for found in predictor.answer(*zip(*rows))]
    texts = [row[0] for row in rows]
    if predictor.kind == "masked_lm":
        return [
            {"masks": [[filling._asdict() for filling in m] for m in masks]}
            for masks in predictor.fill_mask(texts)
        ]
    vectors = predictor.embed(texts, pooling=pooling)
    return [{"vector": vector.tolist()} for vector in vectors]
