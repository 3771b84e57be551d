"""The work of run_squad.py: records in, answers and scores out.

B batch, S max_seq_length, W windows
"""

import dataclasses
import functools
import hashlib
import itertools
import json
import os
import tempfile
from typing import NamedTuple

import numpy as np
from absl import logging

from bert_tf.cli.fine_tuning import FineTuningRun
from bert_tf.errors import UserError
from bert_tf.squad import scores
from bert_tf.squad.answers import AnswerWriter
from bert_tf.squad.converter import FIRST_UNIQUE_ID, Conversion, write_records
from bert_tf.storage.results import write_results
from bert_tf.training.question_answering import SquadJob

# Answers are chosen for this many windows at a time.
_WINDOWS_AT_A_TIME = 512


@dataclasses.dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """How logits become answers.

    `n_best_size`, `max_answer_length`: int. `version_2_with_negative`: bool,
    whether no answer is one. `null_score_diff_threshold`: float, or
    scores.AUTO for the one with the best F1. `output_answer_offsets`: bool.
    """

    n_best_size: int = 20
    max_answer_length: int = 30
    version_2_with_negative: bool = False
    null_score_diff_threshold: float | str = 0.0
    output_answer_offsets: bool = False


class _Answered(NamedTuple):
    """What came of answering: texts, scores if any, files, the threshold."""

    predictions: dict
    results: dict | None
    paths: list
    threshold: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class SquadRun(FineTuningRun):
    """Trains and answers questions.

    The names of files are those of 2018. `fills_batches`: bool, whether the
    last batch is filled up with padding, as a TPU wants it.

    Raises:
      UserError: (by every method) records or checkpoints that do not fit, or
        files that cannot be written.
    """

    best_by = "f1"

    job: SquadJob
    conversion: Conversion
    options: AnswerOptions
    fills_batches: bool = False

    @classmethod
    def from_flags(cls, flags, inputs):
        """Returns the run that flags and squad_inputs.Inputs mean."""
        job = SquadJob.from_flags(
            flags, config=inputs.config, max_seq_length=flags.max_seq_length
        )
        job.check_head(to_train=flags.do_train)
        options = AnswerOptions(
            n_best_size=flags.n_best_size,
            max_answer_length=flags.max_answer_length,
            version_2_with_negative=flags.version_2_with_negative,
            null_score_diff_threshold=inputs.threshold,
            output_answer_offsets=flags.output_answer_offsets,
        )
        return cls(
            job=job,
            conversion=inputs.conversion,
            options=options,
            fills_batches=flags.use_tpu,
        )

    @functools.cached_property
    def _converter(self):
        return self.conversion.new_converter()

    def training_records(self, examples):
        """See FineTuningRun."""
        path = os.path.join(self.job.output_dir, "train.tf_record")
        records = self._converter.training_records(examples)
        _log_records(path, write_records(path, records), examples)
        return self.job.records(path, is_training=True)

    def digest(self, inputs):
        """See FineTuningRun."""
        told_by = [
            inputs.dataset,
            dataclasses.asdict(self.conversion),
            dataclasses.asdict(self.options),
        ]
        return hashlib.sha256(json.dumps(told_by).encode()).hexdigest()

    def new_evaluation(self, flags, inputs):
        """See FineTuningRun."""
        records = self._prepare(inputs.predict, flags.predict_batch_size)

        def evaluate():
            # What is predicted by the way must not pass for the result.
            with tempfile.TemporaryDirectory() as folder:
                return self._answer(
                    inputs, records, flags.predict_batch_size, folder
                ).results

        return evaluate

    def predict(self, inputs, batch_size):
        """Writes the files of predictions and, if they can be had, scores.

        Returns the threshold of no answer (float): the option's, or the best.
        """
        folder = self.job.output_dir
        records = self._prepare(inputs.predict, batch_size)
        answered = self._answer(inputs, records, batch_size, folder)
        logging.info(
            "Wrote %s: predictions for %s of %s questions.",
            ", ".join(answered.paths),
            f"{len(answered.predictions):,}",
            f"{len(inputs.predict):,}",
        )
        if answered.results is not None:
            path = os.path.join(folder, "eval_results.txt")
            step = {"global_step": self.job.global_step()}
            write_results(path, {**answered.results, **step})
        return answered.threshold

    def export(self, flags, threshold):
        """Writes a SavedModel, as the flags say.

        Args:
          flags: FlagValues of the script.
          threshold: float, what `predict` returned.
        """
        from bert_tf.serving import export
        from bert_tf.serving.question_answering import QuestionAnswering

        served = QuestionAnswering(
            export.trained_model(self.job),
            self.job.config,
            vocab_file=self.conversion.vocab_file,
            do_lower_case=self.conversion.do_lower_case,
            max_seq_length=self.conversion.max_seq_length,
            max_query_length=self.conversion.max_query_length,
            doc_stride=self.conversion.doc_stride,
            n_best_size=self.options.n_best_size,
            max_answer_length=self.options.max_answer_length,
            version_2_with_negative=self.options.version_2_with_negative,
            null_score_diff_threshold=threshold,
        )
        export.export(served, flags.export_dir, verify=flags.verify_export)

    def _answer(self, inputs, records, batch_size, folder):
        """Answers the questions of `inputs`, into files of a folder (str)."""
        options = self.options
        writer = AnswerWriter(
            folder,
            n_best_size=options.n_best_size,
            max_answer_length=options.max_answer_length,
            do_lower_case=self.conversion.do_lower_case,
            version_2_with_negative=options.version_2_with_negative,
        )
        with writer:
            questions = self._converter.questions(inputs.predict)
            logits = self._logits(records, batch_size)
            for chunk in group_by_question(questions, logits):
                writer.add(*chunk)
        thresholds = {}
        if inputs.dataset is not None and options.version_2_with_negative:
            thresholds = scores.score_thresholds(
                inputs.dataset, writer.best_texts, writer.null_odds
            )
        threshold = options.null_score_diff_threshold
        if threshold == scores.AUTO:
            threshold = scores.find_best_threshold(
                inputs.dataset, thresholds, writer.null_odds
            )
            logging.info(
                "--null_score_diff_threshold=%r gives the best F1.", threshold
            )
        predictions, paths = writer.finish(
            null_score_diff_threshold=threshold,
            answer_offsets=options.output_answer_offsets,
        )
        results = None
        if inputs.dataset is not None:
            results = scores.score(
                inputs.dataset,
                predictions,
                version_2_with_negative=options.version_2_with_negative,
            )
            results |= thresholds
        return _Answered(predictions, results, paths, threshold)

    def _prepare(self, examples, batch_size):
        """Makes the records; returns their path, or None if there is none."""
        converter = self._converter
        path = os.path.join(self.job.output_dir, "eval.tf_record")
        num_records = write_records(
            path,
            converter.prediction_records(examples),
            padding=converter.padding_record() if self.fills_batches else None,
            batch_size=batch_size,
        )
        _log_records(path, num_records, examples)
        return path if num_records else None

    def _logits(self, records, batch_size):
        with self.job.strategy.scope():
            self.job.ready_model()
        # Contexts without a word have no records.
        return self.job.logits(records, batch_size) if records else ()


