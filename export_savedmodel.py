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
from bert_tf.errors import UserError

FLAGS = flags.FLAGS

_PREPROCESSOR = "preprocessor"

flags.DEFINE_enum(
    "kind",
    None,
    ["encoder", _PREPROCESSOR, "masked_lm"],
    "encoder and preprocessor: in the form of TensorFlow Hub. masked_lm: fills "
    "[MASK] in texts; its head must be in the checkpoint.",
)
common_flags.define_init_checkpoint()
flags.DEFINE_string(
    "bert_config_file",
    None,
    "The model's sizes: a bert_config.json. Without it, the one beside "
    "--init_checkpoint.",
)
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


def check_flags():
    """Refuses wrong flags, before TensorFlow is imported."""
    export_flags.check(True, FLAGS.export_dir)
    needed = "vocab_file" if FLAGS.kind == _PREPROCESSOR else "init_checkpoint"
    if not FLAGS[needed].value:
        raise UserError(f"--kind={FLAGS.kind} needs --{needed}.")
    for flag in ("init_checkpoint", "bert_config_file"):
        if FLAGS.kind == _PREPROCESSOR and FLAGS[flag].value:
            raise UserError(
                f"--{flag} does nothing with --kind={_PREPROCESSOR}."
            )
    if FLAGS["top_k"].present and FLAGS.kind != "masked_lm":
        raise UserError("--top_k does nothing without --kind=masked_lm.")


def make_served():
    """Returns the serving.servable.Servable that the flags name."""
    from bert_tf.serving import hub_preprocessor, loading

    if FLAGS.kind == _PREPROCESSOR:
        return hub_preprocessor.HubPreprocessor(
            vocab_file=FLAGS.vocab_file,
            do_lower_case=FLAGS.do_lower_case,
            max_seq_length=FLAGS.max_seq_length or 128,
        )
    is_case_given = FLAGS["do_lower_case"].present
    return loading.open_served(
        FLAGS.kind,
        FLAGS.init_checkpoint,
        bert_config_file=FLAGS.bert_config_file,
        vocab_file=FLAGS.vocab_file,
        do_lower_case=FLAGS.do_lower_case if is_case_given else None,
        max_seq_length=FLAGS.max_seq_length,
        **({"top_k": FLAGS.top_k} if FLAGS.kind == "masked_lm" else {}),
    )


def main():
    check_flags()
    # From here on and not above: TensorFlow takes seconds to import.
    from bert_tf.serving import export

    export.export(make_served(), FLAGS.export_dir, verify=FLAGS.verify_export)


if __name__ == "__main__":
    common_flags.run(main)
