#!/usr/bin/env python3
r"""Writes a SavedModel of weights trained anywhere.

Of what run_pretraining.py trained on the sample in this repository:

    python export_savedmodel.py \
        --kind=masked_lm --init_checkpoint=demo_output/model \
        --vocab_file=tests/testdata/vocab.txt \
        --export_dir=demo_output/export

run_pretraining.py, run_classifier.py and run_squad.py export what they train
with --do_export.
"""

from absl import flags

from bert_tf.cli import common_flags, export_flags

FLAGS = flags.FLAGS

flags.DEFINE_enum(
    "kind",
    None,
    ["encoder", export_flags.PREPROCESSOR, "masked_lm"],
    "encoder and preprocessor: in the form of TensorFlow Hub. masked_lm: fills "
    "[MASK] in texts; its head must be in the checkpoint.",
)
common_flags.define_init_checkpoint()
common_flags.define_bert_config()
common_flags.define_vocabulary()
common_flags.define_count(
    "max_seq_length",
    None,
    "Pieces of a text at most, [CLS] and [SEP] included. By default as many as "
    "the model has positions; of a preprocessor 128.",
)
common_flags.define_count(
    "top_k", 5, "Of masked_lm: so many words for each [MASK]."
)
export_flags.define_export_dir()
flags.mark_flags_as_required(["kind", "export_dir"])


def main():
    export_flags.check_source(FLAGS)
    # Here and not above: TensorFlow takes seconds to import, and a wrong flag
    # should be told at once.
    from bert_tf.serving import export

    served = export_flags.open_source(FLAGS)
    export.export(served, FLAGS.export_dir, verify=FLAGS.verify_export)


if __name__ == "__main__":
    common_flags.run(main)
