"""A model that is loaded once and then takes texts."""

import os
import time
from typing import NamedTuple

import numpy as np
from absl import logging

from bert_tf.data.batching import padded, run_by_length
from bert_tf.errors import UserError
from bert_tf.serving.export_folder import (
    find_export,
    read_description,
    require_texts,
)
from bert_tf.tasks import predictions
from bert_tf.tasks.labels import REGRESSION, Labels, read_labels
from bert_tf.text import packing
from bert_tf.weights import model_folder


class Prediction(NamedTuple):
    """What a classifier says of a text or pair.

    `label`: str; of several labels at once all that are likely, with commas
    between; of a regression the number. `probabilities`: dict, label -> float.
    """

    label: str
    probabilities: dict


class Answer(NamedTuple):
    """What is answered to a question.

    `text`: str, context[start:end]; or "" for no answer, and "empty" where a
    model of version 1 finds none, from 0 to 0. `probability`: float, of the
    text among the best. `null_probability`: float, of no answer.
    """

    text: str
    start: int
    end: int
    probability: float
    null_probability: float


class Filling(NamedTuple):
    """A piece that may stand in the place of a mask."""

    word: str
    probability: float


class Predictor:
    """A model that is loaded once and then takes texts.

        predictor = Predictor.from_export("out/export")
        predictor.predict(["A text.", "Another."])      a classifier
        predictor.predict([("A text.", "A second.")])
        predictor.answer(["Who?"], ["It was Ada."])     question answering
        predictor.fill_mask(["The [MASK] sat."])        a masked language model
        predictor.embed(["A text."], pooling="mean")    an encoder

    Each takes a list and returns a list in the same order. Inside, texts of
    like length run together, so that there is little padding.

    Raises:
      UserError: (by every method) the model is of another kind, or does not
        take such texts.
    """

    def __init__(self, signatures, description, vocab_file, label_names):
        """Stores its arguments; `from_export` and `from_checkpoint` make them.

        Args:
          signatures: dict, name -> function, see `serving.loading.as_arrays`.
          description: dict, see serving.servable.ServedModel; an attribute.
          vocab_file: str.
          label_names: tuple of str, of a classifier.
        """
        self._signatures = signatures
        self.description = description
        self._labels = Labels(description.get("label_kind"), label_names)
        if self._labels.kind not in (None, REGRESSION) and not label_names:
            raise UserError(f"There is no labels.txt beside {vocab_file}.")
        self._tokenizer = packing.new_tokenizer(
            vocab_file, description["do_lower_case"]
        )
        self._special_ids = self._tokenizer.convert_tokens_to_ids(
            ["[CLS]", "[SEP]"]
        )

    @classmethod
    def from_export(cls, path):
        """Loads a SavedModel that this project exported.

        Args:
          path: str, its folder, or the folder of the numbered ones, of which
            the last is taken.
        """
        began = time.monotonic()
        path = find_export(path)
        assets = os.path.join(path, "assets")
        description = read_description(path)
        from bert_tf.serving import loading  # It imports TensorFlow.

        predictor = cls(
            loading.open_export(path),
            description,
            os.path.join(assets, model_folder.VOCAB_FILE),
            read_labels(assets) or (),
        )
        _log(description["kind"], path, began)
        return predictor

    @classmethod
    def from_checkpoint(cls, path, task, **given):
        """Loads a checkpoint, and what lies beside it.

        Args:
          path: str, a folder or a checkpoint in it.
          task: str, what it is for, see `serving.loading.KINDS`.
          given: see `serving.loading.open_served`.
        """
        began = time.monotonic()
        from bert_tf.serving import loading  # It imports TensorFlow.

        served = loading.open_served(task, path, **given)
        require_texts(served.description(), path)
        labels = getattr(served, "labels", None)
        predictor = cls(
            {
                name: loading.as_arrays(function)
                for name, function in served.signatures().items()
            },
            served.description(),
            served.vocab_file,
            labels.names if labels else (),
        )
        _log(task, path, began)
        return predictor

    @property
    def kind(self):
        """str, what the model is: one of `serving.loading.KINDS`."""
        return self.description["kind"]

    def predict(self, texts):
        """Classifies texts (list of str, or of pairs of str).

        Returns:
          list of Prediction.
        """
        self._require("classifier", "predict")
        is_pair = self.description["is_pair"]
        pairs = [_as_pair(text, is_pair) for text in _as_list(texts)]
        is_regression = self._labels.kind == REGRESSION
        name = "values" if is_regression else "probabilities"
        rows = self._run_packed([self.pack(*pair) for pair in pairs], name)
        values = np.reshape(rows, [len(pairs), self._labels.num_outputs])
        labels = predictions.predicted_labels(values, self._labels)
        return [
            Prediction(label, dict(zip(self._labels.names, row.tolist())))
            for label, row in zip(labels, values, strict=True)
        ]

    def answer(self, questions, contexts):
        """Answers questions (list of str) from as many contexts (list of str).

        Returns:
          list of Answer.
        """
        self._require("question_answering", "answer")
        questions, contexts = _as_texts(questions), _as_texts(contexts)
        if len(questions) != len(contexts):
            raise UserError(
                f"{len(questions)} questions, but {len(contexts)} contexts: "
                "give as many."
            )
        rows = self._run_texts(question=questions, context=contexts)
        return [
            Answer(
                text=row["answer"].decode(),
                start=int(row["start_char"]),
                end=int(row["end_char"]),
                probability=float(row["probability"]),
                null_probability=float(row["null_probability"]),
            )
            for row in rows
        ]

    def fill_mask(self, texts):
        """Tells what may stand in the place of each [MASK].

        Args:
          texts: list of str.

        Returns:
          list, for each text a list, for each of its masks a list of Filling,
          the most probable first.
        """
        self._require("masked_lm", "fill_mask")
        return [
            [
                [
                    Filling(word.decode(), float(probability))
                    for word, probability in zip(*mask)
                ]
                for mask in zip(row["words"], row["probabilities"])
                if mask[1][0]
            ]
            for row in self._run_texts(text=_as_texts(texts))
        ]

    def embed(self, texts, pooling="mean"):
        """Makes a vector of each text.

        Args:
          texts: list of str, or of pairs of str.
          pooling: str, "mean" or "cls", see `encoder_vectors.pool`.

        Returns:
          float32 np.ndarray [len(texts), hidden_size].
        """
        # It imports TensorFlow.
        from bert_tf.extraction.encoder_vectors import pool, require_pooling

        self._require("encoder", "embed")
        packed = [self.pack(*_as_pair(text)) for text in _as_list(texts)]
        require_pooling(pooling)
        rows = self._run_packed(
            packed,
            "sequence_output",
            lambda vectors, mask: pool(vectors, mask, pooling),
        )
        size = self.description["hidden_size"]
        return np.reshape(rows, [len(packed), size]).astype(np.float32)

    def _require(self, kind, method):
        if self.kind != kind:
            raise UserError(
                f"`{method}` is for a model of the kind {kind!r}; this one is "
                f"of the kind {self.kind!r}."
            )

    def signature(self, name):
        """Returns a function (see __init__) of the model by its name (str)."""
        return self._signatures[name]

    def pack(self, text_a, text_b=None):
        """Returns the pieces (list of int), and how many are segment 0."""
        to_ids = self._tokenizer.tokenize_to_ids
        ids, num_first, _ = packing.pack(
            to_ids(text_a),
            to_ids(text_b) if text_b else [],
            self.description["max_seq_length"],
            self._special_ids,
        )
        return ids, num_first

    def _run_packed(self, packed, name, reduce=None):
        """Runs what `pack` returned; returns the rows of an output (name, str).

        `reduce`: function of the output [B, S, ...] and input_mask [B, S], by
        which the rows are made; or None.
        """
        call = self._signatures["serving_default"]
        names = self.description["input_names"]

        def run(batch):
            inputs = padded(batch)
            values = call(**dict(zip(names, inputs)))[name]
            return np.asarray(reduce(values, inputs[1])) if reduce else values

        return run_by_length(packed, [len(ids) for ids, _ in packed], run)

    def _run_texts(self, **texts):
        """Runs texts: an input's name -> list of str.

        Returns a list of dict, an output's name -> np.ndarray, in order.
        """
        call = self._signatures["serving_text"]

        def run(batch):
            # JSON may hold half of a surrogate pair, which is left out.
            columns = zip(
                *([t.encode("utf-8", "ignore") for t in row] for row in batch)
            )
            arrays = call(**dict(zip(texts, columns)))
            return [dict(zip(arrays, row)) for row in zip(*arrays.values())]

        rows = list(zip(*texts.values()))
        return run_by_length(rows, [sum(map(len, row)) for row in rows], run)


