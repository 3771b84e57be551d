r"""Times a classifier's export: one text, and many.

    python -m benchmarks.predictor --model=out/export --input_file=text.txt

Run it in the project's folder. The ways take turns; printed are medians.

  bare call   `serving_default` on one text that is packed already
  predictor   `Predictor.predict` on the text
  from text   `serving_text` on it: the tokenizer in the graph

Then all lines of the file, 2,000 say, through the predictor, and in batches of
the same size in which every text is padded to the longest of all.
"""

import statistics
import time

from absl import flags

from bert_tf.cli import common_flags
from bert_tf.storage import files

FLAGS = flags.FLAGS

flags.DEFINE_string("model", None, "An export's folder.", required=True)
flags.DEFINE_string("input_file", None, "Texts, one a line.", required=True)
flags.DEFINE_integer("num_calls", 50, "Calls with one text, of each way.")
flags.DEFINE_integer("num_runs", 3, "Runs through all texts, of each way.")


def time_in_turn(ways, num_runs):
    """Returns dict, name -> median seconds of a call of `ways[name]`."""
    seconds = {name: [] for name in ways}
    for run in ways.values():
        run()
    for _ in range(num_runs):
        for name, run in ways.items():
            began = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - began)
    return {name: statistics.median(values) for name, values in seconds.items()}


def one_text(predictor, text):
    """Returns the ways to predict for one text."""
    from bert_tf.data.batching import padded

    run = predictor.signature("serving_default")
    inputs = padded([predictor.pack(text)])
    inputs = dict(
        zip(predictor.description["input_names"], inputs, strict=True)
    )
    from_text = predictor.signature("serving_text")
    given = {"text": [text]}
    if predictor.description["is_pair"]:
        given = {"text_a": [text], "text_b": [""]}
    return {
        "bare call": lambda: run(**inputs),
        "predictor": lambda: predictor.predict([text]),
        "from text": lambda: from_text(**given),
    }


def many_texts(predictor, texts):
    """Returns the ways to predict for many texts."""
    from bert_tf.data.batching import BATCH_SIZE, padded

    run = predictor.signature("serving_default")

    def padded_to_the_longest():
        packed = [predictor.pack(text) for text in texts]
        length = max(len(ids) for ids, _ in packed)
        for start in range(0, len(packed), BATCH_SIZE):
            inputs = padded(packed[start : start + BATCH_SIZE], length)
            run(
                **dict(
                    zip(
                        predictor.description["input_names"],
                        inputs,
                        strict=True,
                    )
                )
            )

    return {
        "predictor": lambda: predictor.predict(texts),
        "all padded": padded_to_the_longest,
    }


def report(seconds, unit, factor):
    """Prints a line each, with the ratio to the first."""
    first = next(iter(seconds.values()))
    for name, value in seconds.items():
        ratio = value / first
        print(f"{name:12}{factor(value):10.2f} {unit:10}{ratio:6.2f}x")


def main():
    from bert_tf import Predictor

    texts = [t for t in files.read_text(FLAGS.input_file).split("\n") if t]
    predictor = Predictor.from_export(FLAGS.model)
    lengths = [len(predictor.pack(text)[0]) for text in texts]
    shortest = texts[lengths.index(sorted(lengths)[len(texts) // 10])]
    print(f"one text of {len(predictor.pack(shortest)[0])} pieces")
    ways = one_text(predictor, shortest)
    seconds = time_in_turn(ways, FLAGS.num_calls)
    report(seconds, "ms", lambda s: 1000 * s)
    print(
        f"{len(texts)} texts of {statistics.median(lengths):g} pieces (median) "
        f"to {max(lengths)}"
    )
    seconds = time_in_turn(many_texts(predictor, texts), FLAGS.num_runs)
    report(seconds, "texts/s", lambda s: len(texts) / s)


if __name__ == "__main__":
    common_flags.run(main)
