"""Names of tasks to tasks."""

import logging

import pytest
from absl import flags

from bert_tf.errors import UserError
from bert_tf.tasks import examples, metrics, registry
from bert_tf.tasks.labels import CLASSIFICATION, MULTI_LABEL, REGRESSION
from bert_tf.tasks.own_table import TableOptions


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("MRPC", "MRPC"),
        ("mrpc", "MRPC"),
        ("cola", "CoLA"),
        ("sst2", "SST-2"),
        ("SST-2", "SST-2"),
        ("sts_b", "STS-B"),
        ("Sts B", "STS-B"),
        ("xnli", "XNLI"),
        ("ax", "AX"),
        ("TSV", "tsv"),
    ],
)
def test_find_task_by_name(written, name):
    assert registry.find_task(written).name == name


def test_find_task_names_the_nearest_and_all():
    message = "--task_name=MPRC is unknown. Did you mean MRPC. .*CoLA, SST-2"
    with pytest.raises(UserError, match=message):
        registry.find_task("MPRC")
    with pytest.raises(UserError, match="--task_name= is unknown. The tasks"):
        registry.find_task(None)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (CLASSIFICATION, ()),
        (REGRESSION, ("pearson", "spearman")),
        (MULTI_LABEL, ("micro_f1", "macro_f1")),
    ],
)
def test_find_task_of_ones_own(kind, names):
    task = registry.find_task("tsv", kind)
    assert task.kind == kind
    assert task.metrics == names


def test_find_task_refuses_another_kind():
    assert registry.find_task("sts-b", REGRESSION).kind == REGRESSION
    message = "--multi_label is for --task_name=tsv; MRPC is a classification"
    with pytest.raises(UserError, match=message):
        registry.find_task("MRPC", MULTI_LABEL)


def test_every_task_is_complete():
    names = {task.name for task in registry.TASKS}
    assert len(names) == len(registry.TASKS) == 12
    for task in registry.TASKS:
        assert set(task.metrics) <= set(metrics.METRICS)
        for each in (*task.evaluation_sets, *task.prediction_sets):
            assert callable(getattr(task.processor_class, each.method))


def test_the_names_of_files_for_the_glue_server():
    names = {
        each.submission_file
        for task in registry.TASKS
        for each in task.prediction_sets
        if each.submission_file
    }
    words = "CoLA SST-2 MRPC QQP STS-B MNLI-m MNLI-mm QNLI RTE WNLI AX"
    assert names == {f"{word}.tsv" for word in words.split()}


def test_make_processor():
    find = registry.find_task
    assert registry.make_processor(find("rte")).get_labels()[1].startswith("n")
    xnli = registry.make_processor(find("xnli"), xnli_language="sw")
    assert xnli.language == "sw"
    options = TableOptions("a")
    table = registry.make_processor(
        find("tsv"), table_options=options, label_names=["x", "y"]
    )
    assert table.options == options
    labels = find("tsv").labels(table)
    assert labels.names == ("x", "y")
    assert labels.kind == CLASSIFICATION
    stsb = find("stsb")
    assert stsb.labels(registry.make_processor(stsb)).num_outputs == 1


def test_a_new_task_is_a_class_and_a_line(monkeypatch):
    class MineProcessor(examples.DataProcessor):
        def get_labels(self):
            return ["no", "yes"]

        def get_dev_examples(self, data_dir):
            return [examples.InputExample("dev-1", data_dir, label="no")]

    line = registry.Task("Mine", MineProcessor)
    monkeypatch.setattr(registry, "TASKS", (*registry.TASKS, line))
    task = registry.find_task("mine")
    processor = registry.make_processor(task)
    (dev,) = task.evaluation_sets
    assert dev.read(processor, "folder")[0].text_a == "folder"
    assert task.labels(processor).names == ("no", "yes")


def test_present_sets_leaves_out_the_mismatched_one(tmp_path, caplog):
    sets = registry.find_task("MNLI").evaluation_sets
    with caplog.at_level(logging.WARNING):
        (matched,) = registry.present_sets(sets, tmp_path)
    assert matched.suffix == ""
    assert "dev_mismatched.tsv is not in --data_dir" in caplog.text
    with pytest.raises(UserError, match="--data_dir=gone: there is no such"):
        registry.present_sets(sets, "gone")
    (tmp_path / "dev_mismatched.tsv").write_text("")
    present = registry.present_sets(sets, tmp_path)
    assert [each.suffix for each in present] == ["", "_mismatched"]


def test_require_submission():
    registry.require_submission(registry.find_task("MNLI"))
    with pytest.raises(UserError, match="XNLI is not a task .* CoLA, .*, AX"):
        registry.require_submission(registry.find_task("XNLI"))


def _flags(*words):
    """Returns the flags of ONLY_FOR, as the script has them, after parsing."""
    values = flags.FlagValues()
    switches = {"has_header": True, "multi_label": False, "regression": False}
    words_of = {"xnli_language": "zh", "data_format": "tsv"}
    for name in registry.ONLY_FOR:
        if name in switches:
            flags.DEFINE_bool(name, switches[name], "", flag_values=values)
        else:
            default = words_of.get(name)
            flags.DEFINE_string(name, default, "", flag_values=values)
    values(["script", *words])
    return [values[name] for name in registry.ONLY_FOR]


@pytest.mark.parametrize(
    ("task", "word", "message"),
    [
        *(
            ("MRPC", word, f"{word.split('=')[0]} is for --task_name=tsv; .* M")
            for word in (
                "--text_a_column=a",
                "--text_b_column=b",
                "--label_column=0",
                "--has_header=false",
                "--data_format=csv",
                "--labels=a,b",
                "--multi_label",
                "--regression",
            )
        ),
        ("XNLI", "--labels=a,b", "--labels is for --task_name=tsv; .* XNLI"),
        ("STS-B", "--multi_label", "--multi_label is for .* STS-B"),
        ("tsv", "--xnli_language=zh", "--xnli_language is for .*=XNLI; .* tsv"),
        ("MNLI", "--xnli_language=de", "--xnli_language is for .* MNLI"),
    ],
)
def test_a_flag_without_effect_is_refused(task, word, message):
    with pytest.raises(UserError, match=message):
        registry.refuse_idle_flags(registry.find_task(task), _flags(word))


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("MRPC", []),
        ("MRPC", ["--has_header=true", "--multi_label=false"]),
        ("XNLI", ["--xnli_language=zh"]),
        ("STS-B", ["--regression"]),
        ("tsv", ["--text_a_column=a", "--labels=a,b", "--has_header=false"]),
    ],
)
def test_a_flag_with_effect_or_without_a_say_is_taken(task, words):
    registry.refuse_idle_flags(registry.find_task(task), _flags(*words))


def test_labels_of_a_regression_are_refused():
    table = registry.find_task("tsv", REGRESSION)
    with pytest.raises(UserError, match="--labels does nothing with --regr"):
        registry.refuse_idle_flags(table, _flags("--regression", "--labels=a"))
