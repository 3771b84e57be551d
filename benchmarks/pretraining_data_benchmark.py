r"""Time and memory of create_pretraining_data, against a plain way to do it.

    python -m benchmarks.pretraining_data_benchmark \
        --input_file=tests/testdata/sample_text.txt \
        --vocab_file=tests/testdata/vocab.txt

Run it in the project's folder. It goes from text to TFRecords; imports are not
counted. `plain` does what 2018 did in the obvious way: pieces are str, each
instance is a list of them, the draws are calls of random.Random, and text is
tokenized character by character (PlainTokenizer of tokenization_benchmark.py).
Both write the same records, which is checked.

Each runs in a process of its own, in turn, --repeats times. Printed are the
medians of the seconds of processor time and of the peak memory above what the
imports take, and the ratios. Memory is read from /proc: Linux only.
"""

import dataclasses
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from absl import app, flags

from benchmarks.tokenization_benchmark import PlainTokenizer

FLAGS = flags.FLAGS

flags.DEFINE_string(
    "input_file", None, "Text, one sentence a line.", required=True
)
flags.DEFINE_string("vocab_file", None, "The vocabulary.", required=True)
flags.DEFINE_integer("dupe_factor", 10, "How often to go through the text.")
flags.DEFINE_integer("repeats", 3, "How often each way is run.")
flags.DEFINE_enum(
    "measure", None, ["plain", "ours"], "Used by this script on itself."
)
flags.DEFINE_string("output_file", None, "Used by this script on itself.")

_SEED = 12345


@dataclasses.dataclass
class PlainInstance:
    """One instance as strings."""

    pieces: list
    segment_ids: list
    positions: list
    labels: list
    is_random_next: bool


class PlainMaker:
    """The instances of a text, straightforwardly.

    Source: the contract is create_pretraining_data.py (2018) with its default
      flags; this is no copy of it.
    """

    def __init__(self, vocab_file, dupe_factor):
        from bert_tf.text import tokenization

        self.vocab = tokenization.load_vocab(vocab_file)
        self.tokenizer = PlainTokenizer(self.vocab)
        self.rng = random.Random(_SEED)
        self.dupe_factor = dupe_factor
        self.max_pieces = 125
        self.documents = []

    def run(self, input_file, output_file):
        """Goes from a text file to a TFRecord file; returns the number made."""
        self.read(input_file)
        self.rng.shuffle(self.documents)
        every_piece = list(self.vocab)
        made = []
        for _ in range(self.dupe_factor):
            for index in range(len(self.documents)):
                for pair in self.pairs(index):
                    made.append(self.mask(*pair, every_piece))
        self.rng.shuffle(made)
        self.write(made, output_file)
        return len(made)

    def read(self, input_file):
        """Collects the documents: lists of sentences of str."""
        documents = [[]]
        with open(input_file, encoding="utf-8", newline="\n") as stream:
            for line in stream:
                line = line.strip()
                if not line:
                    documents.append([])
                pieces = self.tokenizer.tokenize(line)
                if pieces:
                    documents[-1].append(pieces)
        self.documents = [document for document in documents if document]

    def pairs(self, index):
        """Yields (pieces of A, pieces of B, is_random_next) of a document."""
        document = self.documents[index]
        wanted = self.max_pieces
        if self.rng.random() < 0.1:
            wanted = self.rng.randint(2, self.max_pieces)
        first = 0
        while first < len(document):
            chunk = self.take(document, first, wanted)
            cut = 1 if len(chunk) == 1 else self.rng.randint(1, len(chunk) - 1)
            a = sum(chunk[:cut], [])
            is_random = len(chunk) == 1 or self.rng.random() < 0.5
            if is_random:
                b = sum(self.random_run(index, wanted - len(a)), [])
                first += cut
            else:
                b = sum(chunk[cut:], [])
                first += len(chunk)
            while len(a) + len(b) > self.max_pieces:
                longer = a if len(a) > len(b) else b
                longer.pop(0 if self.rng.random() < 0.5 else -1)
            yield a, b, is_random

    @staticmethod
    def take(sentences, first, wanted):
        """Returns sentences from `first` on that have `wanted` pieces."""
        taken = [sentences[first]]
        for sentence in sentences[first + 1 :]:
            if sum(map(len, taken)) >= wanted:
                break
            taken.append(sentence)
        return taken

    def random_run(self, index, wanted):
        """Returns sentences of a document that is, if it can be, another."""
        for _ in range(10):
            other = self.rng.randint(0, len(self.documents) - 1)
            if other != index:
                break
        sentences = self.documents[other]
        start = self.rng.randint(0, len(sentences) - 1)
        return self.take(sentences, start, wanted)

    def mask(self, a, b, is_random, every_piece):
        """Masks a pair; returns a PlainInstance."""
        pieces = ["[CLS]", *a, "[SEP]", *b, "[SEP]"]
        segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
        places = [
            place
            for place, piece in enumerate(pieces)
            if piece not in ("[CLS]", "[SEP]")
        ]
        self.rng.shuffle(places)
        masked = list(pieces)
        chosen = places[: min(20, max(1, round(len(pieces) * 0.15)))]
        for place in chosen:
            if self.rng.random() < 0.8:
                masked[place] = "[MASK]"
            elif self.rng.random() >= 0.5:
                drawn = self.rng.randint(0, len(every_piece) - 1)
                masked[place] = every_piece[drawn]
        positions = sorted(chosen)
        labels = [pieces[place] for place in positions]
        return PlainInstance(masked, segments, positions, labels, is_random)

    def write(self, made, output_file):
        """Writes the instances as TFRecords."""
        import tensorflow as tf

        with tf.io.TFRecordWriter(output_file) as writer:
            for instance in made:
                feature = {
                    name: self.feature(tf, name, values)
                    for name, values in self.padded(instance).items()
                }
                features = tf.train.Features(feature=feature)
                example = tf.train.Example(features=features)
                writer.write(example.SerializeToString())

    @staticmethod
    def feature(tf, name, values):
        """Returns the tf.train.Feature of some numbers."""
        if name == "masked_lm_weights":
            floats = tf.train.FloatList(value=values)
            return tf.train.Feature(float_list=floats)
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    def padded(self, instance):
        """Returns a dict of lists, padded to 128 and 20."""
        ids = [self.vocab[piece] for piece in instance.pieces]
        label_ids = [self.vocab[piece] for piece in instance.labels]
        seq_rest = [0] * (128 - len(ids))
        masked_rest = [0] * (20 - len(label_ids))
        return {
            "input_ids": ids + seq_rest,
            "input_mask": [1] * len(ids) + seq_rest,
            "segment_ids": instance.segment_ids + seq_rest,
            "masked_lm_positions": instance.positions + masked_rest,
            "masked_lm_ids": label_ids + masked_rest,
            "masked_lm_weights": [1.0] * len(label_ids) + masked_rest,
            "next_sentence_labels": [int(instance.is_random_next)],
        }


