"""A task's name to all that belongs to it. A new task is a line in `TASKS`."""

import dataclasses
import difflib
import logging
import os
import re

from bert_tf.errors import UserError
from bert_tf.storage import files
from bert_tf.tasks import glue
from bert_tf.tasks.labels import CLASSIFICATION, MULTI_LABEL, REGRESSION, Labels
from bert_tf.tasks.own_table import TableProcessor
from bert_tf.tasks.rows import require_data_dir
from bert_tf.tasks.xnli import XnliProcessor

# --task_name of a table of your own.
OWN_TABLE = "tsv"


@dataclasses.dataclass(frozen=True)
class ExampleSet:
    """One set of examples to evaluate on or to predict."""

    method: str  # The processor's, which reads it, given data_dir.
    suffix: str = ""  # Follows the 2018 names of its files and results.
    optional_file: str | None = None  # Without it the set is left out.
    submission_file: str | None = None  # What the GLUE server takes.

    def read(self, processor, data_dir):
        """Returns its list of InputExample; raises what the processor does."""
        return getattr(processor, self.method)(data_dir)


_DEV = ExampleSet("get_dev_examples")
_TEST = ExampleSet("get_test_examples")


@dataclasses.dataclass(frozen=True)
class Task:
    """A task: how its data are read, and what is done with them."""

    name: str  # As people write it.
    processor_class: type  # A subclass of examples.DataProcessor.
    kind: str = CLASSIFICATION  # See labels.Labels.
    # What papers report beside the accuracy: keys of metrics.METRICS.
    metrics: tuple = ()
    evaluation_sets: tuple = (_DEV,)
    prediction_sets: tuple = (_TEST,)
    model_of: str | None = None  # Of another task whose models serve this one.
    is_pair: bool = True  # Is an example two texts?

    @property
    def measure(self):
        """str, the result by which the best weights are known."""
        return self.metrics[0] if self.metrics else "eval_accuracy"

    def labels(self, processor):
        """Returns the Labels of the task's processor."""
        return Labels(self.kind, tuple(processor.get_labels()))


def _submitted_as(name):
    return (dataclasses.replace(_TEST, submission_file=f"{name}.tsv"),)


_MNLI_DEV_SETS = (
    _DEV,
    ExampleSet(
        "get_dev_mismatched_examples",
        "_mismatched",
        optional_file="dev_mismatched.tsv",
    ),
)
_MNLI_TEST_SETS = (
    *_submitted_as("MNLI-m"),
    ExampleSet(
        "get_test_mismatched_examples",
        "_mismatched",
        optional_file="test_mismatched.tsv",
        submission_file="MNLI-mm.tsv",
    ),
)


def _glue_task(name, processor_class, **others):
    sets = _submitted_as(name)
    defaults = {"kind": processor_class.kind, "prediction_sets": sets}
    return Task(name, processor_class, **{**defaults, **others})


TASKS = (
    _glue_task("CoLA", glue.ColaProcessor, metrics=("mcc",), is_pair=False),
    _glue_task("SST-2", glue.Sst2Processor, is_pair=False),
    _glue_task("MRPC", glue.MrpcProcessor, metrics=("f1",)),
    _glue_task("QQP", glue.QqpProcessor, metrics=("f1",)),
    _glue_task("STS-B", glue.StsbProcessor, metrics=("pearson", "spearman")),
    _glue_task(
        "MNLI",
        glue.MnliProcessor,
        evaluation_sets=_MNLI_DEV_SETS,
        prediction_sets=_MNLI_TEST_SETS,
    ),
    _glue_task("QNLI", glue.QnliProcessor),
    _glue_task("RTE", glue.RteProcessor),
    _glue_task("WNLI", glue.WnliProcessor),
    _glue_task("AX", glue.AxProcessor, model_of="MNLI"),
    Task("XNLI", XnliProcessor),
    Task(OWN_TABLE, TableProcessor),
)

_OWN_METRICS = {
    CLASSIFICATION: (),
    REGRESSION: ("pearson", "spearman"),
    MULTI_LABEL: ("micro_f1", "macro_f1"),
}


