"""The file of the n best answers: byte for byte what json.dumps would give."""

import contextlib
from json.encoder import encode_basestring_ascii

from bert_tf.storage import files


def spell(entries, probabilities):
    """Spells a question's n best, see answers.n_best, as json.dumps(indent=4).

    Returns the value (str, ASCII) in the outermost object of the file.
    """
    # With `indent`, json itself takes several times as long.
    spelled = _SpelledNumbers()
    blocks = [
        f'            "text": {encode_basestring_ascii(text)},\n'
        f'            "probability": {probability!r},\n'
        f'            "start_logit": {spelled[start_logit]},\n'
        f'            "end_logit": {spelled[end_logit]}'
        for (text, start_logit, end_logit, _), probability in zip(
            entries, probabilities
        )
    ]
    inside = "\n        },\n        {\n".join(blocks)
    return f"[\n        {{\n{inside}\n        }}\n    ]"


class _SpelledNumbers(dict):
    """Float -> str: a question's best ends recur in many of its answers."""

    def __missing__(self, number):
        text = repr(number)
        # Not 0: 0 and -0 are equal, and so would be one key.
        if number:
            self[number] = text
        return text


class NBestFile:
    """A file of one JSON object that is written piecemeal.

    It appears under its name when the `with` block ends without an error. If an
    id comes again, the last entry is then put in the place of the first.
    """

    def __init__(self, path):
        """Stores `path` (str)."""
        self._path = path
        self._cleanup = contextlib.ExitStack()
        self._stream = None
        self._num_bytes = 0
        self._spans = {}
        self._later = {}

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            beside = stack.enter_context(files.replacing(self._path))
            with files.naming_failures(self._path, "written"):
                self._stream = stack.enter_context(
                    files.open_binary(beside, "wb")
                )
            # No error so far: now __exit__ has to clean up.
            self._cleanup = stack.pop_all()
        self._append("{")
        return self

    def __exit__(self, *exception):
        if exception[0] is not None:
            return self._cleanup.__exit__(*exception)
        with files.naming_failures(self._path, "written"), self._cleanup:
            self._append("\n}\n" if self._spans else "}\n")
        if self._later:
            self._put_in_place()
        return None

    def _append(self, text):
        with files.naming_failures(self._path, "written"):
            self._stream.write(text.encode("ascii"))
        self._num_bytes += len(text)

    def write(self, blocks):
        """Writes entries: pairs of an id and its value in JSON, str both."""
        texts, num_bytes = [], self._num_bytes
        for key, value in blocks:
            if key in self._spans:
                self._later[key] = value
                continue
            separator = "," if self._spans else ""
            name = f"{separator}\n    {encode_basestring_ascii(key)}: "
            start = num_bytes + len(name)
            num_bytes = start + len(value)
            self._spans[key] = start, num_bytes
            texts += [name, value]
        self._append("".join(texts))

    def _put_in_place(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(files.naming_failures(self._path, "written"))
            beside = stack.enter_context(files.replacing(self._path))
            source = stack.enter_context(files.open_binary(self._path))
            target = stack.enter_context(files.open_binary(beside, "wb"))
            # Ids stand in the file in the order of the dict.
            for key, (start, end) in self._spans.items():
                if key in self._later:
                    target.write(source.read(start - source.tell()))
                    target.write(self._later[key].encode("ascii"))
                    source.seek(end)
            target.write(source.read())
