"""Tests of the learning rate: warm-up, then decay."""

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.errors import UserError
from bert_tf.training import optimization
from tests.training.optimization_test import make_variables


def test_schedule_worked_example():
    # Peak 1, 10 steps, 4 of warm-up; by hand. Float32 division: 1e-7.
    schedule = optimization.WarmUpThenLinearDecay(1.0, 10, 4)
    rates = [schedule(tf.constant(step, tf.int64)) for step in range(12)]
    np.testing.assert_allclose(
        rates,
        [0, 0.25, 0.5, 0.75, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0, 0],
        atol=1e-7,
    )
    assert rates[0].dtype == tf.float32


@pytest.mark.parametrize("num_warmup_steps", [0, None])
def test_schedule_without_warm_up_begins_at_the_peak(num_warmup_steps):
    optimizer = optimization.create_optimizer(0.5, 4, num_warmup_steps)
    (weight,) = make_variables(("w", 1.0))
    rates = []
    for _ in range(4):
        optimizer.apply_gradients([(tf.constant(0.1), weight)])
        rates.append(optimizer.learning_rate.numpy())
    np.testing.assert_array_equal(rates, np.float32([0.5, 0.375, 0.25, 0.125]))


@pytest.mark.parametrize("num_warmup_steps", [100, 250])
def test_warm_up_of_the_whole_run_warns_and_stays_finite(
    num_warmup_steps, caplog
):
    optimizer = optimization.create_optimizer(0.5, 100, num_warmup_steps)
    assert f"num_warmup_steps ({num_warmup_steps})" in caplog.text
    schedule = optimizer.get_config()["learning_rate"]["config"]
    schedule = optimization.WarmUpThenLinearDecay(**schedule)
    rates = [schedule(step).numpy() for step in (0, 50, 99, 100, 251)]
    assert np.isfinite(rates).all()
    assert rates[2] == pytest.approx(0.5 * 99 / num_warmup_steps)


def test_no_warning_where_the_rate_decays(caplog):
    optimization.create_optimizer(0.5, 100, 99)
    assert not caplog.text


@pytest.mark.parametrize("num_train_steps", [0, -3])
def test_no_steps_is_an_error(num_train_steps):
    with pytest.raises(
        UserError, match=f"num_train_steps is {num_train_steps}"
    ):
        optimization.create_optimizer(0.1, num_train_steps, 0)


def test_negative_warm_up_is_an_error():
    with pytest.raises(UserError, match="num_warmup_steps is -1"):
        optimization.create_optimizer(0.1, 10, -1)


@pytest.mark.parametrize("init_lr", [-1e-4, float("nan"), float("inf")])
def test_impossible_learning_rate_is_an_error(init_lr):
    with pytest.raises(UserError, match=f"learning rate is {init_lr}"):
        optimization.create_optimizer(init_lr, 10, 0)