def _log_records(path, num_records, examples):
    logging.info(
        "%s has the %s windows of %s questions.",
        os.path.basename(path),
        f"{num_records:,}",
        f"{len(examples):,}",
    )


def group_by_question(questions, batches):
    """Brings questions and their windows' logits together.

    Args:
      questions: iterable of windows.Question.
      batches: iterable of (unique_ids [B], start_logits [B, S], end_logits
        [B, S]), np.ndarray, the windows of all questions in order.

    Yields:
      triple: list of Question; start_logits and end_logits [W, S].

    Raises:
      UserError: there are fewer or other windows than the questions have.
    """
    windows = itertools.chain.from_iterable(zip(*batch) for batch in batches)
    first_id = FIRST_UNIQUE_ID
    for chunk in _chunks(questions):
        count = sum(len(question.windows) for question in chunk)
        yield chunk, *_take(windows, count, first_id)
        first_id += count


def _chunks(questions):
    """Yields lists of questions, each of about _WINDOWS_AT_A_TIME windows."""
    chunk, count = [], 0
    for question in questions:
        chunk.append(question)
        count += len(question.windows)
        if count >= _WINDOWS_AT_A_TIME:
            yield chunk
            chunk, count = [], 0
    if chunk:
        yield chunk


def _take(windows, count, first_id):
    """Takes the next `count` windows; returns start and end logits [W, S]."""
    taken = list(itertools.islice(windows, count))
    if [i for i, *_ in taken] != list(range(first_id, first_id + count)):
        raise UserError(_CHANGED_RECORDS)
    if not taken:
        return np.zeros([2, 0, 1], np.float32)
    _, start_logits, end_logits = zip(*taken)
    return np.stack(start_logits), np.stack(end_logits)


_CHANGED_RECORDS = (
    "eval.tf_record in --output_dir does not hold the windows that were just "
    "written there: another run writes in the same folder. Give each run its "
    "own --output_dir."
)