def find_task(task_name, own_kind=CLASSIFICATION):
    """Finds a Task by its name.

    Args:
      task_name: str or None, the value of --task_name: in any case, with or
        without hyphens, underscores and blanks.
      own_kind: str, what --multi_label and --regression make of a table of
        your own; see labels.Labels.

    Raises:
      UserError: no such task; or one of GLUE's or XNLI's of another kind.
    """
    known = {_plain(task.name): task for task in TASKS}
    task = known.get(_plain(task_name or ""))
    if task is None:
        near = difflib.get_close_matches(_plain(task_name or ""), known, n=1)
        hint = f" Did you mean {known[near[0]].name}?" if near else ""
        raise UserError(
            f"--task_name={task_name or ''} is unknown.{hint} The tasks are "
            f"{', '.join(t.name for t in TASKS)}; a table of your own is "
            f"--task_name={OWN_TABLE}."
        )
    if task.name == OWN_TABLE:
        return dataclasses.replace(
            task, kind=own_kind, metrics=_OWN_METRICS[own_kind]
        )
    if own_kind not in (CLASSIFICATION, task.kind):
        raise UserError(
            f"--{own_kind} is for --task_name={OWN_TABLE}; {task.name} is a "
            f"{task.kind}. Leave it out."
        )
    return task


# Flags that one task alone knows.
ONLY_FOR = {
    "text_a_column": OWN_TABLE,
    "text_b_column": OWN_TABLE,
    "label_column": OWN_TABLE,
    "has_header": OWN_TABLE,
    "data_format": OWN_TABLE,
    "labels": OWN_TABLE,
    "multi_label": OWN_TABLE,
    "regression": OWN_TABLE,
    "xnli_language": "XNLI",
}


def refuse_idle_flags(task, flags):
    """Refuses flags that only some tasks know if the task is another one.

    Args:
      task: Task.
      flags: list of absl's Flag, those of ONLY_FOR. A value that is the default
        is taken for none, except that of --xnli_language.

    Raises:
      UserError: one has no effect on the task, or none beside another one.
    """
    given = {
        flag.name
        for flag in flags
        if flag.present
        and (flag.value != flag.default or flag.name == "xnli_language")
    }
    # --regression is true of STS-B and does no harm.
    idle = [
        name
        for name, owner in ONLY_FOR.items()
        if name in given - {task.kind} and task.name != owner
    ]
    if idle:
        raise UserError(
            f"--{idle[0]} is for --task_name={ONLY_FOR[idle[0]]}; it has no "
            f"effect on {task.name}. Leave it out."
        )
    if {"labels", "regression"} <= given:
        raise UserError(
            "--labels does nothing with --regression, whose labels are "
            "numbers. Leave one of them out."
        )


def _plain(name):
    return re.sub(r"[-_\s]", "", name).casefold()


def make_processor(
    task, *, xnli_language="zh", table_options=None, label_names=()
):
    """Makes a Task's processor, a DataProcessor.

    XNLI needs `xnli_language` (str); a table of your own needs `table_options`
    (own_table.TableOptions) and `label_names` (sequence of str).
    """
    if task.processor_class is TableProcessor:
        return TableProcessor(table_options, label_names)
    if task.processor_class is XnliProcessor:
        return XnliProcessor(xnli_language)
    return task.processor_class()


def present_sets(example_sets, data_dir):
    """Leaves out, with a warning, the optional sets whose file is not there.

    Takes a tuple of ExampleSet and returns a list.

    Raises:
      UserError: no such folder.
    """
    require_data_dir(data_dir)
    present = []
    for example_set in example_sets:
        name = example_set.optional_file
        if name is None or files.is_file(os.path.join(data_dir, name)):
            present.append(example_set)
        else:
            logging.getLogger("absl").warning(
                "%s is not in --data_dir and is left out.", name
            )
    return present


def require_submission(task):
    """Refuses a Task whose predictions the GLUE server does not take.

    Raises:
      UserError: it is no task of GLUE.
    """
    if any(s.submission_file is None for s in task.prediction_sets):
        known = (t.name for t in TASKS if t.prediction_sets[0].submission_file)
        raise UserError(
            f"--glue_submission: {task.name} is not a task of the GLUE "
            f"server, which takes {', '.join(known)}. Leave it out."
        )
