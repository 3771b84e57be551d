"""2018's module of this name: the tokenizers and what belongs to a vocabulary.

Old code imports from here; the code itself is in `text`.
"""

from bert_tf.text.tokenization import (
    BasicTokenizer,
    FullTokenizer,
    WordpieceTokenizer,
    convert_to_unicode,
    printable_text,
    whitespace_tokenize,
)
from bert_tf.text.vocabulary import (
    convert_by_vocab,
    convert_ids_to_tokens,
    convert_tokens_to_ids,
    load_vocab,
    require_special_tokens,
    validate_case_matches_checkpoint,
    warn_if_case_mismatch,
)

__all__ = [
    "BasicTokenizer",
    "FullTokenizer",
    "WordpieceTokenizer",
    "convert_by_vocab",
    "convert_ids_to_tokens",
    "convert_to_unicode",
    "convert_tokens_to_ids",
    "load_vocab",
    "printable_text",
    "require_special_tokens",
    "validate_case_matches_checkpoint",
    "warn_if_case_mismatch",
    "whitespace_tokenize",
]
