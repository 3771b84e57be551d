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

import dataclasses

from absl import flags

from bert_tf.cli import checks, common_flags, export_flags
from bert_tf.config import BertConfig
from bert_tf.formats import hub_module
from bert_tf.tasks import labels, own_table, registry, task_file
from bert_tf.tasks.records import converter
from bert_tf.tasks.records.converter import Conversion
from bert_tf.weights import model_choice, model_folder

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


@dataclasses.dataclass
class Inputs:
    """What the flags name, read and checked."""

    config: BertConfig
    init_checkpoint: str | None
    task: registry.Task
    conversion: Conversion
    train: list  # of InputExample
    num_train_steps: int
    dev: list  # of (registry.ExampleSet, list of InputExample)
    test: list  # of the same


def check_flags():
    """Finds what is wrong with flags and data, before TensorFlow is imported.

    Returns:
      Inputs.

    Raises:
      UserError: names the flag, or the file and line.
    """
    _check_switches()
    init_checkpoint = hub_module.choose_init_checkpoint(
        FLAGS.init_checkpoint, FLAGS.bert_hub_module_handle
    )
    model = model_choice.choose_model(
        {**FLAGS.flag_values_dict(), "init_checkpoint": init_checkpoint},
        is_case_given=FLAGS["do_lower_case"].present,
    )
    folders = model.folders(FLAGS.output_dir, to_train=FLAGS.do_train)
    task, processor = _make_processor(folders)
    conversion = Conversion(
        task.labels(processor),
        FLAGS.max_seq_length,
        model.vocab_file,
        model.do_lower_case,
    )
    train_examples, num_train_steps = _read_train(processor, conversion.labels)
    dev = _read(
        processor, task.evaluation_sets, FLAGS.do_eval or FLAGS.eval_steps
    )
    for folder in folders:
        labels.require_same_labels(
            folder, conversion.labels, f"--task_name={task.name}"
        )
        model_folder.require_same_vocabulary(folder, conversion.vocab_file)
        task_file.require_same_task(folder, task, to_train=FLAGS.do_train)
    for _, examples in dev:
        converter.check_labels(examples, conversion.labels)
    return Inputs(
        config=model.config,
        init_checkpoint=init_checkpoint,
        task=task,
        conversion=conversion,
        train=train_examples,
        num_train_steps=num_train_steps,
        dev=dev,
        test=_read(processor, task.prediction_sets, FLAGS.do_predict),
    )


def _check_switches():
    values = FLAGS.flag_values_dict()
    readers = ("do_train", "do_eval", "do_predict")
    checks.require_job(values, (*readers, "do_export"))
    export_flags.check(FLAGS.do_export, FLAGS.export_dir)
    checks.check_tpu(FLAGS.use_tpu, FLAGS.tpu_name, FLAGS.master)
    checks.check_pairs(
        values,
        needs=[(reader, "data_dir") for reader in readers],
        idle_without=(
            ("early_stopping_patience", "eval_steps"),
            ("eval_steps", "do_train"),
            ("predictions_with_labels", "do_predict"),
            ("glue_submission", "do_predict"),
        ),
    )


def _make_processor(folders):
    """Returns the Task and its processor.

    The labels of a table of your own are those of the flag; else those that the
    model already has; else those of the training file.
    """
    kind = labels.kind_of(
        multi_label=FLAGS.multi_label, regression=FLAGS.regression
    )
    task = registry.find_task(FLAGS.task_name, kind)
    registry.refuse_idle_flags(task, [FLAGS[f] for f in registry.ONLY_FOR])
    if FLAGS.glue_submission:
        registry.require_submission(task)
    options, names = None, ()
    if task.name == registry.OWN_TABLE:
        options = own_table.TableOptions(
            text_a_column=FLAGS.text_a_column,
            text_b_column=FLAGS.text_b_column,
            label_column=FLAGS.label_column,
            has_header=FLAGS.has_header,
            data_format=FLAGS.data_format,
            kind=kind,
        )
        names = own_table.choose_label_names(
            options, FLAGS.data_dir, FLAGS.labels, folders
        )
    processor = registry.make_processor(
        task,
        xnli_language=FLAGS.xnli_language,
        table_options=options,
        label_names=names,
    )
    return task, processor


