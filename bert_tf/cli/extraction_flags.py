"""What extract_features.py makes of its flags; checks without TensorFlow.

What is refused is a UserError that names the flag.
"""

import os

from bert_tf.cli import checks
from bert_tf.errors import UserError
from bert_tf.storage import files
from bert_tf.text import packing
from bert_tf.weights import model_choice, weights_path


def check(values, *, is_case_given):
    """Finds the model and, if nothing is wrong, makes the output's folder.

    Args:
      values: dict, flag -> value, those of extract_features.py.
      is_case_given: bool, whether --do_lower_case was on the command line.

    Returns:
      pair: model_choice.Model; list of int, the layers, as they were given.
    """
    checks.check_tpu(values["use_tpu"], values["tpu_name"], values["master"])
    layers = parse_layers(values["layers"])
    packing.require_room(values["max_seq_length"])
    files.require_file(values["input_file"], "input_file")
    checkpoint = weights_path.resolve(values["init_checkpoint"])
    model = model_choice.describe_model(
        checkpoint, values, is_case_given=is_case_given
    )
    check_layers(layers, model.config, model.config_file)
    inputs = {
        "input_file": values["input_file"],
        "vocab_file": model.vocab_file,
        "bert_config_file": model.config_file,
    }
    _prepare_output(values["output_file"], inputs)
    return model, layers


def load_extractor(model, layers, values):
    """Makes an encoder_vectors.Extractor of what `check` gave and the flags."""
    # Here and not above: TensorFlow takes seconds to import, and a wrong flag
    # should be told at once.
    from bert_tf.extraction import encoder_vectors
    from bert_tf.training import distribution

    address = distribution.TpuAddress.from_flags(values)
    use_tpu = values["use_tpu"]
    extractor = encoder_vectors.Extractor(
        model.config,
        layers,
        pooling=values["pooling"],
        strategy=distribution.build_strategy(address),
        fixed_length=values["max_seq_length"] if use_tpu else None,
        use_one_hot_embeddings=use_tpu or values["use_one_hot_embeddings"],
    )
    extractor.load(model.checkpoint)
    return extractor


def parse_layers(text):
    """Reads --layers, such as "-1,-2", into a list of int."""
    try:
        return [int(word) for word in text.split(",")]
    except ValueError as error:
        raise UserError(
            f"--layers={text!r} is no list of whole numbers with commas "
            "between. Give it as --layers=-1,-2."
        ) from error


def check_layers(layers, config, config_file):
    """Refuses layers (list of int) that the model of a BertConfig lacks."""
    depth = config.num_hidden_layers
    missing = [i for i in layers if not -depth <= i < depth]
    if missing:
        raise UserError(
            f"--layers names {', '.join(map(str, missing))}, but "
            f"`num_hidden_layers` in {config_file} is {depth}: layers go from "
            f"0 to {depth - 1}, or from -1 to {-depth} backwards."
        )


def _prepare_output(path, inputs):
    """Checks that --output_file can be written, and makes its folder.

    `inputs`: dict, flag -> path, what must not be overwritten.
    """
    if not path:
        raise UserError("--output_file must be given.")
    if files.is_folder(path):
        raise UserError(
            f"--output_file={path} is a folder; name the file in it."
        )
    require_other(path, inputs)
    if not files.is_remote(path):
        if os.path.exists(path) and not os.path.isfile(path):
            raise UserError(
                f"--output_file={path} is no plain file. It takes its name "
                "when it is whole, which a pipe does not allow."
            )
        files.make_output_folder(os.path.dirname(path) or ".", "output_file")


def require_other(path, inputs):
    """Refuses an --output_file that replaces one of `inputs` (flag -> path)."""
    for flag, other in inputs.items():
        if files.is_same(path, other):
            raise UserError(
                f"--output_file={path} is --{flag} as well, which it would "
                "replace. Give another name."
            )
