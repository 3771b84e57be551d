"""Seconds to make records of questions: Converter and a plain way.

    python -m benchmarks.squad_records --vocab_file=vocab.txt \
        --predict_file=dev-v1.1.json [--runs=3]

Run it in the project's folder. Reading the JSON file is in neither; writing
the TFRecord file is in both. Printed are the medians of processor time and the
ratio. It stops if two records differ.

  plain      `plain_records` below: every context is cut up anew for each
             question, word by word, and each piece looks at all windows, the
             amount of work that the 2018 code does
  converter  bert_tf.squad.converter.Converter
"""

import argparse
import statistics
import sys
import tempfile
import time

import tensorflow as tf

from bert_tf.features import parse_spec, squad_features
from bert_tf.squad import converter, examples
from bert_tf.text.tokenization import BasicTokenizer, WordpieceTokenizer
from bert_tf.text.vocabulary import load_vocab


def plain_records(found, conversion):
    """Does what Converter does in the plainest way: the yardstick.

    Yields:
      list of bytes for each example.
    """
    vocab = load_vocab(conversion.vocab_file)
    basic = BasicTokenizer(conversion.do_lower_case)
    word_pieces = WordpieceTokenizer(vocab)

    def tokenize(text):
        return [
            piece
            for word in basic.tokenize(text)
            for piece in word_pieces.tokenize(word)
        ]

    unique_id = converter.FIRST_UNIQUE_ID
    for example in found:
        question = tokenize(example.question_text)
        question = question[: conversion.max_query_length]
        pieces = [p for word in example.doc_tokens for p in tokenize(word)]
        records = []
        room = conversion.max_seq_length - len(question) - 3
        spans = _plain_spans(len(pieces), room, conversion.doc_stride)
        for index, (start, length) in enumerate(spans):
            # Of use to answers only, but 2018 did it here as well.
            for piece in range(start, start + length):
                _plain_is_best(spans, index, piece)
            window = pieces[start : start + length]
            tokens = ["[CLS]", *question, "[SEP]", *window, "[SEP]"]
            records.append(
                _plain_record(
                    [vocab[token] for token in tokens],
                    len(question) + 2,
                    unique_id,
                    conversion.max_seq_length,
                )
            )
            unique_id += 1
        yield records


def _plain_spans(num_pieces, room, doc_stride):
    spans, start = [], 0
    while start < num_pieces:
        spans.append((start, min(room, num_pieces - start)))
        if sum(spans[-1]) == num_pieces:
            break
        start += min(room, doc_stride)
    return spans


def _plain_is_best(spans, index, piece):
    def score(number):
        start, length = spans[number]
        if not start <= piece < start + length:
            return float("-inf")
        right = start + length - 1 - piece
        return min(piece - start, right) + 0.01 * length

    return max(range(len(spans)), key=score) == index


def _plain_record(ids, num_first, unique_id, length):
    padding = [0] * (length - len(ids))
    values = {
        "unique_ids": [unique_id],
        "input_ids": ids + padding,
        "input_mask": [1] * len(ids) + padding,
        "segment_ids": [0] * num_first + [1] * (len(ids) - num_first) + padding,
    }
    features = {
        name: tf.train.Feature(int64_list=tf.train.Int64List(value=value))
        for name, value in values.items()
    }
    return tf.train.Example(
        features=tf.train.Features(feature=features)
    ).SerializeToString()


def _seconds(make, found, path):
    begin = time.process_time()
    converter.write_records(path, make(found))
    return time.process_time() - begin


def _require_same(paths, max_seq_length):
    """Ends the program if records differ, whatever the order of entries."""
    features = squad_features(max_seq_length, is_training=False)
    spec = parse_spec(features)
    datasets = (tf.data.TFRecordDataset(path).batch(512) for path in paths)
    for pair in zip(*datasets, strict=True):
        one, other = (tf.io.parse_example(batch, spec) for batch in pair)
        if not all(tf.reduce_all(one[name] == other[name]) for name in one):
            sys.exit("The records differ.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vocab_file", required=True)
    parser.add_argument("--predict_file", required=True)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    conversion = converter.Conversion(
        vocab_file=args.vocab_file, do_lower_case=True
    )
    ways = {
        "plain": lambda found: plain_records(found, conversion),
        "converter": lambda found: (
            conversion.new_converter().prediction_records(found)
        ),
    }
    times = {name: [] for name in ways}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(args.runs):
            for name, make in ways.items():
                # Anew: a context remembers the words it was split into.
                found = examples.read_squad_examples(
                    args.predict_file, is_training=False
                )
                times[name].append(_seconds(make, found, f"{folder}/{name}"))
        _require_same(
            [f"{folder}/{name}" for name in ways], conversion.max_seq_length
        )
    print(f"{len(found)} questions, medians")
    yardstick = statistics.median(times["plain"])
    for name, seconds in times.items():
        median = statistics.median(seconds)
        print(f"{name:10}{median:8.2f} s{yardstick / median:8.1f}x")


if __name__ == "__main__":
    main()
