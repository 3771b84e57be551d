#!/usr/bin/env python3
r"""Converts BERT weights between the formats in which they are found.

What run_pretraining.py trained on the sample, without what only training needs:

    python convert_checkpoint.py \
        --input=demo_output/model --output=demo_output/released --strip

--input may be the folder of an unzipped 2018 release, a folder that training
wrote (its newest checkpoint), a Hugging Face folder, or a checkpoint in one:
its prefix, or model.safetensors. Every bit of the weights is kept.
"""

from absl import flags

from bert_tf.cli import common_flags, conversion_command
from bert_tf.weights import description, model_folder

FLAGS = flags.FLAGS

flags.DEFINE_string(
    "input",
    None,
    "The weights: a folder, a checkpoint's prefix, or a safetensors file.",
)
flags.DEFINE_string(
    "output",
    None,
    "The folder to make: the weights (bert_model.ckpt or model.safetensors), "
    "the configuration (bert_config.json or config.json) and, where the input "
    "has one, vocab.txt.",
)
flags.DEFINE_enum(
    "output_format",
    "2018",
    ["2018", "huggingface", "model_garden"],
    "The format to write: the 2018 release's checkpoints, Hugging Face's "
    "safetensors, or Model Garden's checkpoints by objects.",
)
flags.DEFINE_bool(
    "strip",
    False,
    "Leave out what only training needs, adam_m, adam_v and global_step: two "
    "thirds of a training checkpoint. The other formats never hold it.",
)
flags.DEFINE_bool(
    "encoder_only",
    False,
    "Leave out the heads as well: to begin another task from a fine-tuned "
    "model.",
)
flags.DEFINE_bool(
    "describe",
    False,
    "Say what --input is: format, step, sizes, heads, parameters. Nothing is "
    "written.",
)
flags.DEFINE_string(
    "bert_config_file",
    None,
    "The model's sizes, where there is no configuration beside the weights.",
)
flags.DEFINE_string(
    "vocab_file",
    None,
    "The vocabulary, where there is no vocab.txt beside the weights.",
)
flags.mark_flag_as_required("input")


def main():
    path = conversion_command.check(FLAGS)
    config, config_file = model_folder.find_config(FLAGS.bert_config_file, path)
    reader = conversion_command.open_weights(path)
    if FLAGS.describe:
        print(description.describe(reader, config, config_file), end="")
        return
    conversion_command.convert(FLAGS, path, reader, config, config_file)


if __name__ == "__main__":
    common_flags.run(main)