def _read_train(processor, task_labels):
    """Returns the training examples and how many steps they make."""
    if not FLAGS.do_train:
        return [], 0
    examples = processor.get_train_examples(FLAGS.data_dir)
    converter.check_labels(examples, task_labels)
    return examples, checks.count_steps(
        len(examples),
        num_train_epochs=FLAGS.num_train_epochs,
        train_batch_size=FLAGS.train_batch_size,
    )


def _read(processor, example_sets, wanted):
    """Returns pairs of the sets that are there and their examples."""
    if not wanted:
        return []
    present = registry.present_sets(example_sets, FLAGS.data_dir)
    return [(s, s.read(processor, FLAGS.data_dir)) for s in present]


def make_files(inputs):
    """Returns the ClassifierFiles of what the flags name."""
    from bert_tf.cli import classifier_files
    from bert_tf.training import classification, distribution

    address = distribution.TpuAddress.from_flags(FLAGS.flag_values_dict())
    job = classification.Job(
        config=inputs.config,
        labels=inputs.conversion.labels,
        record_features=inputs.conversion.features(),
        output_dir=FLAGS.output_dir,
        strategy=distribution.build_strategy(address),
        use_one_hot_embeddings=FLAGS.use_tpu,
        init_checkpoint=inputs.init_checkpoint,
        keep_checkpoint_max=FLAGS.keep_checkpoint_max,
        seed=FLAGS.seed,
    )
    job.check_head(to_train=FLAGS.do_train)
    return classifier_files.ClassifierFiles(
        job=job,
        task=inputs.task,
        conversion=inputs.conversion,
        fills_batches=FLAGS.use_tpu,
        num_processes=FLAGS.conversion_processes,
    )


def train(classifier, inputs):
    from bert_tf.training import training_loop
    from bert_tf.training.best_weights import BestKeeper

    values = FLAGS.flag_values_dict()
    settings = training_loop.LoopSettings.from_flags(
        values,
        num_train_steps=inputs.num_train_steps,
        watch_steps=FLAGS.eval_steps,
    )
    schedule = training_loop.Schedule.from_epochs(
        values, inputs.num_train_steps
    )
    if not FLAGS.eval_steps:
        classifier.train(inputs.train, settings, schedule)
        return
    best = BestKeeper(
        FLAGS.output_dir,
        measure=inputs.task.measure,
        eval_steps=FLAGS.eval_steps,
        patience=FLAGS.early_stopping_patience,
        evaluated=classifier.digest(inputs.dev),
    )
    evaluated = inputs.dev, FLAGS.eval_batch_size
    best.train(classifier, inputs.train, settings, schedule, *evaluated)


def export_model(classifier, inputs):
    from bert_tf.serving import export
    from bert_tf.serving.classifier import Classifier

    is_table = inputs.task.name == registry.OWN_TABLE
    served = Classifier(
        export.trained_model(classifier.job),
        inputs.config,
        labels=inputs.conversion.labels,
        is_pair=bool(FLAGS.text_b_column) if is_table else inputs.task.is_pair,
        vocab_file=inputs.conversion.vocab_file,
        do_lower_case=inputs.conversion.do_lower_case,
        max_seq_length=FLAGS.max_seq_length,
    )
    export.export(served, FLAGS.export_dir, verify=FLAGS.verify_export)


def main():
    inputs = check_flags()
    # From here on and not above: TensorFlow takes seconds to import, and a
    # wrong flag or line of data should be told at once.
    classifier = make_files(inputs)
    if FLAGS.do_train:
        train(classifier, inputs)
    if FLAGS.do_eval:
        classifier.evaluate(inputs.dev, FLAGS.eval_batch_size)
    if FLAGS.do_predict:
        classifier.predict(
            inputs.test,
            FLAGS.predict_batch_size,
            with_labels=FLAGS.predictions_with_labels,
            submission=FLAGS.glue_submission,
        )
    if FLAGS.do_export:
        export_model(classifier, inputs)


if __name__ == "__main__":
    common_flags.run(main)
