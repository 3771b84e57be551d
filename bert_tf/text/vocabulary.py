"""The vocabulary: its file, pieces <-> ids, and whether its case fits.

The 2018 names among these are in `bert_tf.tokenization` as well, where 2018 had
them.
"""

import codecs
import collections
import logging
import re

from bert_tf.errors import UserError
from bert_tf.storage.files import read_bytes

# The folders of the 2018 releases: the first models, those with whole-word
# masking ("wwm"), and the 24 small sizes.
_UNCASED_RELEASES = frozenset(
    {
        "uncased_L-24_H-1024_A-16",
        "wwm_uncased_L-24_H-1024_A-16",
        "multilingual_L-12_H-768_A-12",
        "chinese_L-12_H-768_A-12",
    }
    | {
        f"uncased_L-{layers}_H-{size}_A-{size // 64}"
        for layers in (2, 4, 6, 8, 10, 12)
        for size in (128, 256, 512, 768)
    }
)
_CASED_RELEASES = frozenset(
    {
        "cased_L-12_H-768_A-12",
        "cased_L-24_H-1024_A-16",
        "wwm_cased_L-24_H-1024_A-16",
        "multi_cased_L-12_H-768_A-12",
    }
)
# The folder of a path to bert_model.ckpt (with any suffix), or a path's last
# name. Windows separators count on every system.
_RELEASE_FOLDER = re.compile(
    r"([A-Za-z0-9_-]+)[/\\]*(?:[/\\]bert_model\.ckpt.*)?$"
)


def load_vocab(vocab_file):
    """Reads a vocabulary: one piece a line, its id the line's number from 0.

    Lines end at LF only, whatever other separators of Unicode they hold. White
    space around a piece is cut off. A blank line counts. If a piece stands
    twice, the later line gives its id.

    Returns:
      OrderedDict, piece (str) -> id (int), in the order of the file.

    Raises:
      UserError: it cannot be read, is empty, or a line is not UTF-8 text; the
        message names the file, and the line.

    Source: `load_vocab` in tokenization.py (2018), which met bad files with a
      bare decode error. New: a byte-order mark is left out, with a warning.
    """
    content = read_bytes(vocab_file)
    if content.startswith(codecs.BOM_UTF8):
        logging.getLogger("absl").warning(
            "%s begins with a byte-order mark. It is ignored; save the file as "
            "UTF-8 without one to be rid of this warning.",
            vocab_file,
        )
        content = content[len(codecs.BOM_UTF8) :]
    if not content:
        raise UserError(
            f"{vocab_file} is empty; a vocabulary holds one piece a line."
        )
    # What follows the last LF is a line only if there is anything in it.
    lines = content.removesuffix(b"\n").split(b"\n")
    vocab = collections.OrderedDict()
    for piece_id, line in enumerate(lines):
        vocab[_decode_piece(line, vocab_file, piece_id + 1)] = piece_id
    return vocab


def _decode_piece(line, vocab_file, line_number):
    fault = None
    try:
        piece = line.decode("utf-8")
        # No text can hold this after clean-up, but UTF-16 and binary files do.
        if "\0" in piece:
            fault = "a NUL byte, so this is no UTF-8 text"
    except UnicodeDecodeError as error:
        fault = f"not UTF-8 (byte 0x{line[error.start]:02X})"
    if fault:
        raise UserError(
            f"{vocab_file}, line {line_number}: {fault}. A vocabulary is a "
            "text file in UTF-8, one piece a line."
        )
    return piece.strip()


def require_special_tokens(vocab, vocab_file, tokens):
    """Checks that the vocabulary has the tokens a job cannot do without.

    `tokens` are such as ("[UNK]", "[CLS]", "[SEP]").

    Raises:
      UserError: some are missing; all of these, and `vocab_file`, are named.

    Source: new; 2018 ended with a bare KeyError at the token's first use.
    """
    missing = [token for token in tokens if token not in vocab]
    if missing:
        raise UserError(
            f"{vocab_file} has {len(vocab)} pieces, but not "
            f"{', '.join(missing)}; each must stand on a line of its own, in "
            "these letters. Use the vocab.txt that came with the model."
        )


def convert_by_vocab(vocab, items):
    """Lists what a dict, piece -> id or id -> piece, has for each of `items`.

    Raises:
      KeyError: an item is not in it; the message names it.

    Source: `convert_by_vocab` in tokenization.py (2018).
    """
    try:
        return [vocab[item] for item in items]
    except KeyError as error:
        raise KeyError(
            f"{error.args[0]!r} is not in the vocabulary, which has "
            f"{len(vocab)} entries."
        ) from error


def convert_tokens_to_ids(vocab, tokens):
    """Returns the ids (list of int) of `tokens`; see `convert_by_vocab`."""
    return convert_by_vocab(vocab, tokens)


def convert_ids_to_tokens(inv_vocab, ids):
    """Returns the pieces (list of str) of `ids`; see `convert_by_vocab`."""
    return convert_by_vocab(inv_vocab, ids)


def validate_case_matches_checkpoint(do_lower_case, init_checkpoint):
    """Checks --do_lower_case against a model that the release made known.

    `init_checkpoint` is that flag: a path such as
    "uncased_L-12_H-768_A-12/bert_model.ckpt". Only its words are looked at.

    Raises:
      UserError: it is a release of the other letter case.

    Source: `validate_case_matches_checkpoint` in tokenization.py (2018). New:
      the whole-word-masking and the small models, and Windows separators. For
      other names there is `warn_if_case_mismatch`.
    """
    match = _RELEASE_FOLDER.search(str(init_checkpoint or ""))
    name = match.group(1) if match else ""
    releases = _CASED_RELEASES if do_lower_case else _UNCASED_RELEASES
    if name in releases:
        kind = "keeps upper case" if do_lower_case else "is lower-cased"
        raise UserError(
            f"--do_lower_case is {str(bool(do_lower_case)).lower()}, but "
            f"--init_checkpoint={init_checkpoint} is the released model "
            f"{name}, whose vocabulary {kind}. Set --do_lower_case="
            f"{str(not do_lower_case).lower()}."
        )


def warn_if_case_mismatch(vocab, do_lower_case):
    """Warns in the log if the vocabulary looks made for the other letter case.

    Either it holds upper-case pieces, which lower-cased text never gives, or
    only lower-case ones, so that words with a capital become unknown. Tokens
    in brackets, such as [CLS], and scripts without letter case do not count.

    Source: new.
    """
    upper = upper_case_pieces(vocab)
    has_lower = any(p != p.upper() for p in vocab if not _is_bracketed(p))
    if do_lower_case and upper:
        logging.getLogger("absl").warning(
            "--do_lower_case is true, but %d pieces of the vocabulary hold "
            "upper-case letters (%s, ...) and can never be found. For a cased "
            "model set --do_lower_case=false.",
            len(upper),
            upper[0],
        )
    elif not do_lower_case and not upper and has_lower:
        logging.getLogger("absl").warning(
            "--do_lower_case is false, but no piece of the vocabulary holds an "
            "upper-case letter, so words with one become unknown. For an "
            "uncased model set --do_lower_case=true."
        )


def upper_case_pieces(vocab):
    """Lists the pieces (str) with upper-case letters, [CLS] and such apart."""
    return [
        piece
        for piece in vocab
        if not _is_bracketed(piece) and piece != piece.lower()
    ]


def _is_bracketed(piece):
    return (piece[:1] + piece[-1:]) in ("[]", "<>")
