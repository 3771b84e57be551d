"""Seconds to turn logits into files of answers: AnswerWriter and a plain way.

    python -m benchmarks.squad_answers --vocab_file=vocab.txt \
        --predict_file=dev-v1.1.json [--runs=3] [--version_2_with_negative]

Run it in the project's folder. Questions and contexts are those of the file;
the logits are made up: noise, and a peak somewhere in the context of each
window. Cutting the contexts up is not timed; writing the files is. Printed are
the medians of processor time and the ratio. It stops if one byte differs.

  plain   `plain_answers` below: question by question, pair by pair, the amount
          of work that the 2018 code does
  writer  bert_tf.squad.answers.AnswerWriter, 256 questions at a time
"""

import argparse
import collections
import json
import math
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np

from bert_tf.squad import answers, converter, examples
from bert_tf.squad.final_text import get_final_text

BATCH_SIZE = 256


def plain_answers(
    questions,
    start_logits,
    end_logits,
    *,
    n_best_size=20,
    max_answer_length=30,
    do_lower_case=True,
    version_2_with_negative=False,
    null_score_diff_threshold=0.0,
):
    """Does what AnswerWriter does in the plainest way: the yardstick.

    Returns:
      list of three dicts, the contents of predictions.json,
      nbest_predictions.json and null_odds.json.
    """
    predictions, lists, odds = {}, {}, {}
    begin = 0
    for question in questions:
        rows = slice(begin, begin + len(question.windows))
        begin = rows.stop
        starts = [list(map(float, row)) for row in start_logits[rows]]
        ends = [list(map(float, row)) for row in end_logits[rows]]
        null = None
        if version_2_with_negative:
            pairs = [(s[0], e[0]) for s, e in zip(starts, ends)]
            null = min(pairs, key=sum, default=(0.0, 0.0))
        spans = _plain_spans(question, starts, ends, n_best_size)
        spans = [
            span for span in spans if span[1] - span[0] < max_answer_length
        ]
        if null and question.windows:
            spans.append((None, None, *null))
        spans.sort(key=lambda span: span[2] + span[3], reverse=True)
        best = _plain_texts(question, spans, n_best_size, do_lower_case)
        if null and "" not in [text for text, _, _ in best]:
            best.append(("", *null))
        best = best or [("empty", 0.0, 0.0)]
        lists[question.qas_id] = _with_probabilities(best)
        first = next((entry for entry in best if entry[0]), best[0])
        text = first[0]
        if version_2_with_negative:
            difference = null[0] + null[1] - first[1] - first[2]
            odds[question.qas_id] = difference
            text = "" if difference > null_score_diff_threshold else text
        predictions[question.qas_id] = text
    return [predictions, lists, odds]


def _plain_spans(question, starts, ends, n_best_size):
    """Lists (first piece, last piece, start logit, end logit)."""
    spans = []
    for window, start_row, end_row in zip(question.windows, starts, ends):
        for start in _plain_best(start_row, n_best_size):
            for end in _plain_best(end_row, n_best_size):
                first, last = start - window.offset, end - window.offset
                inside = 0 <= first <= last < window.length
                if inside and window.is_max_context[first]:
                    first, last = first + window.start, last + window.start
                    logits = start_row[start], end_row[end]
                    spans.append((first, last, *logits))
    return spans


def _plain_best(row, n_best_size):
    order = sorted(range(len(row)), key=lambda i: row[i], reverse=True)
    return order[:n_best_size]


def _plain_texts(question, spans, n_best_size, do_lower_case):
    """Lists (text, start logit, end logit), each text once."""
    tokenized = question.tokenized
    words, piece_to_word = tokenized.context.words, tokenized.piece_to_word
    found = collections.OrderedDict()
    for first, last, start_logit, end_logit in spans:
        if len(found) == n_best_size:
            break
        text = ""
        if first is not None:
            text = " ".join(tokenized.pieces[first : last + 1])
            text = text.replace(" ##", "").replace("##", "")
            covered = words[piece_to_word[first] : piece_to_word[last] + 1]
            text = get_final_text(text, " ".join(covered), do_lower_case)
        found.setdefault(text, (start_logit, end_logit))
    return [(text, *logits) for text, logits in found.items()]


def _with_probabilities(best):
    greatest = max(start + end for _, start, end in best)
    powers = [math.exp(start + end - greatest) for _, start, end in best]
    return [
        {
            "text": text,
            "probability": power / sum(powers),
            "start_logit": start,
            "end_logit": end,
        }
        for (text, start, end), power in zip(best, powers)
    ]


def _make_up_logits(questions, length):
    """Returns start and end logits, float32 [W, S] both."""
    generator = np.random.default_rng(12345)
    windows = [window for question in questions for window in question.windows]
    shape = len(windows), length
    start_logits = generator.normal(-4, 2, shape).astype(np.float32)
    end_logits = generator.normal(-4, 2, shape).astype(np.float32)
    for row, window in enumerate(windows):
        place = window.offset + int(generator.integers(window.length))
        start_logits[row, place : place + 4] += 8
        end_logits[row, place : place + 8] += 8
    return start_logits, end_logits


def _write_plainly(folder, questions, logits, version_2_with_negative):
    contents = plain_answers(
        questions, *logits, version_2_with_negative=version_2_with_negative
    )
    names = [answers.PREDICTIONS_FILE, answers.NBEST_FILE]
    if version_2_with_negative:
        names.append(answers.NULL_ODDS_FILE)
    for name, content in zip(names, contents):
        text = json.dumps(content, indent=4) + "\n"
        (folder / name).write_text(text)


def _write_fast(folder, questions, logits, version_2_with_negative):
    writer = answers.AnswerWriter(
        str(folder), version_2_with_negative=version_2_with_negative
    )
    row = 0
    with writer:
        for begin in range(0, len(questions), BATCH_SIZE):
            batch = questions[begin : begin + BATCH_SIZE]
            rows = slice(row, row + sum(len(q.windows) for q in batch))
            row = rows.stop
            writer.add(batch, *(values[rows] for values in logits))
    writer.finish()


def _seconds(write, folder, *arguments):
    """Returns the seconds that writing takes, and the files' bytes."""
    folder.mkdir()
    begin = time.process_time()
    write(folder, *arguments)
    seconds = time.process_time() - begin
    return seconds, {path.name: path.read_bytes() for path in folder.iterdir()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vocab_file", required=True)
    parser.add_argument("--predict_file", required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--version_2_with_negative", action="store_true")
    args = parser.parse_args()
    conversion = converter.Conversion(
        vocab_file=args.vocab_file, do_lower_case=True
    )
    found = examples.read_squad_examples(args.predict_file, is_training=False)
    questions = list(conversion.new_converter().questions(found))
    logits = _make_up_logits(questions, conversion.max_seq_length)
    rest = questions, logits, args.version_2_with_negative
    plain, fast = [], []
    for _ in range(args.runs):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            seconds, wanted = _seconds(_write_plainly, folder / "plain", *rest)
            plain.append(seconds)
            seconds, got = _seconds(_write_fast, folder / "fast", *rest)
            fast.append(seconds)
        if got != wanted:
            sys.exit("The files differ.")
    print(f"{len(questions)} questions, {len(logits[0])} windows, medians")
    yardstick = statistics.median(plain)
    for name, times in (("plain", plain), ("writer", fast)):
        median = statistics.median(times)
        print(f"{name:8}{median:8.2f} s{yardstick / median:8.1f}x")


if __name__ == "__main__":
    main()
