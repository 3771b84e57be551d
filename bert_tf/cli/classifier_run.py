"""The work of run_classifier.py: records in, results and predictions out.

B batch, L outputs (labels; 1 for a regression)
"""

import dataclasses
import os

from absl import logging

from bert_tf.cli.fine_tuning import FineTuningRun
from bert_tf.storage.results import write_results
from bert_tf.tasks import predictions, registry
from bert_tf.tasks.examples import (
    PaddingInputExample,
    row_ids,
    without_labels,
)
from bert_tf.tasks.labels import write_labels
from bert_tf.tasks.records import fingerprint, record_files
from bert_tf.tasks.records.converter import Conversion
from bert_tf.tasks.task_file import write_task
from bert_tf.training.classification import ClassifierJob


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassifierRun(FineTuningRun):
    """Trains, evaluates and predicts on sets of examples.

    Its sets are pairs of a registry.ExampleSet and a list of InputExample. The
    names of files, and the keys of results, are those of 2018; a second set,
    such as MNLI's mismatched one, has its suffix after them.

    `fills_batches`: bool, whether the last batch is filled up with padding, as
    a TPU wants it. `num_processes`: int or None, of conversion.

    Raises:
      UserError: (by every method) examples, records or checkpoints that do not
        fit, or files that cannot be written.
    """

    job: ClassifierJob
    task: registry.Task
    conversion: Conversion
    fills_batches: bool = False
    num_processes: int | None = None

    @classmethod
    def from_flags(cls, flags, inputs):
        """Returns the run that flags and classifier_inputs.Inputs mean."""
        job = ClassifierJob.from_flags(
            flags,
            config=inputs.config,
            labels=inputs.conversion.labels,
            record_features=inputs.conversion.features(),
            init_checkpoint=inputs.init_checkpoint,
        )
        job.check_head(to_train=flags.do_train)
        return cls(
            job=job,
            task=inputs.task,
            conversion=inputs.conversion,
            fills_batches=flags.use_tpu,
            num_processes=flags.conversion_processes,
        )

    @property
    def best_by(self):
        """See FineTuningRun."""
        return self.task.measure

    def training_records(self, examples):
        """See FineTuningRun."""
        return self.job.records(self._records(examples, "train"))

    def write_companions(self, folder):
        """See FineTuningRun. Labels and the task's name go there as well."""
        super().write_companions(folder)
        write_labels(folder, self.conversion.labels)
        write_task(folder, self.task)

    def digest(self, inputs):
        """See FineTuningRun."""
        return fingerprint.digest(
            (examples for _, examples in inputs.dev), self.conversion
        )

    def new_evaluation(self, flags, inputs):
        """See FineTuningRun."""
        paths = self._prepare(inputs.dev, flags.eval_batch_size)
        return lambda: self._measure(paths, flags.eval_batch_size)

    def _records(self, examples, name):
        """Makes output_dir/<name>.tf_record; returns its path."""
        path = os.path.join(self.job.output_dir, f"{name}.tf_record")
        record_files.prepare_records(
            examples, path, self.conversion, num_processes=self.num_processes
        )
        return path

    def _filled(self, examples, batch_size):
        missing = -len(examples) % batch_size if self.fills_batches else 0
        return [*examples, *(PaddingInputExample() for _ in range(missing))]

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

    def measure(self, sets, batch_size):
        """Evaluates on a list of sets; a dict as `ClassifierJob.evaluate`'s."""
        return self._measure(self._prepare(sets, batch_size), batch_size)

    def evaluate(self, sets, batch_size):
        """Writes eval_results.txt; see `measure`."""
        path = os.path.join(self.job.output_dir, "eval_results.txt")
        write_results(path, self.measure(sets, batch_size))

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

    def export(self, flags):
        """Writes a SavedModel, as the flags say."""
        from bert_tf.serving import export
        from bert_tf.serving.classifier import Classifier

        is_pair = self.task.is_pair
        if self.task.name == registry.OWN_TABLE:
            is_pair = bool(flags.text_b_column)
        served = Classifier(
            export.trained_model(self.job),
            self.job.config,
            labels=self.conversion.labels,
            is_pair=is_pair,
            vocab_file=self.conversion.vocab_file,
            do_lower_case=self.conversion.do_lower_case,
            max_seq_length=self.conversion.max_seq_length,
        )
        export.export(served, flags.export_dir, verify=flags.verify_export)
