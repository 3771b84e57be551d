"""Pieces a second: FullTokenizer against a plain tokenizer, in one process.

    python -m benchmarks.tokenization_benchmark \
        --vocab_file=vocab.txt --text_file=novel.txt [--runs=5] [--cased]

Run it in the project's folder. All take the text line by line, in turn,
`--runs` times. Printed are the medians of pieces per second of processor time,
and the ratio to the first row. It stops if one piece differs.

  plain     `PlainTokenizer` below: character by character and without memory,
            the amount of work that the 2018 tokenizer does
  uncached  BasicTokenizer, then WordpieceTokenizer
  cold      a new FullTokenizer, `tokenize`: its memory fills as it goes
  warm      the same one again
  ids       another new FullTokenizer, `tokenize_to_ids`

Nothing but Python is needed: no TensorFlow, no other package.
"""

import argparse
import gzip
import statistics
import sys
import time
import unicodedata

from bert_tf.text import tokenization


class PlainTokenizer:
    """Does what FullTokenizer does in the plainest way: the yardstick."""

    def __init__(self, vocab, do_lower_case=True):
        """Takes `vocab` (dict, piece -> id) and the letter case."""
        self.vocab = vocab
        self.do_lower_case = do_lower_case

    def tokenize(self, text):
        """Returns the pieces (list of str) of `text` (str)."""
        text = self._space_ideographs(self._clean(text))
        words = []
        for word in text.split():
            if self.do_lower_case:
                word = self._drop_accents(word.lower())
            words.extend(self._split_at_punctuation(word))
        pieces = []
        for word in " ".join(words).split():
            pieces.extend(self._split_word(word))
        return pieces

    def _clean(self, text):
        kept = []
        for char in text:
            if ord(char) in (0, 0xFFFD) or self._is_control(char):
                continue
            kept.append(" " if self._is_space(char) else char)
        return "".join(kept)

    def _is_control(self, char):
        if char in ("\t", "\n", "\r"):
            return False
        return unicodedata.category(char) in ("Cc", "Cf")

    def _is_space(self, char):
        if char in (" ", "\t", "\n", "\r"):
            return True
        return unicodedata.category(char) == "Zs"

    def _space_ideographs(self, text):
        spaced = []
        for char in text:
            if self._is_ideograph(ord(char)):
                spaced += [" ", char, " "]
            else:
                spaced.append(char)
        return "".join(spaced)

    def _is_ideograph(self, code):
        return (
            0x4E00 <= code <= 0x9FFF
            or 0x3400 <= code <= 0x4DBF
            or 0x20000 <= code <= 0x2A6DF
            or 0x2A700 <= code <= 0x2B73F
            or 0x2B740 <= code <= 0x2B81F
            or 0x2B820 <= code <= 0x2CEAF
            or 0xF900 <= code <= 0xFAFF
            or 0x2F800 <= code <= 0x2FA1F
        )

    def _drop_accents(self, word):
        kept = []
        for char in unicodedata.normalize("NFD", word):
            if unicodedata.category(char) != "Mn":
                kept.append(char)
        return "".join(kept)

    def _split_at_punctuation(self, word):
        parts = []
        in_word = False
        for char in word:
            if self._is_punctuation(char):
                parts.append([char])
                in_word = False
            elif in_word:
                parts[-1].append(char)
            else:
                parts.append([char])
                in_word = True
        return ["".join(part) for part in parts]

    def _is_punctuation(self, char):
        code = ord(char)
        if 33 <= code <= 47 or 58 <= code <= 64:
            return True
        if 91 <= code <= 96 or 123 <= code <= 126:
            return True
        return unicodedata.category(char).startswith("P")

    def _split_word(self, word):
        chars = list(word)
        if len(chars) > 200:
            return ["[UNK]"]
        pieces = []
        start = 0
        while start < len(chars):
            end = len(chars)
            found = None
            while start < end:
                piece = "".join(chars[start:end])
                if start > 0:
                    piece = "##" + piece
                if piece in self.vocab:
                    found = piece
                    break
                end -= 1
            if found is None:
                return ["[UNK]"]
            pieces.append(found)
            start = end
        return pieces


def _seconds(tokenize, lines):
    """Returns the seconds that all lines take, and all pieces."""
    begin = time.process_time()
    pieces = [tokenize(line) for line in lines]
    return time.process_time() - begin, pieces


def _one_round(vocab_file, lines, do_lower_case):
    """Times each contender once; returns {name: seconds} and the pieces."""
    full = tokenization.FullTokenizer(vocab_file, do_lower_case)
    for_ids = tokenization.FullTokenizer(vocab_file, do_lower_case)
    basic, wordpiece = full.basic_tokenizer, full.wordpiece_tokenizer

    def uncached(line):
        return [
            piece
            for word in basic.tokenize(line)
            for piece in wordpiece.tokenize(word)
        ]

    plain = PlainTokenizer(full.vocab, do_lower_case)
    seconds = {}
    seconds["plain"], expected = _seconds(plain.tokenize, lines)
    for name, tokenize in (
        ("uncached", uncached),
        ("cold", full.tokenize),
        ("warm", full.tokenize),
    ):
        seconds[name], pieces = _seconds(tokenize, lines)
        _require_same(name, pieces, expected, lines)
    seconds["ids"], ids = _seconds(for_ids.tokenize_to_ids, lines)
    pieces = [for_ids.convert_ids_to_tokens(line_ids) for line_ids in ids]
    _require_same("ids", pieces, expected, lines)
    return seconds, sum(map(len, expected))


def _require_same(name, pieces, expected, lines):
    for line, got, wanted in zip(lines, pieces, expected):
        if got != wanted:
            sys.exit(f"{name} differs on {line!r}:\n{got}\n{wanted}")


def _read_lines(text_file):
    opener = gzip.open if text_file.endswith(".gz") else open
    with opener(text_file, "rt", encoding="utf-8", newline="\n") as stream:
        return list(stream)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vocab_file", required=True)
    parser.add_argument("--text_file", required=True, help="UTF-8, or its .gz")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cased", action="store_true", help="keep the case")
    args = parser.parse_args()
    lines = _read_lines(args.text_file)
    rounds = []
    for _ in range(args.runs):
        seconds, pieces = _one_round(args.vocab_file, lines, not args.cased)
        rounds.append(seconds)
    print(f"{len(lines)} lines, {pieces} pieces, {args.runs} runs, medians")
    plain = statistics.median(run["plain"] for run in rounds)
    for name in rounds[0]:
        median = statistics.median(run[name] for run in rounds)
        print(
            f"{name:10}{pieces / median:12,.0f} pieces/s{plain / median:8.2f}x"
        )


if __name__ == "__main__":
    main()
