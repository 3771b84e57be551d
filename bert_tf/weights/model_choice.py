"""Which model the flags name, and whether its parts go together.

S max_seq_length
"""

import dataclasses
import os

from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.storage import files
from bert_tf.text import vocabulary
from bert_tf.text.packing import SPECIAL_TOKENS
from bert_tf.weights import model_folder, weights_path


@dataclasses.dataclass(frozen=True, kw_only=True)
class Model:
    """The model that flags name, its parts checked against each other.

    `config_file`: str, where `config` is from. `checkpoint`: str or None, the
    weights to go on from.
    """

    config: BertConfig
    config_file: str
    checkpoint: str | None
    vocab_file: str
    do_lower_case: bool

    def folders(self, output_dir, *, to_train):
        """Lists the folders (str) that must hold nothing against the flags.

        When the weights are trained on (`to_train`, bool), what
        --init_checkpoint was trained with does not matter.
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

    Raises:
      UserError: a file is missing or wrong, or they do not go together.
    """
    checkpoint = weights_path.find_weights(
        values["output_dir"], values["init_checkpoint"]
    )
    if checkpoint is None and not values["do_train"]:
        raise weights_path.untrained(values["output_dir"])
    model = describe_model(checkpoint, values, is_case_given=is_case_given)
    files.make_output_folder(values["output_dir"], "output_dir")
    return model


def describe_model(checkpoint, values, *, is_case_given):
    """Finds what goes with weights, and checks that it goes together.

    As `choose_model`, for weights (str, resolved, or None) in any place. Of
    `values` bert_config_file, max_seq_length, vocab_file and do_lower_case are
    looked at.
    """
    config, config_file = model_folder.choose_config(
        values["bert_config_file"], checkpoint
    )
    check_sequence_length(values["max_seq_length"], config, config_file)
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

    Of `values` vocab_file and do_lower_case are looked at. For the other
    arguments see `Model` and `choose_model`.

    Returns:
      pair: str, the vocabulary's file; bool, whether text is lower-cased.

    Raises:
      UserError: there is no vocabulary; it lacks [CLS] or such, or has more
        pieces than the model; or the weights are a release of the other letter
        case.
    """
    vocab_file = model_folder.choose_vocabulary(
        values["vocab_file"], checkpoint
    )
    do_lower_case = model_folder.choose_lower_case(
        values["do_lower_case"], is_case_given, [vocab_file, checkpoint]
    )
    vocabulary.validate_case_matches_checkpoint(do_lower_case, checkpoint)
    vocab = vocabulary.load_vocab(vocab_file)
    vocabulary.require_special_tokens(vocab, vocab_file, SPECIAL_TOKENS)
    vocabulary.warn_if_case_mismatch(vocab, do_lower_case)
    check_vocabulary_size(vocab, vocab_file, config, config_file)
    return vocab_file, do_lower_case


def check_vocabulary_size(vocab, vocab_file, config, config_file):
    """Checks that a model has an embedding for each piece.

    Raises:
      UserError: `vocab` (piece -> id), of `vocab_file`, has more.
    """
    num_ids = max(vocab.values()) + 1
    if num_ids > config.vocab_size:
        raise UserError(
            f"{vocab_file} has {num_ids} lines, but `vocab_size` in "
            f"{config_file} is {config.vocab_size}: the model has no embedding "
            "for the rest. Use the vocab.txt that came with the model."
        )


def check_sequence_length(max_seq_length, config, config_file):
    """Checks --max_seq_length (int) against the model's position embeddings.

    Raises:
      UserError: it is too long; `config_file` (str) is named.

    Source: the check in the 2018 scripts' `main`, there in some of them only.
    """
    if max_seq_length > config.max_position_embeddings:
        raise UserError(
            f"--max_seq_length={max_seq_length} is larger than "
            f"`max_position_embeddings` ({config.max_position_embeddings}) in "
            f"{config_file}. Lower the flag or use a longer model."
        )
