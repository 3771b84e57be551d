"""Tests of keeping the best weights and of ending early."""

import logging

import pytest
import tensorflow as tf
import tf_keras

from bert_tf.checkpoints.checkpoint_keeper import CheckpointKeeper
from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.training.best_weights import BestKeeper
from bert_tf.weights import loading


class Job:
    """A model of one weight, which is the step."""

    config = BertConfig(vocab_size=61)

    def __init__(self):
        inputs = tf_keras.Input([1])
        dense = tf_keras.layers.Dense(1, use_bias=False, name="dense")
        self._model = tf_keras.Model(inputs, dense(inputs))
        self._step = tf.Variable(0, dtype=tf.int64)

    def advance_to(self, step):
        self._model.variables[0].assign([[float(step)]])
        self._step.assign(step)

    def weight(self):
        return float(self._model.variables[0][0, 0])

    def ready_model(self):
        return self._model

    def global_step_variable(self):
        return self._step


def make(folder, **changes):
    values = {"measure": "mcc", "eval_steps": 10, **changes}
    return BestKeeper(str(folder), **values)


def watch(best, job, values, first_step=10):
    """Watches a run with these values; returns what it was told."""
    told = []
    for index, value in enumerate(values):
        step = first_step + 10 * index
        job.advance_to(step)
        told.append(best.update(step, job, {"mcc": value}))
    return told


def keeper(folder, job):
    """Returns what keeps the checkpoints of the run itself."""
    variables = loading.variable_names(job.ready_model())
    step = {"global_step": job.global_step_variable()}
    return CheckpointKeeper(str(folder), {**variables, **step})


def test_the_best_weights_are_kept(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    best, job = make(tmp_path), Job()
    assert watch(best, job, [0.2, 0.5, 0.4, 0.5]) == [True] * 4
    assert "Step 40: mcc 0.5000; the best is 0.5000, of step 20" in caplog.text
    assert job.weight() == 40
    best.restore(job)
    assert job.weight() == 20
    assert int(job.global_step_variable()) == 20
    # They are a released model: another program can begin with the folder.
    reader = loading.open_checkpoint(tmp_path / "best")
    assert reader.stored.keys() == {"dense/kernel", "global_step"}
    config = BertConfig.from_json_file(tmp_path / "best" / "bert_config.json")
    assert config == Job.config


def test_patience_is_counted_from_the_best(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    best = make(tmp_path, patience=2)
    told = watch(best, Job(), [0.2, 0.1, 0.3, 0.3, 0.2])
    assert told == [True, True, True, True, False]
    assert "2 evaluations in a row were no better" in caplog.text


def test_a_resumed_run_remembers_the_best(tmp_path):
    watch(make(tmp_path, patience=2), Job(), [0.5, 0.4])
    assert watch(make(tmp_path, patience=2), Job(), [0.4], 30) == [False]


def test_a_value_that_is_no_number_is_never_the_best(tmp_path):
    best, job = make(tmp_path), Job()
    watch(best, job, [0.5, float("nan")])
    best.restore(job)
    assert job.weight() == 10


def test_a_run_that_was_ended_is_not_taken_up_unasked(tmp_path):
    best, job = make(tmp_path, patience=2), Job()
    best.refuse_stopped_run()
    watch(best, job, [0.5, 0.4, 0.3])
    keeper(tmp_path, job).save(30)
    with pytest.raises(
        UserError, match="patience=2: .*at step 30, and its best"
    ):
        best.refuse_stopped_run()
    make(tmp_path, patience=3).refuse_stopped_run()
    make(tmp_path).refuse_stopped_run()


def test_the_best_of_a_run_that_is_gone_is_not_taken_for_this_one_s(tmp_path):
    watch(make(tmp_path), Job(), [0.5])
    with pytest.raises(UserError, match="whose checkpoints are not there"):
        make(tmp_path).refuse_stopped_run()


def test_without_an_evaluation_the_weights_stay(tmp_path):
    job = Job()
    job.advance_to(5)
    make(tmp_path).restore(job)
    assert job.weight() == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"evaluated": "two"}, "the data evaluated on changed"),
        ({"measure": "f1"}, "the measure changed"),
        (
            {"evaluated": "two", "measure": "f1"},
            "the measure and the data evaluated on changed",
        ),
    ],
)
def test_the_best_of_other_data_or_another_measure_does_not_count(
    tmp_path, caplog, change, message
):
    caplog.set_level(logging.INFO)
    job = Job()
    watch(make(tmp_path, evaluated="one", patience=1), job, [0.5])
    keeper(tmp_path, job).save(10)
    best = make(tmp_path, **{"evaluated": "one", "patience": 1, **change})
    best.refuse_stopped_run()
    job.advance_to(20)
    assert best.update(20, job, {"mcc": 0.3, "f1": 0.3})
    assert "is 0.3000, of step 20" in caplog.text
    assert [m for m in caplog.messages if "does not count" in m] == [
        f"The best mcc so far, 0.5000 of step 10, does not count any more: "
        f"{message}."
    ]
    # From here on it is known.
    assert not best.update(30, job, {"mcc": 0.3, "f1": 0.3})
    job.advance_to(30)
    best.restore(job)
    assert job.weight() == 20


def test_the_best_of_other_data_is_not_gone_back_to(tmp_path):
    job = Job()
    watch(make(tmp_path, evaluated="one"), job, [0.5])
    job.advance_to(20)
    make(tmp_path, evaluated="two").restore(job)
    assert job.weight() == 20


def test_who_does_not_say_what_is_evaluated_compares_with_any(tmp_path):
    watch(make(tmp_path, patience=1, evaluated="one"), Job(), [0.5])
    assert watch(make(tmp_path, patience=1), Job(), [0.4], 20) == [False]
