#!/usr/bin/env python3
r"""Writes the encoder's vectors of each line of a text.

On the sample in this repository, after run_pretraining.py:

    python extract_features.py \
        --input_file=tests/testdata/sample_text.txt \
        --output_file=demo_output/features.jsonl \
        --init_checkpoint=demo_output/model \
        --vocab_file=tests/testdata/vocab.txt \
        --layers=-1,-2 --max_seq_length=64

A line is a text, or two with " ||| " between. The flags and the JSON are those
of 2018; --pooling and --output_format are new.
"""

from absl import flags, logging

from bert_tf.cli import common_flags, extraction_flags
from bert_tf.extraction import packed_lines, vector_files
from bert_tf.storage import files
from bert_tf.text import packing

FLAGS = flags.FLAGS

flags.DEFINE_string(
    "input_file",
    None,
    'The text, one a line; a pair of texts is written "A ||| B".',
)
flags.DEFINE_string("output_file", None, "The file of vectors to write.")
flags.DEFINE_string(
    "layers",
    "-1,-2,-3,-4",
    "The layers whose vectors are written: from -1 for the last one backwards, "
    "or from 0 for the first.",
)
flags.DEFINE_enum(
    "pooling",
    "none",
    ["none", "cls", "mean"],
    "none: a vector a piece, as in 2018. cls: one a line, that of [CLS]. mean: "
    "one a line, the mean of its pieces, [CLS] and [SEP] included.",
)
flags.DEFINE_enum(
    "output_format",
    "jsonl",
    ["jsonl", "npz"],
    "jsonl: a JSON object a line, 6 decimals, as in 2018. npz: NumPy arrays, "
    "float32.",
)
common_flags.define_bert_config()
common_flags.define_init_checkpoint()
common_flags.define_vocabulary()
common_flags.define_count(
    "max_seq_length",
    128,
    "The most pieces of a line, [CLS] and [SEP] included; the rest is cut off.",
)
common_flags.define_count(
    "batch_size", 32, "Lines in a batch, over all devices."
)
flags.DEFINE_bool(
    "use_one_hot_embeddings",
    False,
    "Look words up by a matrix product, as suits TPUs, where it is always "
    "done. The results are the same.",
)
common_flags.define_tpu()
flags.mark_flags_as_required(["input_file", "output_file", "init_checkpoint"])


def main():
    values = FLAGS.flag_values_dict()
    model, layers = extraction_flags.check(
        values, is_case_given=FLAGS["do_lower_case"].present
    )
    tokenizer = packing.new_tokenizer(model.vocab_file, model.do_lower_case)
    path = FLAGS.output_file
    with packed_lines.pack_file(
        FLAGS.input_file,
        tokenizer,
        FLAGS.max_seq_length,
        folder=packed_lines.local_folder(path),
    ) as lines:
        extractor = extraction_flags.load_extractor(model, layers, values)
        with vector_files.writing(
            path,
            FLAGS.output_format,
            layers,
            lines=lines,
            hidden_size=model.config.hidden_size,
            inv_vocab=None if FLAGS.pooling != "none" else tokenizer.inv_vocab,
        ) as writer:
            extractor.extract(lines, FLAGS.batch_size, writer)
        logging.info(
            "Wrote %s lines to %s (%s bytes).",
            f"{lines.num_lines:,}",
            path,
            f"{files.size(path):,}",
        )


if __name__ == "__main__":
    common_flags.run(main)
