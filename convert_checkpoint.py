#!/usr/bin/env python3
r"""Converts BERT weights between the formats in which they are found.

What run_pretraining.py trained on the sample, without what only training needs:

    python convert_checkpoint.py \
        --input=demo_output/model --output=demo_output/released --strip

--input may be the folder of an unzipped 2018 release, a folder that training
wrote (its newest checkpoint), a Hugging Face folder, or a checkpoint in one:
its prefix, or model.safetensors. Every bit of the weights is kept.
"""

from absl import flags, logging

from bert_tf.checkpoints import variable_table
from bert_tf.cli import common_flags
from bert_tf.errors import UserError
from bert_tf.formats.huggingface import HuggingFaceReader
from bert_tf.storage import files, new_folder
from bert_tf.text import vocabulary
from bert_tf.weights import (
    description,
    model_choice,
    model_folder,
    weights_path,
)

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


def check_flags():
    """Finds what is wrong with the flags, before TensorFlow is imported.

    Returns:
      str, the weights' prefix or file.
    """
    if FLAGS.describe == bool(FLAGS.output):
        raise UserError("Give --output=FOLDER, or --describe and no --output.")
    writing = ("output_format", "strip", "encoder_only", "vocab_file")
    given = [f"--{flag}" for flag in writing if FLAGS[flag].present]
    if FLAGS.describe and given:
        raise UserError(
            f"--describe writes nothing: {', '.join(given)} would do nothing."
        )
    if FLAGS.vocab_file:
        files.require_file(FLAGS.vocab_file, "vocab_file")
    if FLAGS.output:
        new_folder.require_new_folder(FLAGS.output, "output")
    return weights_path.resolve(FLAGS.input, "input")


def open_weights(path):
    # Safetensors need no TensorFlow, which takes seconds to import.
    if weights_path.is_safetensors(path):
        return HuggingFaceReader(path)
    from bert_tf.weights import loading

    return loading.open_checkpoint(path, "input")


def find_vocabulary(path, config, config_file):
    vocab_file = model_folder.find_vocabulary(FLAGS.vocab_file, path)
    if config is not None and vocab_file:
        model_choice.check_vocabulary_size(
            vocabulary.load_vocab(vocab_file), vocab_file, config, config_file
        )
    return vocab_file


def main():
    path = check_flags()
    config, config_file = model_folder.find_config(FLAGS.bert_config_file, path)
    reader = open_weights(path)
    if FLAGS.describe:
        print(description.describe(reader, config, config_file), end="")
        return
    if config is not None:
        variable_table.require_config(reader, config, config_file)
    vocab_file = find_vocabulary(path, config, config_file)
    if isinstance(reader, HuggingFaceReader):
        reader.log_left_out()
    from bert_tf.weights import conversion

    if config is None:
        config = conversion.infer_config(reader, FLAGS.output_format)
    with new_folder.making_folder(FLAGS.output, "output") as folder:
        conversion.convert(
            reader,
            config,
            vocab_file,
            folder,
            output_format=FLAGS.output_format,
            strip=FLAGS.strip or FLAGS.encoder_only,
            encoder_only=FLAGS.encoder_only,
        )
    if vocab_file is None:
        logging.warning(
            "No vocab.txt lies beside the weights, so none is written: a model "
            "needs it for texts. --vocab_file gives one."
        )
    written = ", ".join(files.list_folder(FLAGS.output))
    logging.info("Written to %s: %s.", FLAGS.output, written)


if __name__ == "__main__":
    common_flags.run(main)
