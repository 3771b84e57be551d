#!/usr/bin/env python3
r"""Makes TFRecords of masked instances for pre-training from raw text.

The text has one sentence a line and a blank line between documents:

    python create_pretraining_data.py \
        --input_file=tests/testdata/sample_text.txt \
        --output_file=demo_output/sample.tfrecord \
        --vocab_file=tests/testdata/vocab.txt \
        --max_seq_length=64 --max_predictions_per_seq=10

The same flags and seed give the records that the 2018 script gave, in the same
order. Give `run_pretraining.py` the same --max_seq_length and
--max_predictions_per_seq.
"""

import random

from absl import flags, logging

from bert_tf.cli import common_flags
from bert_tf.data import documents, instances, masking, pretraining_data
from bert_tf.storage import files
from bert_tf.text import tokenization, vocabulary

FLAGS = flags.FLAGS

flags.DEFINE_string(
    "input_file",
    None,
    "Text files: paths and patterns, with commas between.",
    required=True,
)
flags.DEFINE_string(
    "output_file",
    None,
    "The TFRecord file to write. Of several, with commas between, each gets "
    "its share of the instances in turn.",
    required=True,
)
common_flags.define_vocabulary()
flags.mark_flag_as_required("vocab_file")
# --help shows them too.
flags.DEFINE_bool(
    "do_whole_word_mask",
    False,
    "Mask all the pieces of a word or none, rather than single pieces.",
)
flags.DEFINE_integer(
    "max_seq_length",
    128,
    "The most pieces of an instance, [CLS] and both [SEP] included; at least "
    "5.",
)
flags.DEFINE_integer(
    "max_predictions_per_seq", 20, "The most masked pieces of an instance."
)
flags.DEFINE_integer("random_seed", 12345, "The seed of all random draws.")
flags.DEFINE_integer(
    "dupe_factor",
    10,
    "How often the text is gone through, each time with other masks and pairs.",
)
flags.DEFINE_float(
    "masked_lm_prob", 0.15, "The share of an instance's pieces to mask."
)
flags.DEFINE_float(
    "short_seq_prob",
    0.1,
    "How often a document is cut into instances of some shorter length.",
)


def main():
    """Reads the flags and runs the three stages."""
    options = pretraining_data.InstanceOptions(
        max_seq_length=FLAGS.max_seq_length,
        max_predictions_per_seq=FLAGS.max_predictions_per_seq,
        dupe_factor=FLAGS.dupe_factor,
        masked_lm_prob=FLAGS.masked_lm_prob,
        short_seq_prob=FLAGS.short_seq_prob,
        do_whole_word_mask=FLAGS.do_whole_word_mask,
    )
    input_files = files.expand_patterns(FLAGS.input_file, "input_file")
    files.require_file(FLAGS.vocab_file, "vocab_file")
    output_files = pretraining_data.prepare_output_files(
        FLAGS.output_file, [*input_files, FLAGS.vocab_file]
    )
    tokenizer = tokenization.FullTokenizer(
        FLAGS.vocab_file, do_lower_case=FLAGS.do_lower_case
    )
    piece_ids = masking.PieceIds.from_vocab(tokenizer.vocab, FLAGS.vocab_file)
    vocabulary.warn_if_case_mismatch(tokenizer.vocab, FLAGS.do_lower_case)

    logging.info(
        "Making instances of up to %d pieces, %d of them masked, with seed %d "
        "from:",
        options.max_seq_length,
        options.max_predictions_per_seq,
        FLAGS.random_seed,
    )
    for path in input_files:
        logging.info("  %s", path)
    texts = documents.read_documents(input_files, tokenizer)
    made = pretraining_data.create_instances(
        texts, piece_ids, options, random.Random(FLAGS.random_seed)
    )
    logging.info(
        "The first, with (masked>shown): %s",
        instances.spell(made[0], tokenizer.inv_vocab),
    )
    pretraining_data.write_instances(made, output_files)


if __name__ == "__main__":
    common_flags.run(main)
