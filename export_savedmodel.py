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
    """Finds what is wrong with the flags, before TensorFlow is imported.

    Raises:
      UserError: names the flag.
    """
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
    """Returns the serving.served.Served of what the flags name."""
    from bert_tf.serving import hub_preprocessor, loading

    values = {
        name: FLAGS[name].value
        for name in ("bert_config_file", "vocab_file", "max_seq_length")
        if FLAGS[name].value is not None
    }
    if FLAGS["do_lower_case"].present:
        values["do_lower_case"] = FLAGS.do_lower_case
    if FLAGS.kind == "masked_lm":
        values["top_k"] = FLAGS.top_k
    if FLAGS.kind == _PREPROCESSOR:
        defaults = {"do_lower_case": True, "max_seq_length": 128}
        return hub_preprocessor.HubPreprocessor(**{**defaults, **values})
    return loading.open_served(FLAGS.kind, FLAGS.init_checkpoint, **values)


def main():
    check_flags()
    # From here on and not above: TensorFlow takes seconds to import.
    from bert_tf.serving import export

    export.export(make_served(), FLAGS.export_dir, verify=FLAGS.verify_export)


if __name__ == "__main__":
    common_flags.run(main)
