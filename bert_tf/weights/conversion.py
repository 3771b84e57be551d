"""From any format of weights to any other, with every bit kept.

    reader = loading.open_checkpoint(path, "input")
    convert(reader, config, vocab_file, folder, output_format="huggingface")

Memory holds one variable at a time, or one part of a checkpoint.
"""

import os

import tensorflow as tf
from absl import logging

from bert_tf.checkpoints import checkpoint_io
from bert_tf.checkpoints.variable_table import (
    POOLER_SCOPE,
    is_encoders,
    known_shapes,
    sizes,
)
from bert_tf.checkpoints.weight_reader import listed
from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.formats import (
    huggingface,
    huggingface_config,
    model_garden,
    safetensors_files,
)
from bert_tf.storage import files, json_files
from bert_tf.text import vocabulary
from bert_tf.weights import model_folder
from bert_tf.weights.model_folder import CONFIG_FILE, VOCAB_FILE
from bert_tf.weights.weights_path import RELEASE_PREFIX


def infer_config(reader, output_format):
    """Finds a configuration where there is none beside the weights.

    Returns:
      BertConfig read off a Model Garden checkpoint; or None, from 2018 to
      2018 (`output_format`, one of FORMATS), where it is not needed.

    Raises:
      UserError: one is needed and cannot be inferred.
    """
    if isinstance(reader, model_garden.ModelGardenReader):
        config = BertConfig(
            num_attention_heads=reader.num_attention_heads,
            **sizes(reader.stored),
        )
        logging.warning(
            "There is no configuration beside %s. Its sizes and %d attention "
            "heads are read off the weights; the activation is taken to be "
            "2018's and Model Garden's, 'gelu'. If it is another, give "
            "--bert_config_file.",
            reader.path,
            config.num_attention_heads,
        )
        return config
    if _is_2018(reader) and output_format == "2018":
        if not sizes(reader.stored):
            raise UserError(
                f"{reader.path} is of no BERT: nothing in it begins with "
                f"'bert/'. It has {listed(reader.stored)}."
            )
        logging.warning(
            "There is no %s beside %s, and so none is written.",
            CONFIG_FILE,
            reader.path,
        )
        return None
    raise UserError(
        f"--bert_config_file must be given: there is none beside "
        f"{reader.path}, and the number of attention heads cannot be seen in "
        "the weights."
    )


def _is_2018(reader):
    return type(reader) is checkpoint_io.CheckpointReader


def convert(
    reader,
    config,
    vocab_file,
    folder,
    *,
    output_format,
    strip=False,
    encoder_only=False,
):
    """Writes a checkpoint, its configuration and its vocabulary.

    Args:
      reader: WeightReader.
      config: BertConfig; may be None for the 2018 format.
      vocab_file: str or None.
      folder: str, an existing empty folder.
      output_format: str, one of FORMATS.
      strip: bool, whether the 2018 format is to be without what belongs to a
        run: optimizer slots and the step. The others never hold it.
      encoder_only: bool, whether to leave out all but encoder and pooler.

    Raises:
      UserError: it cannot be written, or the source is damaged.
    """
    slots = reader.slots()
    names = [n for n in reader.model() if is_encoders(n) or not encoder_only]
    # The slots of others are not 2018's.
    if _is_2018(reader) and output_format == "2018" and not strip:
        names += slots
    elif slots:
        logging.info("Left out, of the run: %s.", listed(slots))
    try:
        _WRITERS[output_format](reader, names, config, folder)
        if vocab_file:
            _copy_vocabulary(vocab_file, config, folder, output_format)
    except tf.errors.OpError as error:
        raise UserError(
            "The checkpoint cannot be written: "
            f"{checkpoint_io.reason_of(error)}."
        ) from error


def _copy_vocabulary(vocab_file, config, folder, output_format):
    _, lower_case = model_folder.lower_case_beside([vocab_file])
    if lower_case is None:
        # Nothing beside the vocabulary says so; its pieces show it.
        vocab = vocabulary.load_vocab(vocab_file)
        lower_case = not vocabulary.upper_case_pieces(vocab)
    logging.info(
        "The vocabulary is %scased: --do_lower_case=%s.",
        "un" if lower_case else "",
        str(lower_case).lower(),
    )
    if output_format == "huggingface":
        length = config.max_position_embeddings
        model_folder.write_vocabulary(folder, vocab_file, lower_case, length)
    else:
        path = os.path.join(folder, VOCAB_FILE)
        files.write_bytes(path, files.read_bytes(vocab_file))


