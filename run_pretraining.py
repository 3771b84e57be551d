#!/usr/bin/env python3
r"""Pre-trains BERT on records: masked language model and next sentence.

On the sample in this repository, after create_pretraining_data.py:

    python run_pretraining.py \
        --input_file=demo_output/sample.tfrecord \
        --output_dir=demo_output/model \
        --bert_config_file=tests/testdata/bert_config.json \
        --do_train --do_eval \
        --max_seq_length=64 --max_predictions_per_seq=10 \
        --num_train_steps=1500 --num_warmup_steps=300 --learning_rate=2e-3 \
        --seed=1

The flags are those of 2018; new are --keep_checkpoint_max, --log_steps, --seed
and, with those about it, --do_export. Weights come from the newest checkpoint
in --output_dir, else from --init_checkpoint, else from chance.
"""

import math
import os

from absl import flags

from bert_tf.cli import common_flags, export_flags, pretraining_inputs
from bert_tf.storage.results import write_results

FLAGS = flags.FLAGS

common_flags.define_bert_config()
flags.DEFINE_string(
    "input_file",
    None,
    "Records of create_pretraining_data.py: TFRecord files or globs, "
    "separated by commas.",
)
flags.DEFINE_string(
    "output_dir",
    None,
    "The folder for checkpoints, TensorBoard events and results. A run that "
    "finds checkpoints there goes on from the newest.",
)
common_flags.define_init_checkpoint()
common_flags.define_count(
    "max_seq_length",
    128,
    "The length of the records; what they were made with.",
)
common_flags.define_count(
    "max_predictions_per_seq",
    20,
    "The masked positions of the records; what they were made with.",
)
flags.DEFINE_bool("do_train", False, "Train.")
flags.DEFINE_bool("do_eval", False, "Evaluate, after training if both.")
common_flags.define_count(
    "train_batch_size",
    32,
    "Examples in a training step, over all devices.",
)
common_flags.define_count(
    "eval_batch_size",
    8,
    "Examples in an evaluation step.",
)
flags.DEFINE_float(
    "learning_rate", 5e-5, "The peak of the learning rate.", lower_bound=0.0
)
common_flags.define_count(
    "num_train_steps",
    100000,
    "Steps of the whole run, resumed ones included.",
)
common_flags.define_count(
    "num_warmup_steps",
    10000,
    "Steps in which the learning rate rises.",
    at_least=0,
)
common_flags.define_count(
    "max_eval_steps",
    100,
    "Evaluation steps. Records that run out are read again, as in 2018.",
)
# Of --do_export: records hold no text.
common_flags.define_vocabulary()
export_flags.define()
common_flags.define_training_loop()
common_flags.define_tpu()
flags.register_validator(
    "learning_rate", math.isfinite, message="It must be a finite number."
)
flags.mark_flags_as_required(["output_dir"])


def main():
    inputs = pretraining_inputs.check(FLAGS)
    # Here and not above: TensorFlow takes seconds to import, and a wrong flag
    # should be told at once.
    from bert_tf.training.pretraining import PretrainingJob

    job = PretrainingJob.from_flags(
        FLAGS,
        config=inputs.config,
        paths=inputs.paths,
        max_seq_length=FLAGS.max_seq_length,
        max_predictions_per_seq=FLAGS.max_predictions_per_seq,
    )
    if inputs.paths:
        job.check_records()
    if FLAGS.do_train:
        job.train_by_flags(FLAGS)
    if FLAGS.do_eval:
        results = job.evaluate(FLAGS.eval_batch_size, FLAGS.max_eval_steps)
        path = os.path.join(FLAGS.output_dir, "eval_results.txt")
        write_results(path, results)
    if FLAGS.do_export:
        pretraining_inputs.export(job, FLAGS, inputs)


if __name__ == "__main__":
    common_flags.run(main)
