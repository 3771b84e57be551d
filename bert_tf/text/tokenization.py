"""Text to word pieces and ids, piece for piece as the 2018 release does it.

Reading order: `BasicTokenizer` (text to words), `WordpieceTokenizer` (words to
pieces), `FullTokenizer` (both, with a memory for what recurs).
The running Python's `unicodedata` says what a character is.
"""

import itertools
import re
import unicodedata

from bert_tf.text.vocabulary import convert_by_vocab, load_vocab

# FullTokenizer remembers this many chunks (text between white space), none
# longer than this. In prose nearly all chunks are shorter; a longer one is
# tokenized each time. Full of prose: 16 MB as pieces, 10 MB as ids.
MAX_CACHED_CHUNKS = 1 << 16
MAX_CACHED_CHUNK_LENGTH = 64

# The ideograph blocks of 2018. Hangul, Hiragana and Katakana are not among
# them: those scripts are split like any other.
_IDEOGRAPHS = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b820-\U0002ceaf\U0002f800-\U0002fa1f"
)
_IDEOGRAPH = re.compile(f"[{_IDEOGRAPHS}]")
_CHUNK = re.compile(f"[{_IDEOGRAPHS}]|[^\\s{_IDEOGRAPHS}]+")

# str.split() and \s split at these. The clean-up removes them, which joins the
# text on their two sides.
_REMOVED_BUT_SPLIT_AT = re.compile("[\x0b\x0c\x1c-\x1f\x85]")

# The words and the punctuation of a text of printable ASCII.
_ASCII_WORD = re.compile(r"[0-9A-Za-z]+|[!-/:-@\[-`{-~]")


def convert_to_unicode(text):
    """Returns str as it is, and bytes decoded; bytes that are not UTF-8 vanish.

    Raises:
      ValueError: `text` is neither.

    Source: `convert_to_unicode` in tokenization.py (2018), on Python 3.
    """
    if isinstance(text, str):
        return text
    if isinstance(text, bytes):
        return text.decode("utf-8", "ignore")
    raise ValueError(
        f"Text must be str or bytes, not {type(text).__name__} ({text!r})."
    )


def printable_text(text):
    """As `convert_to_unicode`: on Python 3 `print` takes any str.

    Source: `printable_text` in tokenization.py (2018).
    """
    return convert_to_unicode(text)


def whitespace_tokenize(text):
    """Splits str `text` at white space; returns a list of str, none empty."""
    return text.split()


class _CharacterTable(dict):
    """What a rule makes of each character, in the form `str.translate` takes.

    The rule (one character -> str) is asked when a character first turns up.
    Beyond the 65,536 of the first plane it is asked each time, which bounds
    the table.
    """

    def __init__(self, rule):
        super().__init__()
        self._rule = rule

    def __missing__(self, code_point):
        replacement = self._rule(chr(code_point))
        if code_point < 0x10000:
            self[code_point] = replacement
        return replacement


def _clean(char):
    """White space becomes a blank, a control nothing, ideographs stand alone.

    Source: `_clean_text` and `_tokenize_chinese_chars` of `BasicTokenizer`,
      `_is_whitespace` and `_is_control` in tokenization.py (2018). Tab, LF and
      CR are white space; all other controls and formats (zero-width ones too)
      vanish, and so do NUL and the replacement character. Private and
      unassigned characters stay.
    """
    if char in "\t\n\r":
        return " "
    category = unicodedata.category(char)
    if category == "Zs":
        return " "
    if category in ("Cc", "Cf") or char == "\ufffd":
        return ""
    return f" {char} " if _IDEOGRAPH.match(char) else char


def _set_punctuation_apart(char):
    """Puts blanks around punctuation.

    Source: `_run_split_on_punc` of `BasicTokenizer` and `_is_punctuation` in
      tokenization.py (2018): every ASCII character that is neither letter,
      digit, blank nor control counts, "$" and "^" as well; beyond ASCII the
      categories P*.
    """
    is_ascii_symbol = "!" <= char <= "~" and not char.isalnum()
    if is_ascii_symbol or unicodedata.category(char).startswith("P"):
        return f" {char} "
    return char


def _drop_accents_and_set_punctuation_apart(char):
    """As `_set_punctuation_apart`; a combining mark becomes nothing.

    Source: also `_run_strip_accents` of `BasicTokenizer` (2018).
    """
    if unicodedata.category(char) == "Mn":
        return ""
    return _set_punctuation_apart(char)


_CLEANED = _CharacterTable(_clean)
_CASED = _CharacterTable(_set_punctuation_apart)
_LOWERED = _CharacterTable(_drop_accents_and_set_punctuation_apart)


class BasicTokenizer:
    """Splits text into words, punctuation marks and single ideographs.

    `do_lower_case` (bool): whether to lower-case and to drop accents.

    Source: `BasicTokenizer` in tokenization.py (2018), which split at white
      space first and then went on word by word. No step looks across white
      space, so here the whole text takes each step at once.
    """

    def __init__(self, do_lower_case=True):
        self.do_lower_case = do_lower_case

    def tokenize(self, text):
        """Splits a text (str or UTF-8 bytes) into words (list of str)."""
        text = convert_to_unicode(text)
        if text.isascii() and text.isprintable():
            # Same result, at about twice the speed.
            text = text.lower() if self.do_lower_case else text
            return _ASCII_WORD.findall(text)
        return self.set_words_apart(text).split()

    def set_words_apart(self, text):
        """Returns `text` (str), its words changed and white space between."""
        text = text.translate(_CLEANED)
        if not self.do_lower_case:
            return text.translate(_CASED)
        # Canonical decomposition takes accents off their letters. It also
        # takes Hangul syllables apart, as in 2018.
        decomposed = unicodedata.normalize("NFD", text.lower())
        return decomposed.translate(_LOWERED)


