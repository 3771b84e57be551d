"""Classifying texts and pairs: losses, evaluation, predictions.

B batch, L outputs (labels; 1 for a regression)
"""

import dataclasses

import numpy as np
import tensorflow as tf

from bert_tf.data import input_pipeline
from bert_tf.errors import UserError
from bert_tf.model import losses, models
from bert_tf.tasks import metrics
from bert_tf.tasks.labels import CLASSIFICATION, MULTI_LABEL, REGRESSION, Labels
from bert_tf.tasks.predictions import MULTI_LABEL_THRESHOLD
from bert_tf.training.job import Job

_LOSSES = {
    CLASSIFICATION: losses.classification_loss,
    REGRESSION: losses.regression_loss,
    MULTI_LABEL: losses.multi_label_loss,
}
# What the outputs of each kind are turned into.
_VALUES = {
    CLASSIFICATION: tf.nn.softmax,
    REGRESSION: tf.identity,
    MULTI_LABEL: tf.sigmoid,
}
_HEAD = "output_bias"


@dataclasses.dataclass(kw_only=True)
class ClassifierJob(Job):
    """Training, evaluation and prediction of one classifier in one folder.

    job = ClassifierJob(config=config, labels=labels, ...)
    job.train(job.records(train_path), settings, schedule)
    results = job.evaluate(eval_path, eval_batch_size)
    values = job.predict(test_path, predict_batch_size)
    """

    labels: Labels
    record_features: tuple  # of features.Feature

    def records(self, path):
        """Returns the RecordFiles of one file (str)."""
        limits = {
            "input_ids": self.config.vocab_size,
            "segment_ids": self.config.type_vocab_size,
        }
        if self.labels.kind == CLASSIFICATION:
            limits["label_ids"] = self.labels.num_outputs
        return input_pipeline.RecordFiles(
            paths=[path],
            features=self.record_features,
            limits=limits,
            # The one-hot look-up goes with a TPU.
            fixed_shapes=self.use_one_hot_embeddings,
            remedy="Remove the file and give the command again, which makes "
            "it anew.",
        )

    def build_model(self):
        """See Job."""
        return models.classifier_model(
            self.config,
            self.labels.num_outputs,
            use_one_hot_embeddings=self.use_one_hot_embeddings,
        )

    def compute_losses(self, model, batch):
        """See Job. Source: `create_model` in run_classifier.py (2018)."""
        logits = models.run_model(model, batch, training=True)["logits"]
        loss, _ = _LOSSES[self.labels.kind](logits, batch["label_ids"])
        return {"loss": loss}

    def check_head(self, *, to_train):
        """Refuses, before a model is built, a checkpoint without these labels.

        To train (`to_train`), one without a classifier will do, or none.
        """
        reader, flag = self.open_weights(to_train=to_train)
        if reader is None:
            return
        stored = reader.stored.get(_HEAD)
        if stored is None and not to_train:
            raise UserError(
                f"--{flag}: {reader.path} holds no classifier "
                f"({_HEAD}, output_weights). Evaluate or predict with one that "
                "run_classifier.py trained, or give --do_train."
            )
        if stored is not None and stored.shape != (self.labels.num_outputs,):
            raise UserError(
                f"--{flag}: {reader.path} holds a classifier with "
                f"{stored.shape[0]} outputs, but this task has "
                f"{self.labels.num_outputs} "
                f"({', '.join(self.labels.names) or 'a number, no label'}). "
                + self._other_head_remedy(flag)
            )

    @staticmethod
    def _other_head_remedy(flag):
        if flag == "output_dir":
            return "Give another --output_dir, or the labels it was trained on."
        return (
            "To begin with a new classifier, take the old one off: "
            "convert_checkpoint.py --encoder_only."
        )

    def evaluate(self, path, batch_size, metric_names):
        """Evaluates the trained, or else the newest, weights.

        Args:
          path: str, a file of records with labels.
          batch_size: int, B over all devices.
          metric_names: sequence of str, see tasks.metrics.

        Returns:
          dict: the 2018 keys `eval_accuracy` (not for a regression),
          `eval_loss`, `global_step` and `loss`, and the metrics.

        Source: `metric_fn` in run_classifier.py (2018). `loss` is the mean of
          the batches' losses, where a small last batch counts as much as any.
        """
        outputs, batch_losses = self._run(path, batch_size, "eval_batch_size")
        real = outputs["is_real_example"][:, 0] == 1
        values, labels = outputs["values"][real], outputs["label_ids"][real]
        results = {
            "eval_loss": outputs["example_loss"][real].mean(),
            "global_step": self.global_step(),
            "loss": np.mean(batch_losses, dtype=np.float32),
        }
        predicted = self._predicted(values)
        if self.labels.kind != REGRESSION:
            right = np.all(predicted.reshape(labels.shape) == labels, axis=-1)
            results["eval_accuracy"] = right.astype(np.float32).mean()
        if self.labels.kind != MULTI_LABEL:
            labels = labels[:, 0]
        return {**results, **metrics.compute(metric_names, labels, predicted)}

    def _predicted(self, values):
        """Turns values [B, L] into what metrics compare with labels."""
        if self.labels.kind == REGRESSION:
            return values[:, 0]
        if self.labels.kind == MULTI_LABEL:
            return (values > MULTI_LABEL_THRESHOLD).astype(np.int32)
        return values.argmax(axis=-1).astype(np.int32)

    def predict(self, path, batch_size):
        """Predicts on a file of records, whose labels do not matter.

        Returns:
          float32 np.ndarray [examples, L], in order, padding left out: the
          labels' probabilities, or the number of a regression.
        """
        outputs, _ = self._run(path, batch_size, "predict_batch_size")
        return outputs["values"][outputs["is_real_example"][:, 0] == 1]

    def _run(self, path, batch_size, flag):
        """Runs over a file of records once.

        Returns:
          dict of np.ndarray, all examples' outputs; list of float, the losses
          of the batches.
        """
        batches = list(self.run(self.records(path), batch_size, flag))
        return {
            name: np.concatenate([batch[name] for batch in batches])
            for name in batches[0]
        }, [batch["example_loss"].mean() for batch in batches]

    def compute_outputs(self, model, batch):
        """See Job."""
        logits = models.run_model(model, batch, training=False)["logits"]
        kind = self.labels.kind
        _, example_loss = _LOSSES[kind](logits, batch["label_ids"])
        return {
            "values": _VALUES[kind](logits),
            "example_loss": example_loss,
            "label_ids": batch["label_ids"],
            "is_real_example": batch["is_real_example"],
        }
