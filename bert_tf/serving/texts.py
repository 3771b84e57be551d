"""What may be given for texts."""

from bert_tf.errors import UserError

_SHAPES = {False: "single texts", True: "pairs of texts"}


def as_pair(text, is_pair=None):
    """Returns a text, or a pair of texts, as a pair.

    Args:
      text: str, or two str.
      is_pair: bool, which of both is wanted; None for any.

    Returns:
      pair of str; the second is None for a text.

    Raises:
      UserError: it is neither, or not what is wanted.
    """
    pair = (text, None) if isinstance(text, str) else text
    if pair is text and not (
        isinstance(pair, (tuple, list))
        and len(pair) == 2
        and all(isinstance(part, str) for part in pair)
    ):
        raise UserError(f"{text!r} is neither a text nor a pair of texts.")
    if is_pair is not None and is_pair != (pair[1] is not None):
        raise UserError(
            f"{text!r}: this model takes {_SHAPES[is_pair]}, not "
            f"{_SHAPES[not is_pair]}."
        )
    return tuple(pair)


def as_texts(texts):
    """Returns a list of str; refuses all else."""
    for text in as_list(texts):
        if not isinstance(text, str):
            raise UserError(f"{text!r} is no text.")
    return list(texts)


def as_list(texts):
    """Returns a list of what is given, unless that is one str."""
    if isinstance(texts, str):
        raise UserError(
            f"{texts!r} is one text; give a list of them, as [{texts!r}]."
        )
    return list(texts)
