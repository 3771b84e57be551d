"""Tests of loading models, and of keeping and restoring runs."""

import errno
import logging
import os
import shutil
import subprocess

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from bert_tf import config
from bert_tf.checkpoints import checkpoint_io, checkpoint_keeper
from bert_tf.errors import UserError
from bert_tf.model import models
from bert_tf.model.encoder import BertEncoder
from bert_tf.training import optimization
from bert_tf.weights import loading

CONFIG = config.BertConfig(
    vocab_size=61,
    hidden_size=12,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=17,
    max_position_embeddings=23,
    type_vocab_size=2,
)
DATA = ".data-00000-of-00001"


def changed(**values):
    return config.BertConfig.from_dict({**CONFIG.to_dict(), **values})


def write(prefix, variables):
    """Writes a dict of name -> value or variable as a checkpoint."""
    tensors = {k: tf.convert_to_tensor(v) for k, v in variables.items()}
    checkpoint_io.write(str(prefix), tensors)
    return str(prefix)


def values_of(variables):
    return {name: variable.numpy() for name, variable in variables.items()}


def assert_equal(variables, values):
    assert variables.keys() == values.keys()
    for name, variable in variables.items():
        np.testing.assert_array_equal(
            variable.numpy(), values[name], err_msg=name
        )


def listed(prefix):
    """Lists (name, shape, dtype) of a checkpoint's variables."""
    dtypes = tf.train.load_checkpoint(str(prefix)).get_variable_to_dtype_map()
    return [
        (name, shape, dtypes[name])
        for name, shape in tf.train.list_variables(str(prefix))
    ]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A pre-training model and its checkpoint."""
    model = models.pretraining_model(CONFIG)
    variables = loading.variable_names(model)
    folder = tmp_path_factory.mktemp("source")
    return variables, write(folder / "bert_model.ckpt", variables)


def subset(variables, path, *, without=(), **more):
    kept = {
        name: variable
        for name, variable in variables.items()
        if not name.startswith(tuple(without))
    }
    return write(path / "bert_model.ckpt", {**kept, **more})


# Names.


def test_a_run_of_2018_is_restored_and_written_again_alike(golden, tmp_path):
    folder = golden / "run_pretraining"
    model = models.pretraining_model(
        config.BertConfig.from_json_file(str(folder / "bert_config.json"))
    )
    optimizer = optimization.create_optimizer(1e-3, 12, 3)
    optimizer.build(model.trainable_variables)
    variables = loading.training_variables(model, optimizer)
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, variables)
    keeper.restore(str(folder / "model.ckpt-4"))
    assert optimizer.iterations.numpy() == 4
    keeper.save(4)
    # Names, shapes, dtypes and every bit of every value.
    assert listed(tmp_path / "model.ckpt-4") == listed(folder / "model.ckpt-4")
    for suffix in (DATA, ".index"):
        name = f"model.ckpt-4{suffix}"
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_a_variable_without_slots_is_kept_without_them():
    layer = tf_keras.layers.Dense(3, name="dense")
    layer.build([None, 5])
    optimizer = optimization.AdamWeightDecay(0.1)
    optimizer.build([layer.kernel])
    assert list(loading.training_variables(layer, optimizer)) == [
        "kernel",
        "kernel/adam_m",
        "kernel/adam_v",
        "bias",
        "global_step",
    ]


def test_a_model_that_was_not_built_is_an_error():
    class Unbuilt(tf_keras.Model):
        pass

    with pytest.raises(UserError, match="has no variables yet: call it once"):
        loading.variable_names(Unbuilt())


def test_two_variables_of_one_name_are_an_error():
    class Twins(tf_keras.layers.Layer):
        def build(self, input_shape):
            self.first = self.add_weight(name="w", shape=[3])
            self.second = self.add_weight(name="w", shape=[5])
            super().build(input_shape)

    twins = Twins(name="twins")
    twins.build([None])
    with pytest.raises(UserError, match="'twins' has two variables .* 'w'"):
        loading.variable_names(twins)


# Loading.


def test_a_whole_model_is_loaded(source):
    variables, prefix = source
    model = models.pretraining_model(CONFIG)
    report = loading.load_checkpoint(model, prefix)
    assert_equal(loading.variable_names(model), values_of(variables))
    assert set(report.loaded) == set(variables)
    assert (report.new, report.unused, report.slots) == ((), (), ())


@pytest.mark.parametrize("suffix", [".index", DATA])
def test_a_files_name_loads_everything_too(source, suffix):
    variables, prefix = source
    report = loading.load_checkpoint(
        models.pretraining_model(CONFIG), prefix + suffix
    )
    assert len(report.loaded) == len(variables)


def test_an_encoder_leaves_the_heads_unused_and_says_so(source, caplog):
    variables, prefix = source
    encoder = BertEncoder(CONFIG)
    caplog.set_level(logging.INFO)
    report = loading.load_checkpoint(encoder, prefix)
    wanted = {
        name: variable.numpy()
        for name, variable in variables.items()
        if name.startswith("bert/")
    }
    assert_equal(loading.variable_names(encoder), wanted)
    heads = [name for name in variables if name.startswith("cls/")]
    assert sorted(report.unused) == sorted(heads)
    assert f"Loaded {len(wanted)} variables" in caplog.text
    assert "in the file only: cls/predictions/output_bias" in caplog.text


def test_a_head_that_the_file_lacks_is_new_and_named(source, tmp_path, caplog):
    variables, _ = source
    prefix = subset(variables, tmp_path, without=["cls/seq_relationship"])
    model = models.pretraining_model(CONFIG)
    before = values_of(loading.variable_names(model))
    caplog.set_level(logging.INFO)
    report = loading.load_checkpoint(model, prefix)
    after = loading.variable_names(model)
    names = {
        "cls/seq_relationship/output_weights",
        "cls/seq_relationship/output_bias",
    }
    assert set(report.new) == names
    for name in names:
        np.testing.assert_array_equal(after[name], before[name])
        assert name in caplog.text.partition("Newly initialized")[2]
    np.testing.assert_array_equal(
        after["cls/predictions/output_bias"],
        variables["cls/predictions/output_bias"],
    )


def test_slots_and_step_are_ignored_and_counted(golden, caplog):
    folder = golden / "run_pretraining"
    model = models.pretraining_model(
        config.BertConfig.from_json_file(str(folder / "bert_config.json"))
    )
    caplog.set_level(logging.INFO)
    report = loading.load_checkpoint(model, folder / "model.ckpt-4")
    # 62 variables: 3 tables, 16 a layer, 2 + 2 + 2 elsewhere, 7 in heads.
    assert len(report.loaded) == 3 + 2 + 3 * 16 + 2 + 7
    assert len(report.slots) == 2 * len(report.loaded) + 1
    assert "ignored 125 optimizer slots" in caplog.text
    reader = tf.train.load_checkpoint(str(folder / "model.ckpt-4"))
    for name, variable in loading.variable_names(model).items():
        np.testing.assert_array_equal(variable, reader.get_tensor(name))


def assert_refused(model, prefix, match):
    """Checks the message, and that the model is as it was."""
    before = values_of(loading.variable_names(model))
    with pytest.raises(UserError, match=match):
        loading.load_checkpoint(model, prefix)
    assert_equal(loading.variable_names(model), before)


def test_a_missing_encoder_variable_is_an_error(source, tmp_path):
    variables, _ = source
    lacking = ["bert/encoder/layer_1/output/dense/", "bert/pooler/dense/bias"]
    prefix = subset(variables, tmp_path, without=lacking)
    assert_refused(
        BertEncoder(CONFIG),
        prefix,
        "Not in the file: bert/encoder/layer_1/output/dense/kernel, "
        "bert/encoder/layer_1/output/dense/bias, bert/pooler/dense/bias[.]",
    )


def test_a_missing_pooler_is_new_and_warned_of(source, tmp_path, caplog):
    variables, _ = source
    prefix = subset(variables, tmp_path, without=["bert/pooler/"])
    report = loading.load_checkpoint(BertEncoder(CONFIG), prefix)
    assert report.new == ("bert/pooler/dense/kernel", "bert/pooler/dense/bias")
    assert "holds no pooler" in caplog.text
    assert caplog.records[-1].levelname == "WARNING"


def test_a_release_s_folder_is_enough(source, tmp_path):
    variables, _ = source
    subset(variables, tmp_path)
    encoder = BertEncoder(CONFIG)
    loading.load_checkpoint(encoder, tmp_path)
    np.testing.assert_array_equal(
        encoder.word_embeddings, variables["bert/embeddings/word_embeddings"]
    )


def test_a_wrong_shape_is_an_error_with_both(source):
    _, prefix = source
    assert_refused(
        BertEncoder(changed(hidden_size=15)),
        prefix,
        r"Of another shape: bert/embeddings/word_embeddings \(float32 "
        r"\[61, 12\] in the file, float32 \[61, 15\] here\).* and 27 more",
    )


def test_a_wrong_shape_in_a_head_is_an_error(source, tmp_path):
    variables, _ = source
    prefix = subset(
        variables,
        tmp_path,
        without=["cls/seq"],
        **{"cls/seq_relationship/output_bias": tf.zeros([3])},
    )
    assert_refused(
        models.pretraining_model(CONFIG),
        prefix,
        r"shape: cls/seq_relationship/output_bias \(float32 \[3\] in the "
        r"file, float32 \[2\] here\)",
    )


def test_another_dtype_is_an_error(source, tmp_path):
    variables, _ = source
    bias = "bert/pooler/dense/bias"
    half = {bias: tf.cast(variables[bias], tf.float16)}
    prefix = subset(variables, tmp_path, without=[bias], **half)
    assert_refused(
        BertEncoder(CONFIG), prefix, r"float16 \[12\] in the file, float32"
    )


def test_a_deeper_checkpoint_is_an_error(source):
    _, prefix = source
    assert_refused(
        BertEncoder(changed(num_hidden_layers=1)),
        prefix,
        "Not in the model: bert/encoder/layer_1/attention.* and 6 more",
    )


def test_a_pooler_may_be_in_the_file_alone(source):
    variables, prefix = source
    encoder = BertEncoder(CONFIG)
    inner = tf_keras.Model(
        encoder.inputs, encoder.get_layer("bert/encoder/layer_1").output
    )
    report = loading.load_checkpoint(inner, prefix)
    assert "bert/pooler/dense/kernel" in report.unused
    np.testing.assert_array_equal(
        encoder.word_embeddings, variables["bert/embeddings/word_embeddings"]
    )


def test_nothing_in_common_is_an_error(source):
    _, prefix = source
    layer = tf_keras.layers.Dense(3, name="dense")
    layer.build([None, 5])
    assert_refused(layer, prefix, "not one variable in common")


def test_another_model_by_objects_is_no_bert(tmp_path):
    layer = tf_keras.layers.Dense(3, name="dense")
    layer.build([None, 5])
    prefix = tf.train.Checkpoint(layer=layer).write(str(tmp_path / "ckpt"))
    assert_refused(BertEncoder(CONFIG), prefix, str(tmp_path / "ckpt"))


def damage(prefix, suffix, how):
    path = f"{prefix}{suffix}"
    size = os.path.getsize(path)
    with open(path, "r+b") as stream:
        if how == "truncated":
            stream.truncate(size - 40)
        elif how == "half":
            stream.truncate(size // 2)
        elif how == "empty":
            stream.truncate(0)
        else:
            stream.seek(size // 2)
            stream.write(b"\x01\xff\x02\xfe" * 2)


@pytest.mark.parametrize(
    ("suffix", "how"),
    [
        (DATA, "truncated"),
        (DATA, "half"),
        (DATA, "empty"),
        (DATA, "flipped"),
        (".index", "truncated"),
        (".index", "half"),
        (".index", "flipped"),
    ],
)
def test_damage_is_found_before_the_model_is_touched(
    source, tmp_path, suffix, how
):
    variables, _ = source
    prefix = write(tmp_path / "m.ckpt", variables)
    damage(prefix, suffix, how)
    model = models.pretraining_model(CONFIG)
    assert_refused(model, prefix, r"m\.ckpt is damaged: .*\. Copy it again")


# Keeping and restoring.


def make_run(scale):
    """A run's variables: stand-ins with the names of one Dense layer."""
    rng = np.random.default_rng(7)
    values = {
        "bert/layer/dense/kernel": rng.normal(size=[5, 3]),
        "bert/layer/dense/kernel/adam_m": rng.normal(size=[5, 3]),
        "bert/layer/dense/kernel/adam_v": rng.normal(size=[5, 3]) ** 2,
    }
    variables = {
        name: tf.Variable(np.float32(scale * value), name=name)
        for name, value in values.items()
    }
    variables["global_step"] = tf.Variable(3 * scale, dtype=tf.int64)
    return variables


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


