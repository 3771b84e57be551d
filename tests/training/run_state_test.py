import shutil

import pytest
import tensorflow as tf
import tf_keras

from bert_tf.errors import UserError
from bert_tf.model.dropout import Dropout
from bert_tf.training import run_state


def small_model(rate=0.5):
    inputs = tf_keras.Input([6])
    return tf_keras.Model(inputs, Dropout(rate)(inputs))


@pytest.fixture
def paths(tmp_path):
    for name, size in (("a.tfrecord", 3), ("b.tfrecord", 5)):
        (tmp_path / name).write_bytes(b"x" * size)
    return [str(tmp_path / "a.tfrecord"), str(tmp_path / "b.tfrecord")]


def draw(model):
    return model(tf.ones([4, 6]), training=True).numpy().tolist()


def test_dropout_and_position_go_on_where_they_were(paths):
    model = small_model()
    draw(model)
    state = run_state.RunState(model, paths, seed=7)
    companion = state.describe(examples_read=12)
    expected = [draw(model), draw(model)]

    other = small_model()
    resumed = run_state.RunState(other, paths, seed=8)
    resumed.restore(companion)
    assert (resumed.seed, resumed.examples_read) == (7, 12)
    assert [draw(other), draw(other)] == expected


def test_a_moved_run_is_still_the_same(paths, tmp_path):
    companion = run_state.RunState(small_model(), paths, seed=7).describe(12)
    moved = tmp_path / "moved"
    moved.mkdir()
    new_paths = [shutil.copy(path, moved) for path in paths]
    state = run_state.RunState(small_model(), new_paths, seed=8)
    state.restore(companion)
    assert state.examples_read == 12


def test_other_files_mean_a_new_pass(paths, caplog):
    companion = run_state.RunState(small_model(), paths, seed=7).describe(12)
    state = run_state.RunState(small_model(), paths[:1], seed=8)
    with caplog.at_level("INFO", "absl"):
        state.restore(companion)
    assert (state.seed, state.examples_read) == (8, 0)
    assert "a new pass (the input files are others)" in caplog.text


def test_no_companion_means_a_new_pass(paths, caplog):
    state = run_state.RunState(small_model(), paths, seed=8)
    with caplog.at_level("INFO", "absl"):
        state.restore(None)
    assert (state.seed, state.examples_read) == (8, 0)
    assert "a new pass (nothing tells where it was)" in caplog.text


def test_a_model_without_dropout_takes_the_position_alone(paths):
    companion = run_state.RunState(small_model(), paths, seed=7).describe(12)
    inputs = tf_keras.Input([6])
    plain = tf_keras.Model(inputs, tf_keras.layers.Dense(2)(inputs))
    state = run_state.RunState(plain, paths, seed=8)
    state.restore(companion)
    assert (state.seed, state.examples_read) == (7, 12)


@pytest.mark.parametrize(
    "companion",
    [
        {},
        [],
        "text",
        {"seed": "7"},
        {"examples_read": -1},
        {"examples_read": 1.5},
        {"dropout_states": {"dropout": [1, 2]}},
        {"dropout_states": {"dropout": [1, 2, "3"]}},
        {"dropout_states": [1, 2, 3]},
    ],
)
def test_a_companion_of_another_form_is_refused(paths, companion):
    state = run_state.RunState(small_model(), paths, seed=7)
    if isinstance(companion, dict) and companion:
        companion = {**state.describe(12), **companion}
    with pytest.raises(UserError, match="Remove it to go on"):
        state.restore(companion)
