"""Pre-training: its losses, its evaluation, its files.

B batch, S max_seq_length, P max_predictions_per_seq, V vocabulary
"""

import dataclasses

import tensorflow as tf
import tf_keras
from absl import logging

from bert_tf import features
from bert_tf.data import input_pipeline
from bert_tf.model import losses, models
from bert_tf.training.distribution import require_even_batch
from bert_tf.training.job import Job
from bert_tf.training.training_loop import LoopSettings, Schedule

LOSS_NAMES = ("loss", "masked_lm_loss", "next_sentence_loss")


def compute_losses(model, batch):
    """Computes the training losses of a batch of records, dropout acting.

    Returns:
      dict of LOSS_NAMES to float32 scalars; "loss" is the sum of the others.

    Source: `model_fn_builder` in run_pretraining.py (2018).
    """
    outputs = models.run_model(model, batch, training=True)
    (masked_lm_loss, _), (next_sentence_loss, _) = _losses(outputs, batch)
    return {
        "loss": masked_lm_loss + next_sentence_loss,
        "masked_lm_loss": masked_lm_loss,
        "next_sentence_loss": next_sentence_loss,
    }


def _losses(outputs, batch):
    """Returns (loss, example_loss) of the masked LM and of next sentence."""
    masked_lm = losses.masked_lm_loss(
        outputs["masked_lm_logits"],
        batch["masked_lm_ids"],
        batch["masked_lm_weights"],
    )
    next_sentence = losses.classification_loss(
        outputs["next_sentence_logits"], batch["next_sentence_labels"]
    )
    return masked_lm, next_sentence


class Evaluator:
    """Measures a pre-training model on held-out records.

        for each batch:
          outputs = model(batch)
          masked_lm: mean loss and accuracy over the masked positions
          next_sentence: mean loss and accuracy over the examples
          loss: mean over the batches of the training loss

    The model is made in the strategy's scope.

    Source: `metric_fn` in run_pretraining.py (2018).
    """

    def __init__(self, model):
        self._model = model
        mean = tf_keras.metrics.Mean
        accuracy = tf_keras.metrics.SparseCategoricalAccuracy
        self._metrics = {
            "loss": mean(),
            "masked_lm_loss": mean(),
            "masked_lm_accuracy": accuracy(),
            "next_sentence_loss": mean(),
            "next_sentence_accuracy": accuracy(),
        }

    def evaluate(self, dataset):
        """Runs once over batches; returns 2018's five names to np.float32."""
        strategy = tf.distribute.get_strategy()

        @tf.function
        def run_step(batch):
            strategy.run(self._replica_step, args=(batch,))

        for batch in dataset:
            run_step(batch)
        return {k: m.result().numpy() for k, m in self._metrics.items()}

    def _replica_step(self, batch):
        outputs = models.run_model(self._model, batch, training=False)
        masked_lm, next_sentence = _losses(outputs, batch)
        weights = batch["masked_lm_weights"]
        updates = {
            "loss": [masked_lm[0] + next_sentence[0]],
            "masked_lm_loss": [masked_lm[1], weights],
            "masked_lm_accuracy": [
                batch["masked_lm_ids"],
                outputs["masked_lm_logits"],
                weights,
            ],
            "next_sentence_loss": [next_sentence[1]],
            "next_sentence_accuracy": [
                batch["next_sentence_labels"],
                outputs["next_sentence_logits"],
            ],
        }
        for name, values in updates.items():
            self._metrics[name].update_state(*values)


@dataclasses.dataclass(kw_only=True)
class PretrainingJob(Job):
    """Pre-training and evaluation of one model in one folder.

    job = PretrainingJob(config=config, paths=paths, output_dir=output_dir, ...)
    job.check_records()
    job.train(job.records, settings, schedule)
    results = job.evaluate(eval_batch_size, max_eval_steps)

    Attributes:
      records: input_pipeline.RecordFiles.
    """

    loss_names = LOSS_NAMES

    paths: list  # of str, TFRecord files
    max_seq_length: int  # S
    max_predictions_per_seq: int  # P

    def __post_init__(self):
        super().__post_init__()
        self.records = input_pipeline.RecordFiles(
            paths=self.paths,
            features=features.pretraining_features(
                self.max_seq_length, self.max_predictions_per_seq
            ),
            limits={
                "input_ids": self.config.vocab_size,
                "masked_lm_ids": self.config.vocab_size,
                "segment_ids": self.config.type_vocab_size,
                "masked_lm_positions": self.max_seq_length,
                "next_sentence_labels": 2,
            },
        )

    def check_records(self):
        """Checks the first record of every file; see input_pipeline."""
        input_pipeline.check_first_records(self.records)

    def train_by_flags(self, flags):
        """Trains on `records`, as a script's flags (FlagValues) say."""
        settings = LoopSettings.from_flags(flags, flags.num_train_steps)
        schedule = Schedule(flags.learning_rate, flags.num_warmup_steps)
        self.train(self.records, settings, schedule)

    def build_model(self):
        """See Job."""
        return models.pretraining_model(
            self.config, use_one_hot_embeddings=self.use_one_hot_embeddings
        )

    def compute_losses(self, model, batch):
        """See Job."""
        return compute_losses(model, batch)

    def evaluate(self, eval_batch_size, max_eval_steps):
        """Evaluates the trained, or else the newest, weights.

        Args:
          eval_batch_size: int, B over all devices.
          max_eval_steps: int, the number of batches; where the records run
            out they are read again from the start, as in 2018.

        Returns:
          dict: the 2018 keys, `global_step` included.
        """
        require_even_batch(eval_batch_size, self.strategy, "eval_batch_size")
        with self.strategy.scope():
            model = self.ready_model()
            self._log_evaluation(eval_batch_size, max_eval_steps)
            dataset = input_pipeline.evaluation_dataset(
                self.records,
                batch_size=eval_batch_size,
                num_batches=max_eval_steps,
            )
            with input_pipeline.naming_bad_records(self.records):
                results = Evaluator(model).evaluate(
                    self.strategy.experimental_distribute_dataset(dataset)
                )
        return {**results, "global_step": self.global_step()}

    def _log_evaluation(self, batch_size, steps):
        logging.info("Evaluating on %d batches of %d.", steps, batch_size)
        wanted = steps * batch_size
        count = input_pipeline.count_records(self.records, wanted)
        if count < wanted:
            logging.info(
                "There are %d records, so that some count more than once, as "
                "in 2018. For each to count once give --max_eval_steps and "
                "--eval_batch_size whose product is %d.",
                count,
                count,
            )
