r"""Times the tokenizer in a graph beside others, and counts where they differ.

    python -m benchmarks.text_tokenizer --vocab_file=vocab.txt \
        --input_file=text.txt

Run it in the project's folder. All run on one thread, on the lines of the file
in batches: ours in a graph; ours in Python, its memory of words empty at the
start; and tensorflow-text's FastBertTokenizer and BertTokenizer. The runs take
turns; the medians of their speeds are printed.
"""

import statistics
import time

from absl import flags

from bert_tf.cli import common_flags
from bert_tf.storage import files

FLAGS = flags.FLAGS

flags.DEFINE_string("vocab_file", None, "The vocabulary.", required=True)
flags.DEFINE_string("input_file", None, "Text, by lines.", required=True)
flags.DEFINE_bool("do_lower_case", True, "Whether the model is uncased.")
flags.DEFINE_integer("batch_size", 1024, "Lines in a batch.")
flags.DEFINE_integer("num_runs", 5, "Runs of each.")


def make_tokenizers():
    """Returns dict, name -> function of a list of str to lists of ids."""
    import tensorflow as tf
    import tensorflow_text

    from bert_tf.text.graph_tokenizer import TextTokenizer
    from bert_tf.text.tokenization import FullTokenizer

    vocab = FullTokenizer(FLAGS.vocab_file).vocab
    modules = {
        "graph": TextTokenizer(vocab, FLAGS.do_lower_case).tokenize,
        "FastBertTokenizer": _flat(
            tensorflow_text.FastBertTokenizer(
                list(vocab), lower_case_nfd_strip_accents=FLAGS.do_lower_case
            )
        ),
        "BertTokenizer": _flat(
            tensorflow_text.BertTokenizer(
                FLAGS.vocab_file,
                lower_case=FLAGS.do_lower_case,
                token_out_type=tf.int32,
            )
        ),
    }
    functions = {
        name: tf.function(
            tokenize, input_signature=[tf.TensorSpec([None], tf.string)]
        )
        for name, tokenize in modules.items()
    }
    tokenizers = {
        name: lambda lines, run=function: run(tf.constant(lines))
        for name, function in functions.items()
    }

    def tokenize_in_python(lines):
        tokenizer = FullTokenizer(FLAGS.vocab_file, FLAGS.do_lower_case)
        ids = [tokenizer.tokenize_to_ids(line) for line in lines]
        return tf.ragged.constant(ids, tf.int32, ragged_rank=1)

    return {**tokenizers, "Python": tokenize_in_python}


def _flat(tokenizer):
    return lambda lines: tokenizer.tokenize(lines).merge_dims(1, -1)


def main():
    common_flags.quiet_tensorflow()
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    lines = files.read_text(FLAGS.input_file).split("\n")
    batches = [
        lines[i : i + FLAGS.batch_size]
        for i in range(0, len(lines), FLAGS.batch_size)
    ]
    tokenizers = make_tokenizers()
    ids = {
        name: [row for batch in batches for row in run(batch).to_list()]
        for name, run in tokenizers.items()
    }
    speeds = {name: [] for name in tokenizers}
    for _ in range(FLAGS.num_runs):
        for name, run in tokenizers.items():
            began = time.perf_counter()
            num_pieces = sum(int(tf.size(run(b).values)) for b in batches)
            seconds = time.perf_counter() - began
            speeds[name].append(num_pieces / seconds)
    print(f"{len(lines)} lines; pieces a second, and lines unlike Python's")
    for name, values in speeds.items():
        unlike = sum(a != b for a, b in zip(ids[name], ids["Python"]))
        print(f"{name:18}{statistics.median(values):12,.0f}{unlike:8}")


if __name__ == "__main__":
    common_flags.run(main)
