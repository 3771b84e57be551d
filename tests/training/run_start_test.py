import dataclasses

import pytest
import tensorflow as tf
import tf_keras

from bert_tf.checkpoints.checkpoint_keeper import CheckpointKeeper
from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.training import run_start
from bert_tf.training.optimization import AdamWeightDecay
from bert_tf.weights.loading import training_variables


class Run:
    """A model of one weight, which begins at 3, and its optimizer."""

    def __init__(self):
        inputs = tf_keras.Input([1])
        dense = tf_keras.layers.Dense(1, use_bias=False, name="dense")
        self.model = tf_keras.Model(inputs, dense(inputs))
        dense.kernel.assign([[3.0]])
        self.optimizer = AdamWeightDecay(0.1)
        self.optimizer.build(self.model.trainable_variables)

    def advance(self, steps):
        """Counts steps, each of which takes the weight up by 1."""
        self.model.trainable_variables[0].assign_add([[float(steps)]])
        self.optimizer.iterations.assign_add(steps)


@pytest.fixture
def keeper_of(tmp_path):
    """Makes a CheckpointKeeper for a Run, in one folder."""

    def make(run):
        variables = training_variables(run.model, run.optimizer)
        return CheckpointKeeper(str(tmp_path), variables)

    return make


def test_a_finished_run_is_refused(keeper_of, tmp_path):
    run_start.refuse_finished_run(str(tmp_path), 10, "a_flag")
    run = Run()
    run.advance(10)
    keeper_of(run).save(10)
    run_start.refuse_finished_run(str(tmp_path), 11, "a_flag")
    message = f"--output_dir={tmp_path} is at step 10 and --a_flag ends .* 10"
    with pytest.raises(UserError, match=message):
        run_start.refuse_finished_run(str(tmp_path), 10, "a_flag")


def weight(run):
    return float(run.model.trainable_variables[0][0, 0])


def test_weights_come_from_output_dir_first(keeper_of, tmp_path, caplog):
    run = Run()
    run.advance(2)
    saved = keeper_of(run).save(2)
    resumed = Run()
    with caplog.at_level("INFO", "absl"):
        latest = run_start.initialize(
            resumed.model, keeper_of(resumed), "not/read"
        )
    assert latest == saved
    assert weight(resumed) == weight(run) != 3.0
    assert int(resumed.optimizer.iterations) == 2
    assert f"Weights: those of {saved}" in caplog.text
    assert "--init_checkpoint is not read" in caplog.text


def test_weights_come_from_init_checkpoint_second(
    keeper_of, tmp_path_factory, caplog
):
    run = Run()
    run.advance(2)
    variables = training_variables(run.model, run.optimizer)
    folder = str(tmp_path_factory.mktemp("other"))
    saved = CheckpointKeeper(folder, variables).save(2)
    started = Run()
    with caplog.at_level("INFO", "absl"):
        assert (
            run_start.initialize(started.model, keeper_of(started), saved)
            is None
        )
    assert weight(started) == weight(run)
    assert int(started.optimizer.iterations) == 0
    assert f"from {saved}" in caplog.text


def test_weights_come_from_chance_last(keeper_of, caplog):
    run = Run()
    assert run_start.initialize(run.model, keeper_of(run), None) is None
    assert weight(run) == 3.0
    assert "Weights: random" in caplog.text


def test_a_seed_repeats_and_no_seed_does_not():
    def draw(seed):
        used = run_start.seed_everything(seed)
        return used, tf.random.normal([5]).numpy().tolist()

    assert draw(11) == draw(11)
    assert draw(11)[0] == 11
    assert draw(None) != draw(None)


CONFIG = BertConfig(vocab_size=61)


@pytest.fixture
def folder(keeper_of, tmp_path):
    """A folder with a checkpoint of CONFIG, as far as files tell."""
    keeper_of(Run()).save(4)
    (tmp_path / run_start.CONFIG_FILE).write_text(CONFIG.to_json_string())
    return str(tmp_path)


def test_the_same_model_goes_on_with_another_dropout(folder):
    run_start.refuse_other_model(folder, CONFIG)
    run_start.refuse_other_model(
        folder, dataclasses.replace(CONFIG, hidden_dropout_prob=0.0)
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_attention_heads": 6}, r"num_attention_heads 6 \(there 12\)"),
        ({"hidden_act": "relu"}, r"hidden_act 'relu' \(there 'gelu'\)"),
    ],
)
def test_another_model_of_the_same_shapes_is_refused(folder, changes, message):
    other = dataclasses.replace(CONFIG, **changes)
    with pytest.raises(UserError, match=message):
        run_start.refuse_other_model(folder, other)


def test_a_folder_without_checkpoint_or_config_takes_any_model(
    tmp_path, keeper_of
):
    run_start.refuse_other_model(str(tmp_path), CONFIG)
    keeper_of(Run()).save(4)
    run_start.refuse_other_model(str(tmp_path), CONFIG)