def _write_2018(reader, names, config, folder):
    prefix = os.path.join(folder, RELEASE_PREFIX)
    checkpoint_io.write_in_parts(prefix, names, reader.read)
    if config:
        _write_config(config, folder)
        if config.hidden_act == "gelu_erf":
            logging.warning(
                "The model's activation is the exact form of GELU, 'gelu_erf' "
                "in %s. The 2018 code knows only the other one and refuses "
                "the word.",
                CONFIG_FILE,
            )


def _write_config(config, folder):
    files.write_text(os.path.join(folder, CONFIG_FILE), config.to_json_string())


def _write_model_garden(reader, names, config, folder):
    entries, graph = model_garden.layout(
        {name: reader.stored[name] for name in names},
        config.num_attention_heads,
    )

    def read(key):
        if key == checkpoint_io.OBJECT_GRAPH:
            return graph
        return entries[key].relaid(reader.read(entries[key].name))

    checkpoint_io.write_in_parts(
        os.path.join(folder, RELEASE_PREFIX),
        [*entries, checkpoint_io.OBJECT_GRAPH],
        read,
    )
    _write_config(config, folder)
    if config.hidden_act == "gelu_erf":
        logging.warning(
            "The model's activation is the exact form of GELU; Model Garden's "
            "default is the other one. Build its encoder with the exact one."
        )


def _write_hugging_face(reader, names, config, folder):
    known = known_shapes(config, reader.stored)
    class_name = huggingface.choose_class(names)
    placed, rest = [], []
    for name in names:
        fits = name in known and huggingface.has_place(class_name, name)
        (placed if fits else rest).append(name)
    _write_weights(reader, placed, class_name, folder)
    _write_rest(reader, rest, class_name, folder)
    num_labels = None
    if "output_" in huggingface.CLASSES[class_name]:
        (num_labels,) = reader.stored["output_bias"].shape
    contents = huggingface_config.to_hugging_face(
        config, class_name, num_labels
    )
    path = os.path.join(folder, huggingface_config.FILE)
    files.write_text(path, json_files.to_text(contents))
    logging.info(
        "Its activation is %r here, %r for Hugging Face.",
        config.hidden_act,
        contents["hidden_act"],
    )


def _write_weights(reader, names, class_name, folder):
    logging.info("Hugging Face's class for it: %s.", class_name)
    if huggingface.has_place(class_name, POOLER_SCOPE) and not any(
        name.startswith(POOLER_SCOPE) for name in names
    ):
        logging.warning(
            "The model has no pooler; %s has one, which will start anew.",
            class_name,
        )
    shapes = {}
    meanings = {}  # Hugging Face's name -> (2018's, whether to transpose)
    for name in names:
        hugging, transpose = huggingface.name_of_hugging_face(name)
        if class_name == "BertModel":
            hugging = hugging.removeprefix("bert.")
        meanings[hugging] = name, transpose
        shape = reader.stored[name].shape
        shapes[hugging] = shape[::-1] if transpose else shape

    def read(hugging):
        name, transpose = meanings[hugging]
        value = reader.read(name)
        return value.T if transpose else value

    path = os.path.join(folder, safetensors_files.FILE)
    safetensors_files.write(path, shapes, read)


def _write_rest(reader, names, class_name, folder):
    kept = [name for name in names if reader.stored[name].dtype == "float32"]
    lost = [name for name in names if name not in kept]
    if kept:
        path = os.path.join(folder, huggingface.REST_FILE)
        shapes = {name: reader.stored[name].shape for name in kept}
        safetensors_files.write(path, shapes, reader.read)
        logging.info(
            "%s has no place for %s; kept in %s, which only bert_tf reads.",
            class_name,
            listed(kept),
            huggingface.REST_FILE,
        )
    if lost:
        logging.warning("Left out, for not being float32: %s.", listed(lost))


_WRITERS = {
    "2018": _write_2018,
    "huggingface": _write_hugging_face,
    "model_garden": _write_model_garden,
}
FORMATS = tuple(_WRITERS)
