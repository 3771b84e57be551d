"""Tests of naming a model's variables, and of loading weights into them."""

import logging

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from bert_tf import config
from bert_tf.checkpoints import checkpoint_keeper
from bert_tf.errors import UserError
from bert_tf.model import models
from bert_tf.model.encoder import BertEncoder
from bert_tf.training import optimization
from bert_tf.weights import loading
from tests.checkpoints.small_checkpoints import (
    DATA,
    assert_equal,
    damage,
    listed,
    values_of,
    write,
)

CONFIG = config.BertConfig(
    vocab_size=61,
    hidden_size=12,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=17,
    max_position_embeddings=23,
    type_vocab_size=2,
)


def changed(**values):
    return config.BertConfig.from_dict({**CONFIG.to_dict(), **values})


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
