"""What lies beside weights: the configuration, the vocabulary, letter case.

TensorFlow is not imported here, so that a wrong path is reported at once.
"""

import os

from absl import logging

from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.formats import huggingface_config, saved_model
from bert_tf.storage import files, json_files
from bert_tf.weights import weights_path

CONFIG_FILE = "bert_config.json"
VOCAB_FILE = "vocab.txt"

# Hugging Face's key, in its tokenizer_config.json.
_LENGTH = "model_max_length"

# Keys that only Hugging Face writes into a configuration.
_HUGGING_FACE_KEYS = (
    "architectures",
    "model_type",
    "output_hidden_states",
    "pruned_heads",
    "dtype",
    "pad_token_id",
    "torch_dtype",
    "transformers_version",
    "use_cache",
)


def _beside(checkpoint, name):
    """Returns a file (path or None) beside weights, or a SavedModel's asset."""
    folders = (os.path.dirname(checkpoint), saved_model.assets_of(checkpoint))
    paths = [os.path.join(f, name) for f in folders if f is not None]
    return next(filter(files.is_file, paths), None)


def read_config(path):
    """Reads a configuration (BertConfig) of 2018's or of Hugging Face's.

    A file called config.json, or one with keys that only Hugging Face writes,
    is Hugging Face's: its "gelu" is then "gelu_erf".

    Raises:
      UserError: unreadable, not JSON, or impossible values.
    """
    is_hugging_face = os.path.basename(path) == huggingface_config.FILE or any(
        key in json_files.read_object(path) for key in _HUGGING_FACE_KEYS
    )
    if is_hugging_face:
        return huggingface_config.read(path)
    return BertConfig.from_json_file(path)


def choose_config(bert_config_file, checkpoint):
    """As `find_config`, but a UserError where there is none."""
    config, path = find_config(bert_config_file, checkpoint)
    if config is None:
        raise _not_given("bert_config_file", checkpoint)
    return config, path


def _not_given(flag, checkpoint):
    """Returns the UserError of a file that is neither given nor found."""
    if not checkpoint:
        return UserError(
            f"--{flag} must be given: without --init_checkpoint none can lie "
            "beside it."
        )
    where = f"--{flag} must be given: there is none beside {checkpoint}"
    for name in (CONFIG_FILE, huggingface_config.FILE):
        # The one that goes with such weights would have been taken.
        other = _beside(checkpoint, name)
        if flag == "bert_config_file" and other:
            where += f" (but {name}, which is for weights of another format)"
    return UserError(f"{where}.")


def find_config(bert_config_file, checkpoint):
    """Reads the configuration that --bert_config_file (str or None) means.

    Without the flag it is the one beside the weights (`checkpoint`: str,
    resolved, or None), if any; the log says so. Returns BertConfig and file, or
    two None; a UserError if it is no configuration.
    """
    beside = None
    if checkpoint:
        is_hugging_face = weights_path.is_safetensors(checkpoint)
        name = huggingface_config.FILE if is_hugging_face else CONFIG_FILE
        beside = _beside(checkpoint, name)
    if bert_config_file:
        files.require_file(bert_config_file, "bert_config_file")
        config = read_config(bert_config_file)
        if beside and not files.is_same(beside, bert_config_file):
            others = config.differences(read_config(beside))
            if others:
                logging.warning(
                    "%s lies beside the weights, but --bert_config_file=%s has "
                    "%s.",
                    beside,
                    bert_config_file,
                    ", ".join(others),
                )
        return config, bert_config_file
    if beside is None:
        return None, None
    config = read_config(beside)
    logging.info("--bert_config_file is not given; %s is used.", beside)
    if config.hidden_act == "gelu_erf":
        logging.info("Its GELU is the exact one: hidden_act 'gelu_erf' here.")
    return config, beside


def find_vocabulary(vocab_file, checkpoint):
    """Finds the vocabulary (str or None) that --vocab_file means.

    Without the flag it is the one beside the weights (`checkpoint`: str,
    resolved, or None), if any; the log says so. A UserError if the flag names
    no file.
    """
    if vocab_file:
        files.require_file(vocab_file, "vocab_file")
        return vocab_file
    if not checkpoint:
        return None
    found = _beside(checkpoint, VOCAB_FILE)
    found = found or saved_model.find_vocabulary(checkpoint)
    if found:
        logging.info("--vocab_file is not given; %s is used.", found)
    return found


def lower_case_beside(places):
    """Reads what a file says of letter case beside a model.

    It may be a tokenizer_config.json, the description of an export, or a
    variable of a SavedModel. The first of `places` (str or None) that has one
    counts.

    Returns:
      (str, bool): where it is said, and what; None for what is not there.
    """
    for place in filter(None, places):
        for name in (
            huggingface_config.TOKENIZER_FILE,
            saved_model.DESCRIPTION_FILE,
        ):
            path = _beside(place, name)
            if path:
                said = json_files.read_object(path).get("do_lower_case")
                return path, said if isinstance(said, bool) else None
        said = saved_model.stored_lower_case(place)
        if said is not None:
            return place, said
    return None, None


def choose_lower_case(value, is_given, places):
    """Decides (bool) whether text is lower-cased.

    --do_lower_case (`value`, bool) counts if it was given, else what is said
    beside `places`, see `lower_case_beside`, the vocabulary and the weights.
    The log says where the two differ.
    """
    path, said = lower_case_beside(places)
    if said is None or said == value:
        return value
    if is_given:
        logging.warning(
            "--do_lower_case is %s, but %s says %s.",
            str(value).lower(),
            path,
            str(said).lower(),
        )
        return value
    logging.info(
        "--do_lower_case is not given; %s says %s.", path, str(said).lower()
    )
    return said


def length_beside(checkpoint):
    """Returns how many pieces a text had in training (int), or None.

    A tokenizer_config.json beside `checkpoint` (str, resolved) may say so.
    """
    path = _beside(checkpoint, huggingface_config.TOKENIZER_FILE)
    said = json_files.read_object(path).get(_LENGTH) if path else None
    return said if type(said) is int else None


def write_vocabulary(folder, vocab_file, do_lower_case, max_seq_length):
    """Leaves with a model what its texts are to be cut up with.

    The vocabulary is copied into `folder`; a tokenizer_config.json holds the
    letter case (bool) and S (int).

    Raises:
      UserError: a file cannot be read or written.
    """
    files.write_bytes(
        os.path.join(folder, VOCAB_FILE), files.read_bytes(vocab_file)
    )
    contents = {
        "do_lower_case": do_lower_case,
        _LENGTH: max_seq_length,
        "tokenizer_class": "BertTokenizer",
    }
    path = os.path.join(folder, huggingface_config.TOKENIZER_FILE)
    files.write_text(path, json_files.to_text(contents))


def require_same_vocabulary(folder, vocab_file):
    """Checks that a folder's model was not trained with another vocabulary.

    Raises:
      UserError: it was.
    """
    kept = os.path.join(folder, VOCAB_FILE)
    if files.is_file(kept) and (
        files.read_bytes(kept) != files.read_bytes(vocab_file)
    ):
        raise UserError(
            f"--vocab_file={vocab_file} is not the vocabulary that the model "
            f"was trained with, {kept}. Give that one, or train anew in "
            "another folder."
        )


def choose_vocabulary(vocab_file, checkpoint):
    """As `find_vocabulary`, but a UserError where there is none."""
    path = find_vocabulary(vocab_file, checkpoint)
    if path is None:
        raise _not_given("vocab_file", checkpoint)
    return path