def _log(kind, path, began):
    seconds = time.monotonic() - began
    logging.info("Loaded %s from %s in %.1f s.", kind, path, seconds)


def _as_pair(text, is_pair=None):
    """Returns a text or a pair as a pair, the second None for a text.

    `is_pair`: bool, which of both is wanted; None for any.
    """
    if isinstance(text, str):
        pair = text, None
    elif (
        isinstance(text, (tuple, list))
        and len(text) == 2
        and all(isinstance(part, str) for part in text)
    ):
        pair = tuple(text)
    else:
        raise UserError(f"{text!r} is neither a text nor a pair of texts.")
    if is_pair is not None and is_pair != (pair[1] is not None):
        shapes = {False: "single texts", True: "pairs of texts"}
        raise UserError(
            f"{text!r}: this model takes {shapes[is_pair]}, not "
            f"{shapes[not is_pair]}."
        )
    return pair


def _as_texts(texts):
    """Returns a list of str; refuses all else."""
    texts = _as_list(texts)
    for text in texts:
        if not isinstance(text, str):
            raise UserError(f"{text!r} is no text.")
    return texts


def _as_list(texts):
    """Returns a list of what is given, unless that is one str."""
    if isinstance(texts, str):
        raise UserError(
            f"{texts!r} is one text; give a list of them, as [{texts!r}]."
        )
    return list(texts)
