"""Answering questions: the loss, and the logits of each window.

B batch, S max_seq_length
"""

import dataclasses

from bert_tf.data import input_pipeline
from bert_tf.errors import UserError
from bert_tf.features import squad_features
from bert_tf.model import losses, models
from bert_tf.training.job import Job

_HEAD = "cls/squad/output_weights"


@dataclasses.dataclass(kw_only=True)
class SquadJob(Job):
    """Training and prediction of one model in one folder.

    job = SquadJob(config=config, max_seq_length=384, ...)
    job.train(job.records(train_path, is_training=True), settings, schedule)
    for unique_ids, start_logits, end_logits in job.logits(path, batch_size):
        ...
    """

    max_seq_length: int

    def records(self, path, *, is_training):
        """Returns the RecordFiles of one file (str)."""
        limits = {
            "input_ids": self.config.vocab_size,
            "segment_ids": self.config.type_vocab_size,
        }
        if is_training:
            limits["start_positions"] = self.max_seq_length
            limits["end_positions"] = self.max_seq_length
        return input_pipeline.RecordFiles(
            paths=[path],
            features=squad_features(
                self.max_seq_length, is_training=is_training
            ),
            limits=limits,
            # The one-hot look-up goes with a TPU.
            fixed_shapes=self.use_one_hot_embeddings,
            # Padding takes part in the softmax over positions.
            trims=False,
            remedy="Remove the file and give the command again.",
        )

    def build_model(self):
        """See Job."""
        return models.question_answering_model(
            self.config, use_one_hot_embeddings=self.use_one_hot_embeddings
        )

    def compute_losses(self, model, batch):
        """See Job. Source: `model_fn_builder` in run_squad.py (2018)."""
        outputs = models.run_model(model, batch, training=True)
        loss = losses.span_loss(
            outputs["start_logits"],
            outputs["end_logits"],
            batch["start_positions"],
            batch["end_positions"],
        )
        return {"loss": loss}

    def check_head(self, *, to_train):
        """Refuses, before a model is built, a checkpoint that cannot answer.

        To train (`to_train`), one without such a head will do, or none.
        """
        reader, flag = self.open_weights(to_train=to_train)
        if not to_train and _HEAD not in reader.stored:
            raise UserError(
                f"--{flag}: {reader.path} holds no head that answers questions "
                f"({_HEAD}). Predict with one that run_squad.py trained, or "
                "give --do_train."
            )

    def logits(self, path, batch_size):
        """Runs the trained, or else the newest, weights over windows.

        Args:
          path: str, a file of records.
          batch_size: int, B over all devices.

        Yields:
          triple of np.ndarray, in the file's order: unique_ids, int32 [B];
          start_logits and end_logits, float32 [B, S]. Rows that fill up a batch
          are left out.
        """
        records = self.records(path, is_training=False)
        for outputs in self.run(records, batch_size, "predict_batch_size"):
            unique_ids = outputs["unique_ids"][:, 0]
            is_real = unique_ids != 0
            yield tuple(
                values[is_real]
                for values in (
                    unique_ids,
                    outputs["start_logits"],
                    outputs["end_logits"],
                )
            )

    def compute_outputs(self, model, batch):
        """See Job."""
        outputs = models.run_model(model, batch, training=False)
        return {**outputs, "unique_ids": batch["unique_ids"]}