def run_plain():
    """Does the work the plain way; returns the number of instances."""
    maker = PlainMaker(FLAGS.vocab_file, FLAGS.dupe_factor)
    return maker.run(FLAGS.input_file, FLAGS.output_file)


def run_ours():
    """Does the work as create_pretraining_data.py does it."""
    from bert_tf.data import documents, masking, pretraining_data
    from bert_tf.text import tokenization

    tokenizer = tokenization.FullTokenizer(FLAGS.vocab_file)
    made = pretraining_data.create_instances(
        documents.read_documents([FLAGS.input_file], tokenizer),
        masking.PieceIds.from_vocab(tokenizer.vocab, FLAGS.vocab_file),
        pretraining_data.InstanceOptions(dupe_factor=FLAGS.dupe_factor),
        random.Random(_SEED),
    )
    return sum(pretraining_data.write_instances(made, [FLAGS.output_file]))


def measure(run):
    """Runs it in this process and prints a line of JSON."""
    # Their time and memory are not counted, so they come first.
    import bert_tf.data.pretraining_data  # noqa: F401

    megabyte = 1e6
    with open("/proc/self/statm", encoding="ascii") as statm:
        resident = int(statm.read().split()[1]) * resource.getpagesize()
    start = time.process_time()
    count = run()
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        json.dumps(
            {
                "instances": count,
                "seconds": seconds,
                "megabytes": (peak - resident) / megabyte,
            }
        )
    )


def measure_in_process(way, output_file):
    """Returns what `measure` prints in a process of its own, as a dict."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.pretraining_data_benchmark",
        f"--input_file={FLAGS.input_file}",
        f"--vocab_file={FLAGS.vocab_file}",
        f"--dupe_factor={FLAGS.dupe_factor}",
        f"--measure={way}",
        f"--output_file={output_file}",
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def require_same_records(file_a, file_b):
    """Stops unless both files hold equal records in the same order."""
    import tensorflow as tf

    files = (tf.data.TFRecordDataset(file_a), tf.data.TFRecordDataset(file_b))
    for number, pair in enumerate(tf.data.Dataset.zip(files)):
        ours, plain = (
            tf.train.Example.FromString(record.numpy()) for record in pair
        )
        if ours != plain:
            raise SystemExit(f"Record {number} differs.")


def main(argv):
    """Measures both ways and prints the comparison."""
    del argv
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if FLAGS.measure:
        measure({"plain": run_plain, "ours": run_ours}[FLAGS.measure])
        return
    runs = {"plain": [], "ours": []}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(FLAGS.repeats):
            for way, results in runs.items():
                output_file = os.path.join(folder, f"{way}.tfrecord")
                results.append(measure_in_process(way, output_file))
        require_same_records(
            *(os.path.join(folder, f"{way}.tfrecord") for way in runs)
        )
    text_megabytes = os.path.getsize(FLAGS.input_file) / 1e6
    medians = {}
    for way, results in runs.items():
        seconds = statistics.median(run["seconds"] for run in results)
        memory = statistics.median(run["megabytes"] for run in results)
        medians[way] = (seconds, memory)
        print(
            f"{way:5}: {results[0]['instances']:,} instances in "
            f"{seconds:.2f} s with {memory:.1f} MB; for each MB of text "
            f"{seconds / text_megabytes:.2f} s, "
            f"{memory / text_megabytes:.1f} MB"
        )
    ratios = [plain / ours for plain, ours in zip(*medians.values())]
    print(f"ours is {ratios[0]:.1f} x as fast, in 1/{ratios[1]:.1f} the memory")


if __name__ == "__main__":
    app.run(main)
