r"""Writes a training step as HLO, for a TPU compiler to judge.

    python -m benchmarks.tpu_step --hlo=step.hlo \
        --bert_config_file=bert_config.json

Run it in the project's folder. What is compiled is the step that
run_pretraining.py, or with --job=classifier run_classifier.py, or with
--job=squad run_squad.py, runs on each TPU core: one-hot lookup, the losses,
their gradient, clipping, the optimizer and the running means. Without a TPU,
Google's compiler (libtpu, which `pip install "jax[tpu]"` brings) still tells
whether it compiles, how much memory it takes and how much it moves.
"""

import pathlib

from absl import flags, logging

from bert_tf.cli import common_flags
from bert_tf.config import BertConfig
from bert_tf.storage import files

FLAGS = flags.FLAGS

flags.DEFINE_string("hlo", None, "The file to write.", required=True)
flags.DEFINE_string(
    "bert_config_file", None, "The model's sizes.", required=True
)
flags.DEFINE_enum(
    "job", "pretraining", ["pretraining", "classifier", "squad"], "Which step."
)
flags.DEFINE_integer("max_seq_length", 128, "S.")
flags.DEFINE_integer("max_predictions_per_seq", 20, "P.")
flags.DEFINE_integer("batch_size", 32, "Examples on one core.")


def make_batch(feature_table, batch_size):
    """Returns a dict of tensors of zeros, as the input pipeline gives them."""
    import tensorflow as tf

    return {
        feature.name: tf.zeros(
            (batch_size, *feature.shape),
            tf.int32 if feature.dtype == tf.int64 else feature.dtype,
        )
        for feature in feature_table
    }


def choose_generators_as_on_tpu(hlo):
    """Gives the dropout masks the random generator that a TPU gives them.

    The layers leave the choice to TensorFlow. It chooses by device: XLA's
    default on a TPU, but Philox on the CPU that the step is traced on here,
    which on a TPU would take several times as much memory traffic as the rest.

    Args:
      hlo: bytes, a serialized HloModuleProto.

    Returns:
      bytes, likewise.
    """
    from tensorflow.compiler.xla import xla_data_pb2
    from tensorflow.compiler.xla.service import hlo_pb2

    module = hlo_pb2.HloModuleProto.FromString(hlo)
    for computation in module.computations:
        for instruction in computation.instructions:
            if instruction.opcode == "rng-bit-generator":
                _, bits = instruction.shape.tuple_shapes
                # 64 bits wide are the generators of the seeds, one number
                # each, which are Philox everywhere.
                if bits.element_type == xla_data_pb2.U32:
                    instruction.rng_algorithm = xla_data_pb2.RNG_DEFAULT
    return module.SerializeToString()


def pretraining_parts(config):
    """Returns model, function of the losses, their names, and features."""
    from bert_tf import features
    from bert_tf.model import models
    from bert_tf.training import pretraining

    return (
        models.pretraining_model(config, use_one_hot_embeddings=True),
        pretraining.compute_losses,
        pretraining.LOSS_NAMES,
        features.pretraining_features(
            FLAGS.max_seq_length, FLAGS.max_predictions_per_seq
        ),
    )


def classifier_parts(config):
    """Returns the same of a classifier of two labels."""
    from bert_tf import features
    from bert_tf.tasks.labels import CLASSIFICATION, Labels
    from bert_tf.training import classification, distribution

    kind = features.classifier_features(FLAGS.max_seq_length)
    job = classification.ClassifierJob(
        config=config,
        labels=Labels(CLASSIFICATION, ("0", "1")),
        record_features=kind,
        output_dir="",
        strategy=distribution.build_strategy(),
        use_one_hot_embeddings=True,
    )
    return job.build_model(), job.compute_losses, job.loss_names, kind


def squad_parts(config):
    """Returns the same of a model that answers questions."""
    from bert_tf import features
    from bert_tf.training import distribution, question_answering

    job = question_answering.SquadJob(
        config=config,
        max_seq_length=FLAGS.max_seq_length,
        output_dir="",
        strategy=distribution.build_strategy(),
        use_one_hot_embeddings=True,
    )
    kind = features.squad_features(FLAGS.max_seq_length, is_training=True)
    return job.build_model(), job.compute_losses, job.loss_names, kind


_PARTS = {
    "pretraining": pretraining_parts,
    "classifier": classifier_parts,
    "squad": squad_parts,
}


def main():
    files.require_file(FLAGS.bert_config_file, "bert_config_file")
    config = BertConfig.from_json_file(FLAGS.bert_config_file)

    import tensorflow as tf

    from bert_tf.training import optimization, training_loop

    model, compute_losses, loss_names, kind = _PARTS[FLAGS.job](config)
    optimizer = optimization.create_optimizer(1e-4, 100000, 10000)
    optimizer.build(model.trainable_variables)
    trainer = training_loop.Trainer(
        model,
        optimizer,
        compute_losses=compute_losses,
        loss_names=loss_names,
        dataset=None,
    )
    batch = make_batch(kind, FLAGS.batch_size)
    step = tf.function(trainer.replica_step, jit_compile=True)
    hlo = step.experimental_get_compiler_ir(batch)(stage="hlo_serialized")
    pathlib.Path(FLAGS.hlo).write_bytes(choose_generators_as_on_tpu(hlo))
    logging.info("Wrote %s.", FLAGS.hlo)


if __name__ == "__main__":
    common_flags.run(main)
