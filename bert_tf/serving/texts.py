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
    if isinstance(text, str):
        pair = text, None
    elif _are_two_texts(text):
        pair = tuple(text)
    else:
        raise UserError(f"{text!r} is neither a text nor a pair of texts.")
    if is_pair is not None and is_pair != (pair[1] is not None):
        raise UserError(
            f"{text!r}: this model takes {_SHAPES[is_pair]}, not "
            f"{_SHAPES[not is_pair]}."
        )
    return pair


def _are_two_texts(value):
    return (
        isinstance(value, (tuple, list))
        and len(value) == 2
        and all(isinstance(part, str) for part in value)
    )


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
