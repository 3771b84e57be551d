"""The classifier's job, on 2018's own results: S=40, D=32, V from vocab.txt."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.checkpoints import checkpoint_io
from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.tasks import registry
from bert_tf.tasks.examples import (
    InputExample,
    PaddingInputExample,
    without_labels,
)
from bert_tf.tasks.labels import MULTI_LABEL, REGRESSION, Labels
from bert_tf.tasks.records.converter import Conversion
from bert_tf.tasks.records.record_files import prepare_records
from bert_tf.training import classification, distribution, training_loop
from bert_tf.weights import loading

CHECKPOINTS = {"MRPC": "two", "CoLA": "two", "MNLI": "three", "XNLI": "three"}
YES_NO = Labels("classification", ("no", "yes"))


@pytest.fixture
def make_job(golden, tmp_path):
    """Makes a job for some labels, and the Conversion of its records."""

    def make(labels, init_checkpoint=None, **changes):
        conversion = Conversion(
            labels, 40, str(golden / "tasks" / "vocab.txt"), True
        )
        path = golden / "tasks" / "bert_config.json"
        values = {
            "config": BertConfig.from_json_file(str(path)),
            "labels": labels,
            "record_features": conversion.features(),
            "output_dir": str(tmp_path),
            "strategy": distribution.build_strategy(),
            "init_checkpoint": init_checkpoint and str(init_checkpoint),
            "seed": 3,
            **changes,
        }
        return classification.ClassifierJob(**values), conversion

    return make


@pytest.fixture
def make_golden_job(golden, make_job):
    """Makes the job of a task from the weights that 2018 used."""

    def make(task_name, **changes):
        task = registry.find_task(task_name)
        processor = registry.make_processor(task)
        folder = golden / "tasks" / "classifier"
        path = folder / f"{CHECKPOINTS[task_name]}_labels.ckpt"
        job, conversion = make_job(task.labels(processor), path, **changes)
        return job, conversion, processor, str(folder / task_name)

    return make


def records_of(examples, conversion, tmp_path):
    path = str(tmp_path / "examples.tf_record")
    prepare_records(examples, path, conversion)
    return path


# 2018's results.


@pytest.mark.parametrize("task_name", CHECKPOINTS)
def test_evaluation_is_that_of_2018(make_golden_job, tmp_path, task_name):
    job, conversion, processor, folder = make_golden_job(task_name)
    path = records_of(processor.get_dev_examples(folder), conversion, tmp_path)
    with open(f"{folder}/eval_results.txt") as stream:
        expected = dict(line.split(" = ") for line in stream)
    results = job.evaluate(path, 8, ())
    assert results.keys() == expected.keys()
    for key, value in expected.items():
        # float32 through two layers.
        assert results[key] == pytest.approx(float(value), abs=1e-5), key


@pytest.mark.parametrize("task_name", ["MRPC", "CoLA", "MNLI"])
@pytest.mark.parametrize("batch_size", [8, 5])
def test_predictions_are_those_of_2018(
    make_golden_job, tmp_path, task_name, batch_size
):
    job, conversion, processor, folder = make_golden_job(task_name)
    examples = without_labels(processor.get_test_examples(folder))
    path = records_of(examples, conversion, tmp_path)
    values = job.predict(path, batch_size)
    expected = np.loadtxt(f"{folder}/test_results.tsv", delimiter="\t")
    np.testing.assert_allclose(values, expected, atol=1e-5)


def test_fixed_shapes_and_padding_examples_change_nothing(
    make_golden_job, tmp_path
):
    # As on a TPU: all batches alike, and the last one filled up.
    job, conversion, processor, folder = make_golden_job("MRPC")
    fixed, *_ = make_golden_job("MRPC", use_one_hot_embeddings=True)
    examples = processor.get_dev_examples(folder)
    assert len(examples) % 8
    path = records_of(examples, conversion, tmp_path)
    filled = [*examples, *[PaddingInputExample()] * (-len(examples) % 8)]
    filled = records_of(filled, conversion, tmp_path / "..")
    np.testing.assert_allclose(
        fixed.predict(filled, 8), job.predict(path, 8), atol=1e-6
    )
    results, expected = (
        one.evaluate(p, 8, ("f1",)) for one, p in ((fixed, filled), (job, path))
    )
    # `loss` counts the padding, as in 2018.
    assert results.keys() == expected.keys()
    for key in expected.keys() - {"loss"}:
        assert results[key] == pytest.approx(expected[key], abs=1e-6), key


# Learning.


def train(job, path, num_train_steps, **changes):
    settings = training_loop.LoopSettings(
        num_train_steps=num_train_steps, train_batch_size=4, **changes
    )
    schedule = training_loop.Schedule(4e-3, 2, "num_train_epochs")
    job.train(job.records(path), settings, schedule)


def examples_of(labels):
    """Examples whose texts say their label, which is cycled through."""
    texts = ("the cat sat on the mat", "one dog ran home", "we like green tea")
    return [
        InputExample(str(i), texts[i % 3], label=labels[i % len(labels)])
        for i in range(12)
    ]


def encoder_of(golden, tmp_path):
    """Takes the classifier off a checkpoint; returns the encoder's prefix."""
    path = golden / "tasks" / "classifier" / "two_labels.ckpt"
    reader = loading.open_checkpoint(path)
    names = [n for n in reader.stored if n.startswith("bert/")]
    prefix = str(tmp_path / "encoder.ckpt")
    checkpoint_io.write_in_parts(prefix, names, reader.read)
    return prefix


