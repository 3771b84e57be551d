import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.model.dropout import Dropout, dropout_states


def test_dropout_acts_and_scales():
    layer, ones = Dropout(0.25), tf.ones([200, 100])
    dropped = layer(ones, training=True).numpy()
    # What is kept is scaled by 1 / (1 - 0.25), so that the mean stays 1.
    np.testing.assert_allclose(np.unique(dropped), [0.0, 4 / 3], rtol=1e-6)
    # 20,000 draws: one standard deviation of the share is 0.003.
    assert abs((dropped == 0.0).mean() - 0.25) < 0.02


def test_dropout_differs_from_step_to_step_and_layer_to_layer():
    first, second, ones = Dropout(0.5), Dropout(0.5), tf.ones(99)
    first(ones), second(ones)
    step = tf.function(
        lambda: (first(ones, training=True), second(ones, training=True))
    )
    masks = [tuple(mask.numpy()) for mask in (*step(), *step())]
    assert len(set(masks)) == 4


@pytest.mark.parametrize(
    ("rate", "training"), [(0.0, True), (0.5, False), (0.5, None)]
)
def test_dropout_leaves_the_rest_alone(rate, training):
    x = np.arange(84, dtype=np.float32).reshape([7, 12])
    np.testing.assert_array_equal(Dropout(rate)(x, training=training), x)


@pytest.mark.slow
@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_state_brings_its_masks_back(jit_compile):
    layer, ones = Dropout(0.5), tf.ones([7, 12])
    layer(ones)
    step = tf.function(
        lambda: layer(ones, training=True), jit_compile=jit_compile
    )
    step()
    ((_, state),) = dropout_states(layer).items()
    kept = state.numpy()
    first, second = step(), step()
    assert not np.array_equal(first, second)
    state.assign(kept)
    np.testing.assert_array_equal(step(), first)
    np.testing.assert_array_equal(step(), second)


def test_the_seed_decides_the_masks():
    def draw(seed):
        tf.random.set_seed(seed)
        return Dropout(0.5)(tf.ones([7, 12]), training=True).numpy()

    np.testing.assert_array_equal(draw(3), draw(3))
    assert not np.array_equal(draw(3), draw(4))


TWO_DEVICES = """
import numpy as np
import tensorflow as tf

from bert_tf.model.dropout import Dropout

(cpu,) = tf.config.list_physical_devices("CPU")
logical = tf.config.LogicalDeviceConfiguration()
tf.config.set_logical_device_configuration(cpu, [logical, logical])
strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
with strategy.scope():
    layer = Dropout(0.5)
    layer.build([7, 12])
masks = strategy.run(lambda: layer(tf.ones([7, 12]), training=True))
first, second = strategy.experimental_local_results(masks)
assert not np.array_equal(first, second)
"""


@pytest.mark.slow
def test_devices_draw_masks_of_their_own():
    # In another process: two devices must be made before any is used.
    result = subprocess.run(
        [sys.executable, "-c", TWO_DEVICES],
        cwd=pathlib.Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr


def test_a_dropout_can_be_made_again_from_its_config():
    layer = Dropout(0.25, name="dropout")
    assert Dropout.from_config({"rate": 0.25, "name": "x"}).rate == layer.rate
