"""What the fine-tuning scripts find out from their flags, before TensorFlow.

S max_seq_length
"""

import dataclasses
import os

from bert_tf import files, flag_checks, model_folder, weights_path
from bert_tf.config import BertConfig
from bert_tf.errors import UserError


@dataclasses.dataclass(frozen=True, kw_only=True)
class Model:
    """The model that flags name, its parts checked against each other.

    `config_file`: str, where `config` is from. `checkpoint`: str or None, the
    weights that are gone on from.
    `vocab_file`: str. `do_lower_case`: bool.
    """

    config: BertConfig
    config_file: str
    checkpoint: str | None
    vocab_file: str
    do_lower_case: bool

    def folders(self, output_dir, *, to_train):
        """Lists where what goes with the weights has to agree with the flags.

        Args:
          output_dir: str.
          to_train: bool, whether the weights are trained on: then what
            --init_checkpoint was trained with does not matter.

        Returns:
          list of str.
        """
        if self.checkpoint and not to_train:
            return [output_dir, os.path.dirname(self.checkpoint)]
        return [output_dir]


def choose_model(values, *, is_case_given):
    """Finds the model, and makes its output folder once all is well.

    Args:
      values: dict, flag -> value, those of common_flags.define_fine_tuning in
        it.
      is_case_given: bool, whether --do_lower_case was on the command line.

    Returns:
      Model.

    Raises:
      UserError: a file is missing or wrong, or they do not go together.
    """
    checkpoint = weights_path.find_weights(
        values["output_dir"], values["init_checkpoint"]
    )
    if checkpoint is None and not values["do_train"]:
        raise untrained(values["output_dir"])
    model = describe_model(checkpoint, values, is_case_given=is_case_given)
    files.make_output_folder(values["output_dir"], "output_dir")
    return model


def untrained(output_dir):
    """Returns the UserError where a trained model is needed, but is not there.

    Args:
      output_dir: str, where it would be.
    """
    return UserError(
        f"--output_dir={output_dir} holds no checkpoint, and no "
        "--init_checkpoint is given: there is no trained model. Give one, "
        "or --do_train."
    )


def describe_model(checkpoint, values, *, is_case_given):
    """Finds what goes with weights, and checks that it goes together.

    Args:
      checkpoint: str or None, the weights, resolved.
      values: dict, flag -> value: bert_config_file, max_seq_length, vocab_file
        and do_lower_case in it.
      is_case_given: bool, whether --do_lower_case was on the command line.

    Returns:
      Model.

    Raises:
      UserError: a file is missing or wrong, or they do not go together.
    """
    config, config_file = model_folder.choose_config(
        values["bert_config_file"], checkpoint
    )
    flag_checks.check_sequence_length(
        values["max_seq_length"], config, config_file
    )
    vocab_file, do_lower_case = choose_vocabulary(
        values, checkpoint, config, config_file, is_case_given=is_case_given
    )
    return Model(
        config=config,
        config_file=config_file,
        checkpoint=checkpoint,
        vocab_file=vocab_file,
        do_lower_case=do_lower_case,
    )


def choose_vocabulary(
    values, checkpoint, config, config_file, *, is_case_given
):
    """Finds out how texts are cut up for a model.

    Args:
      values: dict, flag -> value: vocab_file and do_lower_case in it.
      checkpoint: str or None, the weights, resolved.
      config: BertConfig.
      config_file: str, where it comes from.
      is_case_given: bool, whether --do_lower_case was on the command line.

    Returns:
      pair: str, the vocabulary's file; bool, whether text is lower-cased.

    Raises:
      UserError: there is no vocabulary, or it does not fit.
    """
    vocab_file = model_folder.choose_vocabulary(
        values["vocab_file"], checkpoint
    )
    do_lower_case = model_folder.choose_lower_case(
        values["do_lower_case"], is_case_given, [vocab_file, checkpoint]
    )
    flag_checks.check_vocabulary(
        vocab_file, do_lower_case, checkpoint, config, config_file
    )
    return vocab_file, do_lower_case


def count_steps(num_examples, *, num_train_epochs, train_batch_size):
    """Tells in how many steps examples are gone through.

    Args:
      num_examples: int.
      num_train_epochs: float.
      train_batch_size: int.

    Returns:
      int.

    Raises:
      UserError: not one.

    Source: the formula of `main` in run_classifier.py and run_squad.py (2018).
    """
    num_train_steps = int(num_examples / train_batch_size * num_train_epochs)
    if not num_train_steps:
        raise UserError(
            f"{num_examples} training examples, --num_train_epochs="
            f"{num_train_epochs:g} times, do not make one step of "
            f"--train_batch_size={train_batch_size}. Lower the batch "
            "size or raise the number of epochs."
        )
    return num_train_steps