class WordpieceTokenizer:
    """Splits words into the longest pieces of the vocabulary, left to right.

    Example: "unaffable" gives "un", "##aff", "##able", if these are in it.

    Args:
      vocab: dict or set of str, the pieces; those that continue a word begin
        with "##".
      unk_token: str, stands for a word that cannot be made of pieces.
      max_input_chars_per_word: int, a longer word is unknown as well.

    Source: `WordpieceTokenizer` in tokenization.py (2018).
    """

    def __init__(self, vocab, unk_token="[UNK]", max_input_chars_per_word=200):
        self.vocab = vocab
        self.unk_token = unk_token
        self.max_input_chars_per_word = max_input_chars_per_word

    def tokenize(self, text):
        """Splits words (str or bytes, white space between) into pieces."""
        pieces = []
        for word in whitespace_tokenize(convert_to_unicode(text)):
            pieces.extend(self._split_word(word))
        return pieces

    def _split_word(self, word):
        length, vocab = len(word), self.vocab
        if length > self.max_input_chars_per_word:
            return [self.unk_token]
        if word in vocab:
            return [word]
        pieces = []
        start, prefix = 0, ""
        while start < length:
            for end in range(length, start, -1):
                piece = prefix + word[start:end]
                if piece in vocab:
                    break
            else:
                return [self.unk_token]
            pieces.append(piece)
            start, prefix = end, "##"
        return pieces


class _ChunkCache(dict):
    """Remembers what `convert` makes of a chunk; bounded, see MAX_CACHED_*.

    Most chunks of prose recur. A full memory is emptied and fills again.
    Threads may share it: at worst two of them do the same work.
    """

    def __init__(self, convert):
        super().__init__()
        self._convert = convert

    def __missing__(self, chunk):
        converted = self._convert(chunk)
        if len(chunk) <= MAX_CACHED_CHUNK_LENGTH:
            if len(self) >= MAX_CACHED_CHUNKS:
                self.clear()
            self[chunk] = converted
        return converted


class FullTokenizer:
    """Text to pieces or ids, with a vocabulary file.

    Attributes: `vocab` (piece -> id), `inv_vocab` (id -> piece),
    `basic_tokenizer`, `wordpiece_tokenizer`. Change them, if at all, before
    the first text, since what became of a chunk is remembered.

    Args:
      vocab_file: str, a local or remote path; `load_vocab` says what it may
        raise.
      do_lower_case: bool, true for an uncased model.

    Source: `FullTokenizer` in tokenization.py (2018). New: the memory and
      `tokenize_to_ids`.
    """

    def __init__(self, vocab_file, do_lower_case=True):
        self.vocab = load_vocab(vocab_file)
        self.inv_vocab = {v: k for k, v in self.vocab.items()}
        self.basic_tokenizer = BasicTokenizer(do_lower_case=do_lower_case)
        self.wordpiece_tokenizer = WordpieceTokenizer(vocab=self.vocab)
        self._pieces_of_chunk = _ChunkCache(self._split_chunk)
        self._ids_of_chunk = _ChunkCache(self._convert_chunk)

    def tokenize(self, text):
        """Splits a text (str or UTF-8 bytes) into pieces (list of str)."""
        chunks = map(self._pieces_of_chunk.__getitem__, _split_raw(text))
        return list(itertools.chain.from_iterable(chunks))

    def tokenize_to_ids(self, text):
        """Splits a text into the ids (list of int) of its pieces.

        Raises:
          KeyError: a word is unknown and the vocabulary has no "[UNK]".
        """
        chunks = map(self._ids_of_chunk.__getitem__, _split_raw(text))
        return list(itertools.chain.from_iterable(chunks))

    def convert_tokens_to_ids(self, tokens):
        """Returns the pieces' ids (list of int); KeyError if one is unknown."""
        return convert_by_vocab(self.vocab, tokens)

    def convert_ids_to_tokens(self, ids):
        """Returns the ids' pieces (list of str); KeyError if one is unknown."""
        return convert_by_vocab(self.inv_vocab, ids)

    def _split_chunk(self, chunk):
        pieces = []
        for word in self.basic_tokenizer.tokenize(chunk):
            pieces.extend(self.wordpiece_tokenizer.tokenize(word))
        return tuple(pieces)

    def _convert_chunk(self, chunk):
        return tuple(self.convert_tokens_to_ids(self._split_chunk(chunk)))


def _split_raw(text):
    """Splits a text (str or bytes) into chunks that do not act on each other.

    They end where `BasicTokenizer` splits: at white space and ideographs.
    """
    text = _REMOVED_BUT_SPLIT_AT.sub("", convert_to_unicode(text))
    if not text.isascii() and _IDEOGRAPH.search(text):
        return _CHUNK.findall(text)
    return text.split()
