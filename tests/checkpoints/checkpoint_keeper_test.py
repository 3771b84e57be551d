"""Tests of keeping and restoring runs."""

import os
import shutil

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.checkpoints import checkpoint_keeper
from bert_tf.errors import UserError
from tests.checkpoints.small_checkpoints import (
    DATA,
    assert_equal,
    damage,
    listed,
    make_run,
    values_of,
    write,
)

# Keeping and restoring.


def checkpoints_in(folder):
    return sorted(
        int(name.removeprefix("model.ckpt-").removesuffix(".index"))
        for name in os.listdir(folder)
        if name.endswith(".index")
    )


def test_a_saved_run_is_restored_bit_by_bit(tmp_path):
    variables = make_run(1)
    saved = values_of(variables)
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path / "a" / "b", variables)
    assert keeper.latest() is None
    prefix = keeper.save(3)
    assert prefix == str(tmp_path / "a" / "b" / "model.ckpt-3")
    assert keeper.latest() == prefix
    assert sorted(os.listdir(tmp_path / "a" / "b")) == [
        "checkpoint",
        f"model.ckpt-3{DATA}",
        "model.ckpt-3.index",
    ]
    other = make_run(2)
    checkpoint_keeper.CheckpointKeeper(tmp_path, other).restore(prefix)
    assert_equal(other, saved)


def test_the_state_file_has_relative_names(tmp_path):
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path / "run", make_run(1))
    keeper.save(3)
    keeper.save(4)
    shutil.move(tmp_path / "run", tmp_path / "moved")
    moved = str(tmp_path / "moved")
    state = tf.train.get_checkpoint_state(moved)
    assert list(state.all_model_checkpoint_paths) == [
        f"{moved}/model.ckpt-3",
        f"{moved}/model.ckpt-4",
    ]
    assert tf.train.latest_checkpoint(moved) == f"{moved}/model.ckpt-4"


@pytest.mark.parametrize(
    ("keep", "wanted"),
    [(5, [4, 5, 6, 7, 8]), (2, [7, 8]), (1, [8])],
)
def test_only_the_last_few_stay(tmp_path, keep, wanted):
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, make_run(1), keep)
    for step in range(1, 9):
        keeper.save(step, companion={"step": step})
    assert checkpoints_in(tmp_path) == wanted
    # Three files each, and the state file.
    assert len(os.listdir(tmp_path)) == 3 * len(wanted) + 1
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert [
        int(path.rpartition("-")[2])
        for path in state.all_model_checkpoint_paths
    ] == wanted


@pytest.mark.parametrize("keep", [0, None])
def test_all_stay_if_told_so(tmp_path, keep):
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, make_run(1), keep)
    for step in range(1, 9):
        prefix = keeper.save(step)
    assert checkpoints_in(tmp_path) == list(range(1, 9))
    assert keeper.latest() == prefix


def test_a_negative_number_to_keep_is_an_error(tmp_path):
    with pytest.raises(UserError, match="--keep_checkpoint_max is -1"):
        checkpoint_keeper.CheckpointKeeper(tmp_path, {}, -1)


def test_a_restarted_run_counts_the_earlier_ones(tmp_path):
    for first in (10, 20):
        keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, make_run(1), 3)
        keeper.save(first)
        keeper.save(first + 1)
    assert checkpoints_in(tmp_path) == [11, 20, 21]


def test_another_folders_checkpoints_are_never_removed(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    prefix = checkpoint_keeper.CheckpointKeeper(old, make_run(1)).save(1)
    new.mkdir()
    (new / "checkpoint").write_text(f'model_checkpoint_path: "{prefix}"\n')
    keeper = checkpoint_keeper.CheckpointKeeper(new, make_run(1), 1)
    keeper.save(2)
    keeper.save(3)
    assert checkpoints_in(old) == [1]
    assert checkpoints_in(new) == [3]


def test_an_old_one_that_cannot_be_removed_is_a_warning(
    tmp_path, monkeypatch, caplog
):
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, make_run(1), 1)
    keeper.save(1)

    def refuse(path):
        raise tf.errors.PermissionDeniedError(None, None, path)

    monkeypatch.setattr(tf.io.gfile, "remove", refuse)
    assert keeper.save(2) == keeper.latest()
    assert "model.ckpt-1.index could not be removed" in caplog.text


# The companion file.


def test_a_companion_is_read_as_it_was_written(tmp_path):
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, make_run(1))
    companion = {"epoch": 2, "random_state": [2**63, -1], "empty": {}}
    prefix = keeper.save(3, companion)
    assert keeper.read_companion(prefix) == companion
    assert keeper.read_companion(keeper.save(4, {})) == {}
    assert keeper.latest() == tf.train.latest_checkpoint(str(tmp_path))


def test_without_a_companion_there_is_none(tmp_path):
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, make_run(1))
    assert keeper.read_companion(keeper.save(3, {"epoch": 2})) is not None
    # Written again without: the old one would be wrong now.
    assert keeper.read_companion(keeper.save(3)) is None


def test_a_damaged_companion_is_an_error(tmp_path):
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, make_run(1))
    prefix = keeper.save(3, {"epoch": 2})
    (tmp_path / "model.ckpt-3.state.json").write_text('{"epoch"')
    with pytest.raises(UserError, match=r"ckpt-3\.state\.json is damaged"):
        keeper.read_companion(prefix)


