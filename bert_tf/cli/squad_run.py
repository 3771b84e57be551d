"""The files of SQuAD: records in, answers and scores out.

B batch, S max_seq_length, W windows
"""

import dataclasses
import functools
import hashlib
import json
import os
import tempfile

import numpy as np
from absl import logging

from bert_tf.errors import UserError
from bert_tf.squad import scores
from bert_tf.squad.answers import AnswerWriter
from bert_tf.squad.converter import FIRST_UNIQUE_ID, Conversion, write_records
from bert_tf.storage.results import write_results
from bert_tf.training import question_answering
from bert_tf.training.best_weights import BEST_FOLDER
from bert_tf.weights import model_folder

# Answers are chosen for so many windows at a time.
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class SquadFiles:
    """Does a job on questions, in its output folder.

    The names of files are those of 2018.

    `job`: question_answering.Job. `conversion`: converter.Conversion.
    `options`: AnswerOptions. `fills_batches`: bool, whether the last batch is
    filled up with padding, as a TPU wants it.

    Raises:
      UserError: (by every method) records or checkpoints that do not fit, or
        files that cannot be written.
    """

    job: question_answering.Job
    conversion: Conversion
    options: AnswerOptions
    fills_batches: bool = False

    @functools.cached_property
    def _converter(self):
        return self.conversion.new_converter()

    def train(self, examples, settings, schedule, *, watch=None):
        """Trains on a list of SquadExample; for the rest see `job.Job.train`.

        Vocabulary and letter case are left with the weights.
        """
        # What is refused leaves the folder as it is.
        self.job.check_run(settings, schedule)
        path = os.path.join(self.job.output_dir, "train.tf_record")
        records = self._converter.training_records(examples)
        num_records = write_records(path, records)
        _log_records(path, num_records, examples)
        self._write_companions(self.job.output_dir)
        if watch:
            best = os.path.join(self.job.output_dir, BEST_FOLDER)
            self._write_companions(best)
        self.job.train(
            self.job.records(path, is_training=True),
            settings,
            schedule,
            watch=watch,
        )

    def _write_companions(self, folder):
        os.makedirs(folder, exist_ok=True)
        model_folder.write_vocabulary(
            folder,
            self.conversion.vocab_file,
            self.conversion.do_lower_case,
            self.conversion.max_seq_length,
        )

    def predict(self, examples, dataset, batch_size):
        """Writes the files of predictions and, if they can be had, scores.

        Args:
          examples: list of SquadExample.
          dataset: list, the articles they are of, if these have answers; None
            leaves scores out.
          batch_size: int, B.

        Returns:
          float, the threshold of no answer: the option's, or the best one.
        """
        folder = self.job.output_dir
        records = self._prepare(examples, batch_size)
        predictions, results, paths, threshold = self._answer(
            examples, dataset, records, batch_size, folder
        )
        logging.info(
            "Wrote %s: predictions for %s of %s questions.",
            ", ".join(paths),
            f"{len(predictions):,}",
            f"{len(examples):,}",
        )
        if results is not None:
            path = os.path.join(folder, "eval_results.txt")
            results["global_step"] = self.job.global_step()
            write_results(path, results)
        return threshold

    def digest(self, dataset):
        """Returns the str that tells these articles, as answered, from others.

        Args:
          dataset: list of articles.
        """
        told_by = [
            dataset,
            dataclasses.asdict(self.conversion),
            dataclasses.asdict(self.options),
        ]
        return hashlib.sha256(json.dumps(told_by).encode()).hexdigest()

    def watch(self, best, examples, dataset, batch_size):
        """Returns the function that training calls to keep the best weights.

        The records are made here, once.

        Args:
          best: best_weights.BestKeeper.
          examples, dataset, batch_size: see `predict`.
        """
        records = self._prepare(examples, batch_size)

        def measure():
            # What is predicted by the way must not pass for the result.
            with tempfile.TemporaryDirectory() as folder:
                _, results, *_ = self._answer(
                    examples, dataset, records, batch_size, folder
                )
            return results

        return lambda step: best.watch(step, self.job, measure)

    def _answer(self, examples, dataset, records, batch_size, folder):
        """Returns predictions, scores or None, paths written, the threshold."""
        options = self.options
        writer = AnswerWriter(
            folder,
            n_best_size=options.n_best_size,
            max_answer_length=options.max_answer_length,
            do_lower_case=self.conversion.do_lower_case,
            version_2_with_negative=options.version_2_with_negative,
        )
        with writer:
            questions = self._converter.questions(examples)
            logits = self._logits(records, batch_size)
            for chunk in group_by_question(questions, logits):
                writer.add(*chunk)
        threshold = self._threshold(writer, dataset)
        predictions, paths = writer.finish(
            null_score_diff_threshold=threshold,
            answer_offsets=options.output_answer_offsets,
        )
        if dataset is None:
            return predictions, None, paths, threshold
        results = scores.score(
            dataset,
            predictions,
            version_2_with_negative=options.version_2_with_negative,
            null_odds=writer.null_odds,
            best_texts=writer.best_texts,
        )
        return predictions, results, paths, threshold

    def _threshold(self, writer, dataset):
        if self.options.null_score_diff_threshold != scores.AUTO:
            return self.options.null_score_diff_threshold
        threshold = scores.find_best_threshold(
            dataset, writer.best_texts, writer.null_odds
        )
        logging.info(
            "--null_score_diff_threshold=%r gives the best F1.", threshold
        )
        return threshold

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
    logits = _Logits(batches)
    chunk, num_windows = [], 0
    for question in questions:
        chunk.append(question)
        num_windows += len(question.windows)
        if num_windows >= _WINDOWS_AT_A_TIME:
            yield chunk, *logits.take(num_windows)
            chunk, num_windows = [], 0
    if chunk:
        yield chunk, *logits.take(num_windows)


class _Logits:
    """Batches of windows' logits, taken in other numbers than they come in."""

    def __init__(self, batches):
        self._batches = iter(batches)
        self._waiting = []  # of batches, the first perhaps used in part
        self._next_id = FIRST_UNIQUE_ID

    def take(self, count):
        """Returns the start and the end logits of the next `count` windows."""
        if not count:
            return np.zeros([2, 0, 1], np.float32)
        while sum(len(ids) for ids, *_ in self._waiting) < count:
            batch = next(self._batches, None)
            if batch is None:
                raise UserError(_CHANGED_RECORDS)
            self._waiting.append(batch)
        ids, *logits = map(np.concatenate, zip(*self._waiting))
        if (ids[:count] != np.arange(count) + self._next_id).any():
            raise UserError(_CHANGED_RECORDS)
        self._next_id += count
        self._waiting = [(ids[count:], *(part[count:] for part in logits))]
        return [part[:count] for part in logits]


_CHANGED_RECORDS = (
    "eval.tf_record in --output_dir does not hold the windows that were just "
    "written there: another run writes in the same folder. Give each run its "
    "own --output_dir."
)
