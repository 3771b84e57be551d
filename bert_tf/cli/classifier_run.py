"""The files of a classifier: records in, results and predictions out.

B batch, L outputs (labels; 1 for a regression)
"""

import dataclasses
import os

from absl import logging

from bert_tf.storage.results import write_results
from bert_tf.tasks import predictions, registry
from bert_tf.tasks.examples import PaddingInputExample, row_ids, without_labels
from bert_tf.tasks.labels import write_labels
from bert_tf.tasks.records import fingerprint, record_files
from bert_tf.tasks.records.converter import Conversion
from bert_tf.tasks.task_file import write_task
from bert_tf.training import classification
from bert_tf.training.best_weights import BEST_FOLDER
from bert_tf.weights import model_folder


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassifierFiles:
    """Does a job on sets of examples, in its output folder.

    Its sets are pairs of a registry.ExampleSet and a list of InputExample. The
    names of files, and the keys of results, are those of 2018; a second set,
    such as MNLI's mismatched one, has its suffix after them.

    `job`: classification.Job. `task`: registry.Task. `conversion`:
    converter.Conversion. `fills_batches`: bool, whether the last batch is
    filled up with padding, as a TPU wants it. `num_processes`: int or None, of
    conversion.

    Raises:
      UserError: (by every method) examples, records or checkpoints that do not
        fit, or files that cannot be written.
    """

    job: classification.Job
    task: registry.Task
    conversion: Conversion
    fills_batches: bool = False
    num_processes: int | None = None

    def train(self, examples, settings, schedule, *, watch=None):
        """Trains on a list of InputExample; for the rest see `job.Job.train`.

        What evaluation and prediction need beside the weights is left with
        them: labels, vocabulary and letter case.
        """
        # What is refused leaves the folder as it is.
        self.job.check_run(settings, schedule)
        path = self._records(examples, "train")
        self._write_companions(self.job.output_dir)
        if watch:
            best = os.path.join(self.job.output_dir, BEST_FOLDER)
            self._write_companions(best)
        self.job.train(self.job.records(path), settings, schedule, watch=watch)

    def _write_companions(self, folder):
        os.makedirs(folder, exist_ok=True)
        write_labels(folder, self.conversion.labels)
        write_task(folder, self.task)
        model_folder.write_vocabulary(
            folder,
            self.conversion.vocab_file,
            self.conversion.do_lower_case,
            self.conversion.max_seq_length,
        )

    def _records(self, examples, name):
        """Makes output_dir/<name>.tf_record; returns its path."""
        path = os.path.join(self.job.output_dir, f"{name}.tf_record")
        made = record_files.prepare_records(
            examples, path, self.conversion, num_processes=self.num_processes
        )
        return made.path

    def _filled(self, examples, batch_size):
        missing = -len(examples) % batch_size if self.fills_batches else 0
        return [*examples, *(PaddingInputExample() for _ in range(missing))]

    def measure(self, sets, batch_size):
        """Evaluates on some sets.

        Args:
          sets: list of pairs, see the class.
          batch_size: int, B.

        Returns:
          dict: see `classification.Job.evaluate`.
        """
        return self._measure(self._prepare(sets, batch_size), batch_size)

    def _prepare(self, sets, batch_size):
        """Makes the records of sets to evaluate on; returns suffix -> path."""
        paths = {}
        for example_set, examples in sets:
            suffix = example_set.suffix
            filled = self._filled(examples, batch_size)
            paths[suffix] = self._records(filled, f"eval{suffix}")
        return paths

    def _measure(self, paths, batch_size):
        results = {}
        for suffix, path in paths.items():
            measured = self.job.evaluate(path, batch_size, self.task.metrics)
            for key, value in measured.items():
                own = "" if key == "global_step" else suffix
                results[f"{key}{own}"] = value
        return results

    def evaluate(self, sets, batch_size):
        """Writes eval_results.txt; see `measure`."""
        results = self.measure(sets, batch_size)
        path = os.path.join(self.job.output_dir, "eval_results.txt")
        write_results(path, results)

    def predict(self, sets, batch_size, *, with_labels, submission):
        """Writes test_results.tsv and, if wanted, more readable files.

        Args:
          sets: list of pairs, see the class; labels do not matter.
          batch_size: int, B.
          with_labels: bool, whether to write test_predictions.tsv as well.
          submission: bool, whether to write what the GLUE server takes.
        """
        labels, folder = self.conversion.labels, self.job.output_dir
        if labels.names:
            logging.info(
                "Columns of the predictions: %s.", ", ".join(labels.names)
            )
        for example_set, examples in sets:
            examples = without_labels(examples)
            path = self._records(
                self._filled(examples, batch_size),
                f"predict{example_set.suffix}",
            )
            values = self.job.predict(path, batch_size)
            assert len(values) == len(examples)
            path = f"test_results{example_set.suffix}.tsv"
            written = [os.path.join(folder, path)]
            predictions.write_test_results(written[0], values)
            if with_labels:
                path = f"test_predictions{example_set.suffix}.tsv"
                written.append(os.path.join(folder, path))
                ids = row_ids(examples)
                predictions.write_predictions_with_labels(
                    written[-1], ids, values, labels
                )
            if submission:
                path = example_set.submission_file
                written.append(os.path.join(folder, path))
                predictions.write_submission(written[-1], values, labels)
            logging.info("Wrote %s.", ", ".join(written))

    def digest(self, sets):
        """Returns the str that tells these sets, as they are read, from others.

        Args:
          sets: list of pairs, see the class.
        """
        return fingerprint.digest(
            (examples for _, examples in sets), self.conversion
        )

    def watch(self, best, sets, batch_size):
        """Returns the function that training calls to keep the best weights.

        The records are made here, once.

        Args:
          best: best_weights.BestKeeper.
          sets: list of pairs to evaluate on.
          batch_size: int, B.
        """
        paths = self._prepare(sets, batch_size)
        return lambda step: best.watch(
            step, self.job, lambda: self._measure(paths, batch_size)
        )
