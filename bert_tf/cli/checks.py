"""Checks of flags that several scripts make, before TensorFlow is imported.

What is refused is a UserError that names the flags.
"""

from bert_tf.errors import UserError


def require_job(values, jobs):
    """Refuses flags (dict, by name) with none of the switches `jobs` on."""
    if not any(values[job] for job in jobs):
        *others, last = [f"--{job}" for job in jobs]
        raise UserError(f"Give at least one of {', '.join(others)} and {last}.")


def check_pairs(values, *, needs=(), idle_without=()):
    """Refuses a flag without the one that it goes with.

    Args:
      values: dict, flag -> value.
      needs: iterable of pairs of str: a flag, and one that it cannot do
        without.
      idle_without: the same: a flag, and one without which it would be passed
        over.
    """
    for pairs, words in (
        (needs, "needs"),
        (idle_without, "does nothing without"),
    ):
        for flag, other in pairs:
            if values[flag] and not values[other]:
                raise UserError(f"--{flag} {words} --{other}.")


def check_tpu(use_tpu, tpu_name, master):
    """Refuses --use_tpu without an address."""
    if use_tpu and not (tpu_name or master):
        raise UserError(
            "--use_tpu needs --tpu_name: the TPU's name, its grpc:// address, "
            "or `local` on a TPU VM."
        )


def count_steps(num_examples, *, num_train_epochs, train_batch_size):
    """Returns how many steps go through the examples; refuses none.

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
