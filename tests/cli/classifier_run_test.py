"""A classifier's run: files by name, keys, and what is in them."""

import logging
import types

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.cli import classifier_run
from bert_tf.config import BertConfig
from bert_tf.tasks import registry
from bert_tf.tasks.examples import InputExample
from bert_tf.tasks.labels import Labels
from bert_tf.tasks.records.converter import Conversion
from bert_tf.training import (
    classification,
    distribution,
)
from bert_tf.weights import loading


@pytest.fixture
def make(golden, tmp_path):
    """Makes the ClassifierRun of a task from 2018's weights."""

    def make(task_name="MRPC", checkpoint="two_labels.ckpt", **changes):
        task = registry.find_task(task_name)
        labels = task.labels(registry.make_processor(task))
        folder = golden / "tasks"
        conversion = Conversion(labels, 40, str(folder / "vocab.txt"), True)
        job = classification.ClassifierJob(
            config=BertConfig.from_json_file(str(folder / "bert_config.json")),
            labels=labels,
            record_features=conversion.features(),
            output_dir=str(tmp_path),
            strategy=distribution.build_strategy(),
            init_checkpoint=str(folder / "classifier" / checkpoint),
            seed=3,
        )
        return classifier_run.ClassifierRun(
            job=job, task=task, conversion=conversion, **changes
        )

    return make


def examples(count, label="1"):
    return [
        InputExample(f"row-{i}", f"the cat {i}", f"dog {i}", label)
        for i in range(count)
    ]


def test_results_have_the_keys_of_2018_and_the_metrics(make, tmp_path):
    run = make()
    sets = [(run.task.evaluation_sets[0], examples(5))]
    run.evaluate(sets, 2)
    lines = (tmp_path / "eval_results.txt").read_text().splitlines()
    keys = [line.split(" = ")[0] for line in lines]
    assert keys == ["eval_accuracy", "eval_loss", "f1", "global_step", "loss"]
    assert (tmp_path / "eval.tf_record").exists()


def test_a_second_set_has_its_own_keys_and_files(make, tmp_path):
    run = make("MNLI", "three_labels.ckpt")
    sets = list(zip(run.task.evaluation_sets, [examples(5, "neutral")] * 2))
    results = run.measure(sets, 2)
    assert results["eval_accuracy"] == results["eval_accuracy_mismatched"]
    assert "global_step_mismatched" not in results
    sets = list(zip(run.task.prediction_sets, [examples(5)] * 2))
    run.predict(sets, 2, with_labels=True, submission=True)
    assert {path.name for path in tmp_path.iterdir()} == {
        *(f"eval{s}.tf_record{e}" for s in ("", "_mismatched") for e in EXTRAS),
        *(
            f"predict{s}.tf_record{e}"
            for s in ("", "_mismatched")
            for e in EXTRAS
        ),
        "test_results.tsv",
        "test_results_mismatched.tsv",
        "test_predictions.tsv",
        "test_predictions_mismatched.tsv",
        "MNLI-m.tsv",
        "MNLI-mm.tsv",
    }


EXTRAS = ("", ".json")


@pytest.mark.parametrize("count", [1, 8, 9])
@pytest.mark.parametrize("fills_batches", [False, True])
def test_there_is_a_line_for_each_row(
    make, tmp_path, caplog, count, fills_batches
):
    # F63: one row, a full batch, and one row more.
    caplog.set_level(logging.INFO)
    run = make(fills_batches=fills_batches)
    sets = [(run.task.prediction_sets[0], examples(count, None))]
    run.predict(sets, 8, with_labels=True, submission=True)
    table = (tmp_path / "test_predictions.tsv").read_text().splitlines()
    assert table[0] == "id\tprediction\t0\t1"
    ids = [line.split("\t")[0] for line in table[1:]]
    assert ids == [str(i) for i in range(count)]
    results = np.loadtxt(tmp_path / "test_results.tsv", ndmin=2)
    assert results.shape == (count, 2)
    assert "Columns of the predictions: 0, 1." in caplog.text


def train_and_evaluate(run, *, num_train_steps):
    """Trains with an evaluation after each step."""
    flags = types.SimpleNamespace(
        output_dir=run.job.output_dir,
        train_batch_size=2,
        eval_batch_size=2,
        learning_rate=1e-4,
        warmup_proportion=0.0,
        eval_steps=1,
        early_stopping_patience=None,
        save_checkpoints_steps=1000,
        iterations_per_loop=1000,
        log_steps=100,
        use_tpu=False,
    )
    inputs = types.SimpleNamespace(
        train=examples(4),
        num_train_steps=num_train_steps,
        dev=[(run.task.evaluation_sets[0], examples(3))],
    )
    run.train(flags, inputs)


def test_training_leaves_what_evaluation_needs_beside_the_weights(
    make, tmp_path
):
    run = make()
    train_and_evaluate(run, num_train_steps=2)
    for folder in (tmp_path, tmp_path / "best"):
        assert (folder / "labels.txt").read_text() == "0\n1\n"
        assert (folder / "task.txt").read_text() == "MRPC\n"
        assert (folder / "vocab.txt").exists()
        assert (
            '"do_lower_case": true'
            in (folder / "tokenizer_config.json").read_text()
        )
        reader = loading.open_checkpoint(folder)
        assert "output_weights" in reader.stored


def test_evaluations_while_training_make_records_once_and_scalars(
    make, tmp_path, caplog
):
    caplog.set_level(logging.INFO)
    run = make()
    train_and_evaluate(run, num_train_steps=3)
    assert caplog.text.count("eval.tf_record has 3 records") == 1
    (events,) = (tmp_path / "eval").glob("events.out.tfevents.*")
    scalars = {
        (value.tag, event.step)
        for event in tf.compat.v1.train.summary_iterator(str(events))
        for value in event.summary.value
    }
    names = ("eval_accuracy", "eval_loss", "f1", "loss")
    assert scalars == {(name, step) for name in names for step in (1, 2, 3)}


def test_labels_follow_their_kind(make):
    # The registry's tasks agree with the weights that the model makes.
    run = make("STS-B", "two_labels.ckpt")
    assert run.conversion.labels == Labels("regression")
    assert run.job.build_model().output_shape == {"logits": (None, 1)}
