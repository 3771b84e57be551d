#!/usr/bin/env python3
r"""Fine-tunes BERT to answer questions: SQuAD 1.1, 2.0, or your own.

On the sample in this repository, after run_pretraining.py:

    python run_squad.py \
        --train_file=tests/testdata/squad/train.json \
        --predict_file=tests/testdata/squad/dev.json \
        --init_checkpoint=demo_output/model \
        --vocab_file=tests/testdata/vocab.txt \
        --output_dir=demo_output/squad \
        --do_train --do_predict \
        --max_seq_length=64 --max_query_length=16 --doc_stride=16 \
        --train_batch_size=8 --learning_rate=1e-3 --num_train_epochs=10 --seed=1

The flags are those of 2018 and more. Weights come from the newest checkpoint in
--output_dir, else from --init_checkpoint, else from chance.
"""

from absl import flags, logging

from bert_tf.cli import common_flags, export_flags, squad_inputs

FLAGS = flags.FLAGS

flags.DEFINE_string(
    "train_file", None, "The questions to train on, in SQuAD's JSON."
)
flags.DEFINE_string(
    "predict_file", None, "The questions to answer, in SQuAD's JSON."
)
common_flags.define_fine_tuning(max_seq_length=384)
common_flags.define_count(
    "doc_stride",
    128,
    "Pieces from the start of one window of a long context to the next one's.",
)
common_flags.define_count(
    "max_query_length", 64, "Pieces of a question; the rest is cut off."
)
common_flags.define_count(
    "n_best_size", 20, "So many answers a question in nbest_predictions.json."
)
common_flags.define_count(
    "max_answer_length", 30, "The most pieces that an answer has."
)
flags.DEFINE_bool(
    "version_2_with_negative",
    False,
    "A question may have no answer, as in SQuAD 2.0.",
)
flags.DEFINE_string(
    "null_score_diff_threshold",
    "0.0",
    "Version 2: no answer is given where its score is higher by more than "
    "this; auto for the threshold with the best F1, if answers are known.",
)
flags.DEFINE_bool(
    "verbose_logging", False, "Log answers whose words could not be traced."
)
flags.DEFINE_bool(
    "do_eval",
    False,
    "Score predictions: --predictions_file, or else those of the model. "
    "--do_predict does so too where --predict_file has answers.",
)
flags.DEFINE_string(
    "predictions_file",
    None,
    "With --do_eval: a predictions.json to score, without any model.",
)
flags.DEFINE_string(
    "null_odds_file",
    None,
    "With --predictions_file, version 2: its null_odds.json, for the best "
    "thresholds.",
)
flags.DEFINE_bool(
    "output_answer_offsets",
    False,
    "Also write answers.json: each answer's text, first character in the "
    "context, and probability, and that of no answer.",
)
common_flags.define_count(
    "eval_steps",
    None,
    "Answer --predict_file every so many training steps as well, and keep the "
    "weights with the best F1 in --output_dir/best, for this command's "
    "predictions.",
)
common_flags.define_count(
    "early_stopping_patience",
    None,
    "With --eval_steps: end after so many evaluations in a row no better.",
)
export_flags.define()
common_flags.define_training_loop()
common_flags.define_tpu()


def main():
    if FLAGS.verbose_logging:
        logging.set_verbosity(logging.DEBUG)
    if FLAGS.do_eval and FLAGS.predictions_file:
        squad_inputs.score_predictions(FLAGS)
        return
    inputs = squad_inputs.check(FLAGS)
    # Here and not above: TensorFlow takes seconds to import, and a wrong flag
    # or file should be told at once.
    from bert_tf.cli.squad_run import SquadRun

    run = SquadRun.from_flags(FLAGS, inputs)
    if FLAGS.do_train:
        run.train(FLAGS, inputs)
    threshold = inputs.threshold
    if FLAGS.do_predict or FLAGS.do_eval:
        threshold = run.predict(inputs, FLAGS.predict_batch_size)
    if FLAGS.do_export:
        run.export(FLAGS, threshold)


if __name__ == "__main__":
    common_flags.run(main)
