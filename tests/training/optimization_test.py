"""Tests of the optimizer's updates."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from bert_tf.training import optimization

ROOT = pathlib.Path(__file__).parents[2]

# In float32 the kernel's 1 - 0.999 is 0.00099998713: v comes out 1.3e-5 low.
RTOL = 1.5e-5


def make_variables(*names_and_values):
    return [
        tf.Variable(np.float32(value), name=name)
        for name, value in names_and_values
    ]


def test_update_worked_example():
    """One weight 1, gradient 0.5, rate 0.1.

    m = 0.1 * 0.5 = 0.05; v = 0.001 * 0.25 = 0.00025; sqrt(v) = 0.0158114;
    update = 0.05 / (0.0158114 + 0.000001) = 3.16208; 1 - 0.316208 = 0.683792.
    With bias correction it would be 0.9.
    """
    (weight,) = make_variables(("w", 1.0))
    optimizer = optimization.AdamWeightDecay(0.1)
    optimizer.apply_gradients([(tf.constant(0.5), weight)])
    slots = optimizer.slots(weight)
    np.testing.assert_allclose(weight.numpy(), 0.683792, rtol=RTOL)
    np.testing.assert_allclose(slots["adam_m"].numpy(), 0.05, rtol=1e-6)
    np.testing.assert_allclose(slots["adam_v"].numpy(), 0.00025, rtol=RTOL)


def test_weight_decay_is_added_to_the_update_except_where_excluded():
    # As above; decay adds 0.1 * 0.01 * 1 = 0.001 to what is subtracted.
    variables = make_variables(
        ("layer/kernel", 1.0),
        ("layer/bias", 1.0),
        ("cls/predictions/output_bias", 1.0),
        ("layer/LayerNorm/gamma", 1.0),
        ("layer/layer_norm/beta", 1.0),
    )
    optimizer = optimization.AdamWeightDecay(
        0.1,
        weight_decay_rate=optimization.WEIGHT_DECAY_RATE,
        exclude_from_weight_decay=optimization.EXCLUDED_FROM_WEIGHT_DECAY,
    )
    optimizer.apply_gradients([(tf.constant(0.5), v) for v in variables])
    np.testing.assert_allclose(
        [variable.numpy() for variable in variables],
        [0.682792] + [0.683792] * 4,
        rtol=RTOL,
    )


def test_exclusion_patterns_see_the_name_without_its_number():
    variables = make_variables(("a/bias", 1.0), ("a/bias_table", 1.0))
    optimizer = optimization.AdamWeightDecay(
        1.0, weight_decay_rate=0.5, exclude_from_weight_decay=["bias$"]
    )
    optimizer.apply_gradients([(tf.constant(0.0), v) for v in variables])
    assert [variable.numpy() for variable in variables] == [1.0, 0.5]


def plain_updates(weight, gradients, rates, decay):
    """The update rule in NumPy, float64."""
    m, v = np.zeros_like(weight), np.zeros_like(weight)
    for gradient, rate in zip(gradients, rates):
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient**2
        weight = weight - rate * (m / (np.sqrt(v) + 1e-6) + decay * weight)
    return weight, m, v


@pytest.mark.parametrize(
    "function",
    [
        lambda step: step,
        tf.function,
        lambda step: tf.function(step, jit_compile=True),
    ],
    ids=["eager", "function", "jit_compile"],
)
def test_updates_follow_the_rule_in_every_mode(function):
    rng = np.random.default_rng(3)
    initial = rng.normal(size=[5, 3])
    gradients = rng.normal(size=[7, 5, 3])
    weight = tf.Variable(np.float32(initial), name="kernel")
    optimizer = optimization.create_optimizer(0.02, 9, 2)
    optimizer.build([weight])

    def step(gradient):
        optimizer.apply_gradients([(gradient, weight)])

    step = function(step)
    for gradient in gradients:
        step(tf.constant(gradient, tf.float32))
    rates = [0, 0.01, *(0.02 * (1 - k / 9) for k in range(2, 7))]
    wanted, m, v = plain_updates(initial, gradients, rates, 0.01)
    slots = optimizer.slots(weight)
    # Seven updates of at most 0.1, each 0.65e-5 off for v's sake.
    np.testing.assert_allclose(weight.numpy(), wanted, atol=5e-6)
    np.testing.assert_allclose(slots["adam_m"].numpy(), m, atol=1e-6)
    np.testing.assert_allclose(slots["adam_v"].numpy(), v, rtol=RTOL)
    assert optimizer.iterations.numpy() == 7


def test_rows_of_indexed_slices_are_summed_up():
    dense, sparse = make_variables(
        ("dense", np.ones([4, 3])), ("sparse", np.ones([4, 3]))
    )
    # Row 2 twice: 1 + 4 = 5; rows 1 and 3 not at all.
    rows = np.float32([[1] * 3, [2] * 3, [4] * 3])
    slices = tf.IndexedSlices(rows, [2, 0, 2], dense_shape=[4, 3])
    summed = np.float32([[2] * 3, [0] * 3, [5] * 3, [0] * 3])
    optimizer = optimization.AdamWeightDecay(0.1, weight_decay_rate=0.01)
    for _ in range(2):
        optimizer.apply_gradients(
            [(tf.constant(summed), dense), (slices, sparse)]
        )
    np.testing.assert_array_equal(sparse.numpy(), dense.numpy())
    np.testing.assert_allclose(
        # Two equal gradients: 0.1 * 5, then 0.9 * 0.5 + 0.1 * 5.
        optimizer.slots(sparse)["adam_m"].numpy()[:, 0],
        [0.38, 0, 0.95, 0],
        rtol=1e-6,
    )


def test_a_step_is_counted_once_whatever_the_number_of_variables():
    variables = make_variables(*((f"w{i}", 1.0) for i in range(200)))
    optimizer = optimization.create_optimizer(0.5, 20, 4)
    gradients = [(tf.constant(0.1), variable) for variable in variables]
    rates = []
    for _ in range(10):
        optimizer.apply_gradients(gradients)
        rates.append(optimizer.learning_rate.numpy())
    assert optimizer.iterations.numpy() == 10
    assert optimizer.iterations.dtype == tf.int64
    # Update k uses the rate of step k - 1.
    wanted = [0, 0.125, 0.25, 0.375] + [
        0.5 * (1 - k / 20) for k in range(4, 10)
    ]
    np.testing.assert_allclose(rates, wanted, rtol=1e-6)


def test_a_variable_without_gradient_is_left_alone_and_gets_no_slots():
    used, unused = make_variables(("used", 1.0), ("unused", 1.0))
    optimizer = optimization.AdamWeightDecay(0.1, weight_decay_rate=0.5)
    optimizer.apply_gradients([(tf.constant(0.5), used), (None, unused)])
    assert unused.numpy() == 1.0
    assert used.numpy() < 1.0
    with pytest.raises(KeyError):
        optimizer.slots(unused)


def test_no_gradient_at_all_is_an_error():
    (weight,) = make_variables(("w", 1.0))
    optimizer = optimization.AdamWeightDecay(0.1)
    with pytest.raises(ValueError, match="No variable was given a gradient"):
        optimizer.apply_gradients([(None, weight)])


def test_slots_exist_once_built_and_hold_zeros():
    (weight,) = make_variables(("w", np.ones([2, 5])))
    optimizer = optimization.AdamWeightDecay(0.1)
    optimizer.build([weight])
    slots = optimizer.slots(weight)
    assert list(slots) == ["adam_m", "adam_v"]
    for slot in slots.values():
        np.testing.assert_array_equal(slot.numpy(), np.zeros([2, 5]))
    optimizer.apply_gradients([(tf.ones([2, 5]), weight)])
    assert optimizer.slots(weight)["adam_m"] is slots["adam_m"]


def test_steps_in_a_loop_on_the_device_equal_single_steps():
    alone, looped = make_variables(("a", [1.0, 2.0]), ("b", [1.0, 2.0]))
    optimizers = [optimization.create_optimizer(0.1, 8, 3) for _ in range(2)]
    optimizers[1].build([looped])

    def loss_gradient(weight):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weight**2)
        return tape.gradient(loss, weight)

    for _ in range(5):
        optimizers[0].apply_gradients([(loss_gradient(alone), alone)])

    @tf.function
    def loop(steps):
        for _ in tf.range(steps):
            optimizers[1].apply_gradients([(loss_gradient(looped), looped)])

    loop(tf.constant(5))
    # The same float32 operations: one rounding of freedom.
    np.testing.assert_allclose(looped.numpy(), alone.numpy(), rtol=1e-6)
    assert optimizers[1].iterations.numpy() == 5


def test_under_one_device_strategy():
    strategy = tf.distribute.OneDeviceStrategy("CPU:0")
    with strategy.scope():
        (weight,) = make_variables(("w", 1.0))
        optimizer = optimization.AdamWeightDecay(0.1)
        optimizer.build([weight])

    @tf.function
    def step():
        optimizer.apply_gradients([(tf.constant(0.5), weight)])

    strategy.run(step)
    np.testing.assert_allclose(weight.numpy(), 0.683792, rtol=RTOL)


MIRRORED = """
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from bert_tf.training import optimization

strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    kernel = tf.Variable(1.0, name="kernel")
    bias = tf.Variable(1.0, name="bias")
    optimizer = optimization.create_optimizer(0.1, 1000000, 0)
    optimizer.build([kernel, bias])

@tf.function
def steps():
    for _ in tf.range(1):
        strategy.run(replica_step)

def replica_step():
    # The replicas give 0.125 and 0.375: together 0.5.
    replica = tf.distribute.get_replica_context().replica_id_in_sync_group
    gradient = 0.125 + 0.25 * tf.cast(replica, tf.float32)
    optimizer.apply_gradients([(gradient, kernel), (gradient, bias)])

steps()
for variable in (kernel, bias):
    values = [float(v) for v in strategy.experimental_local_results(variable)]
    assert len(values) == 2, values
    assert values[0] == values[1], values
    print(values[0])
print(int(optimizer.iterations.numpy()))
print(float(optimizer.slots(kernel)["adam_m"].numpy()))
"""


@pytest.mark.slow
def test_replicas_sum_their_gradients_and_agree(tmp_path):
    # In another process: two logical devices must be made before any is used.
    script = tmp_path / "mirrored.py"
    script.write_text(MIRRORED)
    ran = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    # As in the worked examples; the kernel decays, the bias does not, on both.
    np.testing.assert_allclose(
        [float(line) for line in ran.stdout.split()],
        [0.682792, 0.683792, 1, 0.05],
        rtol=RTOL,
    )


def test_under_mixed_bfloat16_variables_and_slots_stay_float32():
    policy = tf_keras.mixed_precision.Policy("mixed_bfloat16")
    layer = tf_keras.layers.Dense(3, dtype=policy, name="dense")
    optimizer = optimization.create_optimizer(0.1, 1000000, 0)
    with tf.GradientTape() as tape:
        output = layer(tf.ones([2, 5]))
        loss = tf.reduce_sum(tf.cast(output, tf.float32))
    assert output.dtype == tf.bfloat16
    variables = layer.trainable_variables
    before = [variable.numpy() for variable in variables]
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    for variable, value in zip(variables, before):
        assert variable.numpy().dtype == np.float32
        assert optimizer.slots(variable)["adam_v"].dtype == tf.float32
        # The gradient is 2 everywhere: the update is 0.1 * 3.1622, and decay
        # adds at most 0.1 * 0.01 * 1.
        np.testing.assert_allclose(
            value - variable.numpy(), 0.31622, atol=0.0011
        )


def test_configuration_makes_an_equal_optimizer():
    optimizer = optimization.create_optimizer(0.02, 9, 2)
    made = optimization.AdamWeightDecay.from_config(
        optimizer.get_config(),
        custom_objects={
            "WarmUpThenLinearDecay": optimization.WarmUpThenLinearDecay
        },
    )
    assert made.get_config() == optimizer.get_config()
    assert made.get_config()["weight_decay_rate"] == 0.01
