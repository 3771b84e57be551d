#!/usr/bin/env python3
r"""Fine-tunes BERT to classify texts: GLUE, XNLI, or a table of your own.

On the sample in this repository, after run_pretraining.py:

    python run_classifier.py \
        --task_name=tsv --data_dir=tests/testdata/classifier \
        --text_a_column=sentence --label_column=kind \
        --init_checkpoint=demo_output/model \
        --vocab_file=tests/testdata/vocab.txt \
        --output_dir=demo_output/classifier \
        --do_train --do_eval --do_predict \
        --max_seq_length=32 --train_batch_size=16 --learning_rate=1e-3 \
        --num_train_epochs=10 --predictions_with_labels --seed=1

The flags are those of 2018 and more. Weights come from the newest checkpoint in
--output_dir, else from --init_checkpoint, else from chance.
"""

from absl import flags

from bert_tf.cli import classifier_inputs, common_flags, export_flags

FLAGS = flags.FLAGS

flags.DEFINE_string("data_dir", None, "The folder with the task's files.")
flags.DEFINE_string(
    "task_name",
    None,
    "CoLA, SST-2, MRPC, QQP, STS-B, MNLI, QNLI, RTE, WNLI, AX, XNLI; or tsv: "
    "a table of your own, train.tsv, dev.tsv and test.tsv in --data_dir.",
)
common_flags.define_fine_tuning(max_seq_length=128)
flags.DEFINE_string(
    "bert_hub_module_handle",
    None,
    "In place of --init_checkpoint: the folder or the URL of an encoder in the "
    "form of TensorFlow Hub.",
)
flags.DEFINE_bool("do_eval", False, "Evaluate on the development set.")
common_flags.define_count("eval_batch_size", 8, "Examples in a batch.")
flags.DEFINE_string("xnli_language", "zh", "XNLI's language.")
flags.DEFINE_string(
    "text_a_column",
    None,
    "Of a table: the text's column, by its name or number, counted from 0.",
)
flags.DEFINE_string("text_b_column", None, "A second text's column, if any.")
flags.DEFINE_string(
    "label_column", None, "The label's column; prediction does not need it."
)
flags.DEFINE_bool("has_header", True, "Whether the first row names columns.")
flags.DEFINE_enum(
    "data_format",
    "tsv",
    ["tsv", "csv"],
    "tsv: tabs between columns, quotes are text. csv: commas between columns, "
    "and a field may stand in quotes; the files then end in .csv.",
)
flags.DEFINE_string(
    "labels",
    None,
    "A table's labels, with commas between them, in the order of their ids. "
    "Without it, those of the training file, sorted.",
)
flags.DEFINE_bool(
    "multi_label",
    False,
    "Of a table: a cell has any number of labels, with commas between them.",
)
flags.DEFINE_bool("regression", False, "Of a table: the label is a number.")
common_flags.define_count(
    "eval_steps",
    None,
    "Evaluate every so many training steps as well, and keep the best weights "
    "in --output_dir/best, for --do_eval and --do_predict of this command.",
)
common_flags.define_count(
    "early_stopping_patience",
    None,
    "With --eval_steps: end after so many evaluations in a row no better.",
)
flags.DEFINE_bool(
    "predictions_with_labels",
    False,
    "With --do_predict: also write a table with id, label and probabilities.",
)
flags.DEFINE_bool(
    "glue_submission",
    False,
    "With --do_predict: also write the file that the GLUE server takes.",
)
common_flags.define_count(
    "conversion_processes",
    None,
    "So many processes make the records; by default what is fastest.",
)
export_flags.define()
common_flags.define_training_loop()
common_flags.define_tpu()
flags.mark_flags_as_required(["task_name", "output_dir"])


def main():
    inputs = classifier_inputs.check(FLAGS)
    # Here and not above: TensorFlow takes seconds to import, and a wrong flag
    # or line of data should be told at once.
    from bert_tf.cli.classifier_run import ClassifierRun

    run = ClassifierRun.from_flags(FLAGS, inputs)
    if FLAGS.do_train:
        run.train(FLAGS, inputs)
    if FLAGS.do_eval:
        run.evaluate(inputs.dev, FLAGS.eval_batch_size)
    if FLAGS.do_predict:
        run.predict(
            inputs.test,
            FLAGS.predict_batch_size,
            with_labels=FLAGS.predictions_with_labels,
            submission=FLAGS.glue_submission,
        )
    if FLAGS.do_export:
        run.export(FLAGS)


if __name__ == "__main__":
    common_flags.run(main)
