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

from bert_tf.cli import checks, common_flags, export_flags
from bert_tf.storage import files
from bert_tf.storage.results import write_results
from bert_tf.weights import model_choice, model_folder, weights_path

FLAGS = flags.FLAGS

flags.DEFINE_string(
    "bert_config_file",
    None,
    "The model's sizes: a bert_config.json. Without it, the one beside "
    "--init_checkpoint.",
)
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


def check_flags():
    """Finds what is wrong with the flags, before TensorFlow is imported.

    Returns:
      (BertConfig; list of str, the input files; dict, what an export takes
      texts by, or None).

    Raises:
      UserError: names the flag.
    """
    values = FLAGS.flag_values_dict()
    checks.require_job(values, ("do_train", "do_eval", "do_export"))
    export_flags.check(FLAGS.do_export, FLAGS.export_dir)
    checks.check_pairs(
        values,
        needs=[("do_train", "input_file"), ("do_eval", "input_file")],
        idle_without=[("vocab_file", "do_export")],
    )
    checks.check_tpu(FLAGS.use_tpu, FLAGS.tpu_name, FLAGS.master)
    checkpoint = weights_path.find_weights(
        FLAGS.output_dir, FLAGS.init_checkpoint
    )
    config, config_file = model_folder.choose_config(
        FLAGS.bert_config_file, checkpoint
    )
    model_choice.check_sequence_length(
        FLAGS.max_seq_length, config, config_file
    )
    paths = []
    if FLAGS.do_train or FLAGS.do_eval:
        paths = files.expand_patterns(FLAGS.input_file, "input_file")
        files.require_rereadable(paths, "input_file")
    texts = None
    if FLAGS.do_export:
        vocab_file, do_lower_case = model_choice.choose_vocabulary(
            FLAGS.flag_values_dict(),
            checkpoint,
            config,
            config_file,
            is_case_given=FLAGS["do_lower_case"].present,
        )
        texts = {"vocab_file": vocab_file, "do_lower_case": do_lower_case}
    files.make_output_folder(FLAGS.output_dir, "output_dir")
    return config, paths, texts


def export_model(job, texts):
    from bert_tf.serving import export
    from bert_tf.serving.masked_lm import MaskedLanguageModel

    served = MaskedLanguageModel(
        export.trained_model(job),
        job.config,
        max_seq_length=FLAGS.max_seq_length,
        **texts,
    )
    export.export(served, FLAGS.export_dir, verify=FLAGS.verify_export)


def main():
    config, paths, texts = check_flags()
    # Here and not above: TensorFlow takes seconds to import, and a wrong flag
    # should be told at once.
    from bert_tf.training import distribution, pretraining, training_loop

    address = distribution.TpuAddress.from_flags(FLAGS.flag_values_dict())
    job = pretraining.Job(
        config=config,
        paths=paths,
        output_dir=FLAGS.output_dir,
        max_seq_length=FLAGS.max_seq_length,
        max_predictions_per_seq=FLAGS.max_predictions_per_seq,
        strategy=distribution.build_strategy(address),
        use_one_hot_embeddings=FLAGS.use_tpu,
        init_checkpoint=FLAGS.init_checkpoint,
        keep_checkpoint_max=FLAGS.keep_checkpoint_max,
        seed=FLAGS.seed,
    )
    if paths:
        job.check_records()
    if FLAGS.do_train:
        settings = training_loop.LoopSettings.from_flags(
            FLAGS.flag_values_dict(), num_train_steps=FLAGS.num_train_steps
        )
        schedule = training_loop.Schedule(
            FLAGS.learning_rate, FLAGS.num_warmup_steps
        )
        job.train(job.records, settings, schedule)
    if FLAGS.do_eval:
        results = job.evaluate(FLAGS.eval_batch_size, FLAGS.max_eval_steps)
        write_results(
            os.path.join(FLAGS.output_dir, "eval_results.txt"), results
        )
    if FLAGS.do_export:
        export_model(job, texts)


if __name__ == "__main__":
    common_flags.run(main)