# Failures while writing.


def assert_latest_is(folder, step, values):
    latest = checkpoint_keeper.CheckpointKeeper(folder, {}).latest()
    assert latest == tf.train.latest_checkpoint(str(folder))
    reader = tf.train.load_checkpoint(latest)
    assert reader.get_tensor("global_step") == step
    for name, value in values.items():
        np.testing.assert_array_equal(reader.get_tensor(name), value)


class Killed(BaseException):
    """Stands for the end of the process: nothing of ours handles it."""


class Interruptions:
    """Ends the process before the n-th change of the file system."""

    changes = (
        (tf.raw_ops, "SaveV2"),
        (tf.io.gfile, "rename"),
        (tf.io.gfile, "copy"),
        (tf.io.gfile, "remove"),
        (os, "replace"),
        (os, "fsync"),
    )

    def __init__(self, monkeypatch, before):
        self.left = before
        for owner, name in self.changes:
            monkeypatch.setattr(
                owner, name, self.interrupting(getattr(owner, name))
            )

    def interrupting(self, change):
        def interrupted(*args, **kwargs):
            self.left -= 1
            if self.left < 0:
                raise Killed
            return change(*args, **kwargs)

        return interrupted


def interrupted_save(keeper, step, before):
    """Saves; returns whether it came to its end."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        Interruptions(monkeypatch, before)
        try:
            keeper.save(step, {"epoch": step})
        except Killed:
            return False
    return True


@pytest.mark.parametrize("step", [5, 4], ids=["a new step", "the same again"])
def test_a_kill_at_any_moment_leaves_a_whole_latest(tmp_path, step):
    variables = make_run(1)
    steps_seen = set()
    for before in range(100):
        folder = tmp_path / str(before)
        keeper = checkpoint_keeper.CheckpointKeeper(folder, variables, 1)
        variables["global_step"].assign(4)
        keeper.save(4, {"epoch": 4})
        variables["global_step"].assign(50)
        finished = interrupted_save(keeper, step, before)
        reader = tf.train.load_checkpoint(keeper.latest())
        # Either the former one or the new one, whole.
        steps_seen.add(int(reader.get_tensor("global_step")))
        assert steps_seen <= {4, 50}
        for name in variables:
            reader.get_tensor(name)
        assert "epoch" in keeper.read_companion(keeper.latest())
        keeper.save(6)
        # The next run clears up all but files of 4 or 5 that the state file
        # had no more, or not yet, named; 2018 left these as well.
        unnamed = ("model.ckpt-4.", "model.ckpt-5.")
        assert {
            name
            for name in os.listdir(folder)
            if step == 4 or finished or not name.startswith(unnamed)
        } == {"checkpoint", f"model.ckpt-6{DATA}", "model.ckpt-6.index"}
        assert not [n for n in os.listdir(folder) if "former" in n]
        if finished:
            break
    assert finished
    assert before >= 8
    assert steps_seen == {4, 50}


def raise_no_space(*args, **kwargs):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("owner", "name"), [(os, "fsync"), (os, "replace"), (tf.raw_ops, "SaveV2")]
)
def test_no_space_in_any_stage_leaves_the_former_one(
    tmp_path, monkeypatch, owner, name
):
    variables = make_run(1)
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, variables)
    keeper.save(3)
    saved = values_of(variables)
    before = sorted(os.listdir(tmp_path))
    variables["global_step"].assign(4)
    monkeypatch.setattr(owner, name, raise_no_space)
    with pytest.raises(UserError, match="ckpt-4 could not .*: no space left"):
        keeper.save(4)
    monkeypatch.undo()
    assert_latest_is(tmp_path, 3, saved)
    if owner is not os or name == "fsync":
        assert sorted(os.listdir(tmp_path)) == before
    keeper.save(4)
    assert_latest_is(tmp_path, 4, {})


def test_a_full_disk_leaves_the_former_one(tmp_path):
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("no right to mount a small file system")
    try:
        small = {"global_step": tf.Variable(3, dtype=tf.int64)}
        checkpoint_keeper.CheckpointKeeper(tmp_path, small).save(3)
        before = sorted(os.listdir(tmp_path))
        large = {**small, "w": tf.Variable(tf.zeros([100_000]))}
        keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, large)
        with pytest.raises(UserError, match="no space left"):
            keeper.save(4)
        assert sorted(os.listdir(tmp_path)) == before
        assert_latest_is(tmp_path, 3, {})
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise tf.errors.PermissionDeniedError(None, None, "not yours")

    monkeypatch.setattr(tf.raw_ops, "SaveV2", refuse)
    keeper = checkpoint_keeper.CheckpointKeeper(tmp_path, make_run(1))
    with pytest.raises(UserError, match="could not be written: not yours"):
        keeper.save(4)
