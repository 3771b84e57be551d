"""Checks of flags that several scripts make, before TensorFlow is imported."""

from bert_tf import vocabulary
from bert_tf.errors import UserError


def require_job(values, jobs):
    """Checks that there is something to do.

    Args:
      values: dict, flag -> value.
      jobs: sequence of str, the switches that say what is done.

    Raises:
      UserError: none of them is on.
    """
    if not any(values[job] for job in jobs):
        *others, last = [f"--{job}" for job in jobs]
        raise UserError(f"Give at least one of {', '.join(others)} and {last}.")


def check_pairs(values, *, needs=(), idle_without=()):
    """Checks that flags come with those that they go with.

    Args:
      values: dict, flag -> value.
      needs: iterable of pairs of str: a flag, and one that it cannot do
        without.
      idle_without: the same: a flag, and one without which it would be passed
        over.

    Raises:
      UserError: the first of a pair is given, the second is not.
    """
    for pairs, words in (
        (needs, "needs"),
        (idle_without, "does nothing without"),
    ):
        for flag, other in pairs:
            if values[flag] and not values[other]:
                raise UserError(f"--{flag} {words} --{other}.")


def check_tpu(use_tpu, tpu_name, master):
    """Checks that --use_tpu comes with an address.

    Args:
      use_tpu: bool.
      tpu_name: str or None.
      master: str or None.

    Raises:
      UserError: it does not.
    """
    if use_tpu and not (tpu_name or master):
        raise UserError(
            "--use_tpu needs --tpu_name: the TPU's name, its grpc:// address, "
            "or `local` on a TPU VM."
        )


def check_vocabulary(
    vocab_file, do_lower_case, checkpoint, config, config_file
):
    """Checks a vocabulary against the model that is to know its pieces.

    Args:
      vocab_file: str.
      do_lower_case: bool.
      checkpoint: str or None, the weights.
      config: BertConfig.
      config_file: str, where it comes from.

    Raises:
      UserError: it lacks [CLS] or such, has more pieces than the model, or the
        weights are a release of the other letter case.
    """
    vocabulary.validate_case_matches_checkpoint(do_lower_case, checkpoint)
    vocab = vocabulary.load_vocab(vocab_file)
    vocabulary.require_special_tokens(
        vocab, vocab_file, ("[UNK]", "[CLS]", "[SEP]")
    )
    vocabulary.warn_if_case_mismatch(vocab, do_lower_case)
    check_vocabulary_size(vocab, vocab_file, config, config_file)


def check_vocabulary_size(vocab, vocab_file, config, config_file):
    """Checks that a model has an embedding for each piece.

    Args:
      vocab: dict, piece -> id.
      vocab_file: str, where it comes from.
      config: BertConfig.
      config_file: str, where it comes from.

    Raises:
      UserError: it has fewer.
    """
    num_ids = max(vocab.values()) + 1
    if num_ids > config.vocab_size:
        raise UserError(
            f"{vocab_file} has {num_ids} lines, but `vocab_size` in "
            f"{config_file} is {config.vocab_size}: the model has no embedding "
            "for the rest. Use the vocab.txt that came with the model."
        )


def check_sequence_length(max_seq_length, config, config_file):
    """Checks --max_seq_length against the model's position embeddings.

    Args:
      max_seq_length: int.
      config: BertConfig.
      config_file: str, where it comes from.

    Raises:
      UserError: it is too long.

    Source: the check in the 2018 scripts' `main`, there in some of them only.
    """
    if max_seq_length > config.max_position_embeddings:
        raise UserError(
            f"--max_seq_length={max_seq_length} is larger than "
            f"`max_position_embeddings` ({config.max_position_embeddings}) in "
            f"{config_file}. Lower the flag or use a longer model."
        )