@pytest.mark.parametrize(
    ("labels", "cells", "metric"),
    [
        (YES_NO, ["no", "yes", "yes"], "f1"),
        (Labels(REGRESSION), ["1.5", "-0.5", "0"], "pearson"),
        (Labels(MULTI_LABEL, ("a", "b")), ["a", "a,b", ""], "micro_f1"),
    ],
    ids=["classification", "regression", "multi_label"],
)
def test_each_kind_is_learned(
    golden, make_job, tmp_path, labels, cells, metric
):
    job, conversion = make_job(labels, encoder_of(golden, tmp_path))
    job.config = dataclasses.replace(
        job.config, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )
    path = records_of(examples_of(cells), conversion, tmp_path)
    train(job, path, 30)
    results = job.evaluate(path, 5, (metric,))
    assert results[metric] > 0.95
    assert results["global_step"] == 30
    assert ("eval_accuracy" in results) == (labels.kind != REGRESSION)
    assert results.get("eval_accuracy", 1) == 1
    values = job.predict(path, 5)
    assert values.shape == (12, labels.num_outputs)
    if labels.kind == MULTI_LABEL:
        np.testing.assert_array_equal(
            values[:3].round(), [[1, 0], [1, 1], [0, 0]]
        )
    elif labels.kind != REGRESSION:
        np.testing.assert_allclose(values.sum(axis=-1), 1, atol=1e-6)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bits(make_job, tmp_path):
    stored = []
    for name in ("one", "two"):
        job, conversion = make_job(YES_NO, output_dir=str(tmp_path / name))
        path = records_of(examples_of(["no", "yes"]), conversion, tmp_path)
        train(job, path, 4)
        reader = loading.open_checkpoint(tmp_path / name)
        stored.append({n: reader.read(n).tobytes() for n in reader.stored})
    assert stored[0] == stored[1]
    # The head under 2018's names, with its slots.
    assert {"output_weights", "output_bias/adam_m"} < stored[0].keys()


# Checkpoints that do not fit.


def test_without_a_checkpoint_there_is_nothing_to_evaluate(make_job):
    job, _ = make_job(YES_NO)
    job.check_head(to_train=True)
    with pytest.raises(UserError, match="no --init_checkpoint is given"):
        job.check_head(to_train=False)


def test_a_checkpoint_without_classifier_cannot_be_evaluated(golden, make_job):
    path = golden / "model" / "gelu" / "bert_model.ckpt"
    job, _ = make_job(YES_NO, path)
    job.check_head(to_train=True)
    with pytest.raises(UserError, match="--init_checkpoint: .*no classifier"):
        job.check_head(to_train=False)


@pytest.mark.parametrize("to_train", [True, False])
def test_another_number_of_labels_is_refused(make_golden_job, to_train):
    job, *_ = make_golden_job("MNLI")
    other = dataclasses.replace(job, labels=YES_NO)
    with pytest.raises(
        UserError,
        match=r"--init_checkpoint: .*3 outputs, but this task has 2 \(no, yes",
    ):
        other.check_head(to_train=to_train)


def test_a_regression_says_that_it_has_no_labels(make_golden_job):
    job, *_ = make_golden_job("MNLI")
    other = dataclasses.replace(job, labels=Labels(REGRESSION))
    with pytest.raises(UserError, match=r"task has 1 \(a number, no label\)"):
        other.check_head(to_train=True)


def test_another_number_of_labels_in_the_output_folder(make_job, tmp_path):
    job, conversion = make_job(YES_NO)
    path = records_of(examples_of(["no", "yes"]), conversion, tmp_path)
    train(job, path, 1)
    other, _ = make_job(Labels("classification", ("a", "b", "c")))
    with pytest.raises(UserError, match="--output_dir: .* 2 outputs.*Give ano"):
        other.check_head(to_train=True)


def test_a_finished_run_names_the_flag_that_goes_on(make_job, tmp_path):
    job, conversion = make_job(YES_NO)
    path = records_of(examples_of(["no", "yes"]), conversion, tmp_path)
    train(job, path, 1)
    with pytest.raises(UserError, match="--num_train_epochs ends the run at"):
        train(job, path, 1)


def test_a_label_beyond_the_classes_in_a_record_is_found(make_job, tmp_path):
    # A file of records made for more labels.
    job, _ = make_job(YES_NO)
    _, conversion = make_job(Labels("classification", ("a", "b", "c")))
    path = records_of(examples_of(["a", "b", "c"]), conversion, tmp_path)
    with pytest.raises((UserError, tf.errors.InvalidArgumentError)):
        job.evaluate(path, 4, ())


def test_a_damaged_file_is_told_with_what_helps(make_job, tmp_path):
    job, conversion = make_job(YES_NO)
    path = records_of(
        [InputExample("1", "a", None, "no")], conversion, tmp_path
    )
    content = (tmp_path / "examples.tf_record").read_bytes()
    (tmp_path / "examples.tf_record").write_bytes(content[:-7])
    settings = training_loop.LoopSettings(num_train_steps=1, train_batch_size=1)
    with pytest.raises(UserError, match="after 0 good .*Remove the file and"):
        job.train(job.records(path), settings, training_loop.Schedule(1e-4, 0))