def test_a_companion_json_cannot_hold_is_refused_before_writing(tmp_path):
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, make_run(1))
    with pytest.raises(ValueError, match="not JSON compliant"):
        keeper.save(3, {"loss": float("nan")})
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    keeper = checkpoint_keeper.CheckpointKeeper(
        tmp_path / "file" / "run", make_run(1)
    )
    with pytest.raises(UserError, match="ckpt-3 could not be written: .*file"):
        keeper.save(3)


# Restoring what others left.


def test_a_released_model_is_no_run_to_take_up(tmp_path):
    variables = make_run(1)
    name = "bert/layer/dense/kernel"
    prefix = write(tmp_path / "bert_model.ckpt", {name: variables[name]})
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, variables)
    with pytest.raises(
        UserError, match="holds no optimizer state.*give it as --init_check"
    ):
        keeper.restore(prefix)


def assert_not_restored(variables, tmp_path, prefix, match):
    before = values_of(variables)
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, variables)
    with pytest.raises(UserError, match=match):
        keeper.restore(prefix)
    assert_equal(variables, before)


def test_a_run_of_another_model_is_an_error(tmp_path):
    prefix = checkpoint_keeper.CheckpointKeeper(tmp_path, make_run(1)).save(3)
    variables = make_run(2)
    variables["bert/layer/dense/bias"] = tf.Variable([1.0, 2.0])
    assert_not_restored(
        variables, tmp_path, prefix, "Not in the file: bert/layer/dense/bias"
    )
    variables = make_run(2)
    name = "bert/layer/dense/kernel/adam_v"
    variables[name] = tf.Variable(tf.zeros([3, 5]))
    assert_not_restored(
        variables,
        tmp_path,
        prefix,
        rf"{name} \(float32 \[5, 3\] in the file, float32 \[3, 5\] here\)",
    )


def test_a_run_of_a_deeper_model_is_an_error(tmp_path):
    name = "bert/encoder/layer_7/output/dense/bias"
    prefix = checkpoint_keeper.CheckpointKeeper(
        tmp_path, {**make_run(1), name: tf.Variable([1.0])}
    ).save(3)
    assert_not_restored(
        make_run(2), tmp_path, prefix, f"Not in the model: {name}"
    )


def test_a_part_of_a_run_is_restored_without_its_slots(tmp_path):
    prefix = checkpoint_keeper.CheckpointKeeper(tmp_path, make_run(1)).save(3)
    wanted = values_of(make_run(1))
    names = ["bert/layer/dense/kernel", "global_step"]
    variables = {name: make_run(2)[name] for name in names}
    checkpoint_keeper.CheckpointKeeper(tmp_path, variables).restore(prefix)
    assert_equal(variables, {name: wanted[name] for name in names})


def test_a_damaged_run_is_an_error(tmp_path):
    prefix = checkpoint_keeper.CheckpointKeeper(tmp_path, make_run(1)).save(3)
    damage(prefix, DATA, "truncated")
    assert_not_restored(make_run(2), tmp_path, prefix, "is damaged")


def graph_of_2018(variables):
    """Makes the same variables in a TF 1 graph, and a Saver of them."""
    for name, variable in variables.items():
        tf.compat.v1.get_variable(
            name,
            shape=variable.shape,
            dtype=variable.dtype,
            initializer=tf.zeros_initializer(),
        )
    return tf.compat.v1.train.Saver(max_to_keep=2, save_relative_paths=True)


def test_a_saver_of_2018_goes_on_from_ours_and_we_from_its(tmp_path):
    variables = make_run(1)
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, variables, 3)
    keeper.save(3, {"epoch": 2})
    prefix = keeper.save(4, {"epoch": 2})
    saved = values_of(variables)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        saver = graph_of_2018(variables)
        state = tf.train.get_checkpoint_state(str(tmp_path))
        saver.restore(session, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        for variable in tf.compat.v1.global_variables():
            value, name = session.run(variable), variable.op.name
            np.testing.assert_array_equal(value, saved[name])
            session.run(variable.assign_add(tf.ones_like(variable)))
        saver.save(session, str(tmp_path / "model.ckpt"), 5)
    assert checkpoints_in(tmp_path) == [4, 5]
    assert listed(prefix) == listed(tmp_path / "model.ckpt-5")
    latest = keeper.latest()
    assert latest == str(tmp_path / "model.ckpt-5")
    keeper.restore(latest)
    assert_equal(variables, {k: v + 1 for k, v in saved.items()})
    assert keeper.read_companion(latest) is None
    keeper.save(6)
    keeper.save(7)
    # With the .meta file that the Saver wrote to 5 still there.
    assert checkpoints_in(tmp_path) == [5, 6, 7]
    keeper.save(8)
    assert not [n for n in os.listdir(tmp_path) if n.startswith("model.ckpt-5")]


def test_writing_is_what_a_saver_writes_byte_for_byte(tmp_path):
    variables = make_run(1)
    ours = checkpoint_keeper.CheckpointKeeper(tmp_path / "a", variables).save(3)
    (tmp_path / "b").mkdir()
    theirs = str(tmp_path / "b" / "model.ckpt-3")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        saver = graph_of_2018(variables)
        saver.restore(session, ours)
        saver.save(session, theirs)
    for suffix in (DATA, ".index"):
        with open(ours + suffix, "rb") as a, open(theirs + suffix, "rb") as b:
            assert a.read() == b.read(), suffix
