"""What run_classifier.py finds out from its flags, before TensorFlow.

Each function takes the script's flags as an absl FlagValues. What is refused is
a UserError that names the flag, or the file and line.
"""

import dataclasses

from bert_tf.cli import checks, export_flags
from bert_tf.config import BertConfig
from bert_tf.formats import saved_model
from bert_tf.tasks import labels, own_table, registry, task_file
from bert_tf.tasks.records import converter
from bert_tf.weights import model_choice, model_folder


@dataclasses.dataclass(frozen=True, kw_only=True)
class Inputs:
    """What the flags name, read and checked."""

    config: BertConfig
    init_checkpoint: str | None
    task: registry.Task
    conversion: converter.Conversion
    train: list  # of InputExample
    num_train_steps: int
    dev: list  # of (registry.ExampleSet, list of InputExample)
    test: list  # of the same


def check(flags):
    """Finds what is wrong with flags and data; returns the Inputs."""
    _check_switches(flags)
    init_checkpoint = saved_model.choose_init_checkpoint(
        flags.init_checkpoint, flags.bert_hub_module_handle
    )
    model = model_choice.choose_model(
        {**flags.flag_values_dict(), "init_checkpoint": init_checkpoint},
        is_case_given=flags["do_lower_case"].present,
    )
    folders = model.folders(flags.output_dir, to_train=flags.do_train)
    task, processor = _make_processor(flags, folders)
    conversion = converter.Conversion(
        task.labels(processor),
        flags.max_seq_length,
        model.vocab_file,
        model.do_lower_case,
    )
    train, num_train_steps = _read_train(flags, processor, conversion.labels)
    wants_dev = flags.do_eval or flags.eval_steps
    dev = _read(flags, processor, task.evaluation_sets, wants_dev)
    for folder in folders:
        labels.require_same_labels(
            folder, conversion.labels, f"--task_name={task.name}"
        )
        model_folder.require_same_vocabulary(folder, conversion.vocab_file)
        task_file.require_same_task(folder, task, to_train=flags.do_train)
    for _, examples in dev:
        converter.check_labels(examples, conversion.labels)
    return Inputs(
        config=model.config,
        init_checkpoint=init_checkpoint,
        task=task,
        conversion=conversion,
        train=train,
        num_train_steps=num_train_steps,
        dev=dev,
        test=_read(flags, processor, task.prediction_sets, flags.do_predict),
    )


def _check_switches(flags):
    """Checks which flags are given together."""
    values = flags.flag_values_dict()
    readers = ("do_train", "do_eval", "do_predict")
    checks.require_job(values, (*readers, "do_export"))
    export_flags.check(flags.do_export, flags.export_dir)
    checks.check_tpu(flags.use_tpu, flags.tpu_name, flags.master)
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


def _make_processor(flags, folders):
    """Returns the Task and its processor.

    The labels of a table of your own are those of the flag; else those that the
    model already has; else those of the training file.
    """
    kind = labels.kind_of(
        multi_label=flags.multi_label, regression=flags.regression
    )
    task = registry.find_task(flags.task_name, kind)
    registry.refuse_idle_flags(task, [flags[f] for f in registry.ONLY_FOR])
    if flags.glue_submission:
        registry.require_submission(task)
    options, names = None, ()
    if task.name == registry.OWN_TABLE:
        options = own_table.TableOptions(
            text_a_column=flags.text_a_column,
            text_b_column=flags.text_b_column,
            label_column=flags.label_column,
            has_header=flags.has_header,
            data_format=flags.data_format,
            kind=kind,
        )
        names = own_table.choose_label_names(
            options, flags.data_dir, flags.labels, folders
        )
    processor = registry.make_processor(
        task,
        xnli_language=flags.xnli_language,
        table_options=options,
        label_names=names,
    )
    return task, processor


def _read_train(flags, processor, task_labels):
    """Returns the training examples and how many steps they make."""
    if not flags.do_train:
        return [], 0
    examples = processor.get_train_examples(flags.data_dir)
    converter.check_labels(examples, task_labels)
    return examples, checks.count_steps(
        len(examples),
        num_train_epochs=flags.num_train_epochs,
        train_batch_size=flags.train_batch_size,
    )


def _read(flags, processor, example_sets, wanted):
    """Returns pairs of the sets that are there and their examples."""
    if not wanted:
        return []
    present = registry.present_sets(example_sets, flags.data_dir)
    return [(s, s.read(processor, flags.data_dir)) for s in present]
