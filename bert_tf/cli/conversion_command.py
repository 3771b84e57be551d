"""The work of convert_checkpoint.py.

Functions take the script's flags as an absl FlagValues.
"""

from absl import logging

from bert_tf.checkpoints import variable_table
from bert_tf.errors import UserError
from bert_tf.formats.huggingface import HuggingFaceReader
from bert_tf.storage import files, new_folder
from bert_tf.text import vocabulary
from bert_tf.weights import model_choice, model_folder, weights_path


def check(flags):
    """Refuses wrong flags before TensorFlow is imported.

    Returns:
      str, the weights' prefix or file.
    """
    if flags.describe == bool(flags.output):
        raise UserError("Give --output=FOLDER, or --describe and no --output.")
    writing = ("output_format", "strip", "encoder_only", "vocab_file")
    given = [f"--{flag}" for flag in writing if flags[flag].present]
    if flags.describe and given:
        raise UserError(
            f"--describe writes nothing: {', '.join(given)} would do nothing."
        )
    if flags.vocab_file:
        files.require_file(flags.vocab_file, "vocab_file")
    if flags.output:
        new_folder.require_new_folder(flags.output, "output")
    return weights_path.resolve(flags.input, "input")


def open_weights(path):
    """Returns the WeightReader of what `check` returned."""
    # Safetensors need no TensorFlow, which takes seconds to import.
    if weights_path.is_safetensors(path):
        return HuggingFaceReader(path)
    from bert_tf.weights import loading

    return loading.open_checkpoint(path, "input")


def convert(flags, path, reader, config, config_file):
    """Writes what `reader` reads at `path` in the format that flags say.

    `config` and `config_file` are what model_folder.find_config found.
    """
    if config is not None:
        variable_table.require_config(reader, config, config_file)
    vocab_file = model_folder.find_vocabulary(flags.vocab_file, path)
    if config is not None and vocab_file:
        model_choice.check_vocabulary_size(
            vocabulary.load_vocab(vocab_file), vocab_file, config, config_file
        )
    if isinstance(reader, HuggingFaceReader):
        reader.log_left_out()
    from bert_tf.weights import conversion

    if config is None:
        config = conversion.infer_config(reader, flags.output_format)
    with new_folder.making_folder(flags.output, "output") as folder:
        conversion.convert(
            reader,
            config,
            vocab_file,
            folder,
            output_format=flags.output_format,
            strip=flags.strip or flags.encoder_only,
            encoder_only=flags.encoder_only,
        )
    if vocab_file is None:
        logging.warning(
            "No vocab.txt lies beside the weights, so none is written: a model "
            "needs it for texts. --vocab_file gives one."
        )
    written = ", ".join(files.list_folder(flags.output))
    logging.info("Written to %s: %s.", flags.output, written)
