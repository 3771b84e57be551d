import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from bert_tf.checkpoints.checkpoint_keeper import CheckpointKeeper
from bert_tf.errors import UserError
from bert_tf.training import training_loop
from bert_tf.training.optimization import AdamWeightDecay
from bert_tf.weights.loading import training_variables


@pytest.mark.parametrize(
    ("step", "stop"),
    [(0, 4), (4, 8), (8, 9), (9, 12), (12, 16), (17, 18), (18, 20), (20, 22)],
)
def test_a_loop_ends_where_something_is_due(step, stop):
    # Lines at multiples of 4, checkpoints at those of 9, the end at 22.
    settings = training_loop.LoopSettings(
        num_train_steps=22,
        train_batch_size=1,
        save_checkpoints_steps=9,
        log_steps=4,
    )
    assert settings.next_stop(step) == stop


def test_a_loop_is_no_longer_than_iterations_per_loop():
    settings = training_loop.LoopSettings(
        num_train_steps=22, train_batch_size=1, iterations_per_loop=3
    )
    assert [settings.next_stop(step) for step in (0, 3, 21)] == [3, 6, 22]


def test_what_is_due_is_due_at_the_end_too():
    settings = training_loop.LoopSettings(
        num_train_steps=22, train_batch_size=1
    )
    assert [s for s in range(1, 23) if settings.is_due(s, 8)] == [8, 16, 22]


def squared(model, batch):
    """Loss of the model w * x: (w x)^2, so that the gradient is 2 w x^2."""
    loss = tf.reduce_mean(model(batch, training=True) ** 2)
    return {"loss": loss, "twice": 2 * loss}


def make_trainer(batches, learning_rate=0.1):
    """Trainer of one weight, which begins at 3."""
    inputs = tf_keras.Input([1])
    dense = tf_keras.layers.Dense(
        1, use_bias=False, kernel_initializer="ones", name="dense"
    )
    model = tf_keras.Model(inputs, dense(inputs))
    dense.kernel.assign([[3.0]])
    optimizer = AdamWeightDecay(learning_rate)
    optimizer.build(model.trainable_variables)
    dataset = tf.data.Dataset.from_tensor_slices(
        np.array(batches, np.float32).reshape([-1, 1, 1])
    )
    return training_loop.Trainer(
        model,
        optimizer,
        compute_losses=squared,
        loss_names=("loss", "twice"),
        dataset=dataset.repeat(),
    )


def test_a_step_by_hand():
    # w=3, x=0.1: loss 0.09, gradient 2 * 3 * 0.01 = 0.06, below the clip at 1.
    #   m = 0.1 * 0.06 = 0.006;  v = 0.001 * 0.0036; sqrt(v) = 0.0018974
    #   w = 3 - 0.1 * 0.006 / (0.0018974 + 1e-6) = 2.683939
    trainer = make_trainer([0.1])
    trainer.train(tf.constant(1))
    (kernel,) = trainer.model.trainable_variables
    # 1e-5: float32, and the fused kernel's own rounding.
    assert float(kernel[0, 0]) == pytest.approx(2.683939, abs=1e-5)
    assert int(trainer.optimizer.iterations) == 1


def test_the_gradient_is_clipped_to_norm_1():
    # x=10: the gradient is 600, clipped to 1: m = 0.1.
    trainer = make_trainer([10.0])
    trainer.train(tf.constant(1))
    (kernel,) = trainer.model.trainable_variables
    moment = trainer.optimizer.slots(kernel)["adam_m"]
    assert float(moment[0, 0]) == pytest.approx(0.1, abs=1e-6)


def test_means_are_over_the_steps_since_the_last_time():
    # A rate of 0 keeps w=3: losses 9, 36, 9, 36, ... for x = 1, 2, 1, 2, ...
    trainer = make_trainer([1.0, 2.0], learning_rate=0.0)
    trainer.train(tf.constant(2))
    assert trainer.pop_means() == {"loss": 22.5, "twice": 45.0}
    trainer.train(tf.constant(1))
    assert trainer.pop_means() == {"loss": 9.0, "twice": 18.0}


@pytest.fixture
def keeper_of(tmp_path):
    """Makes a CheckpointKeeper for a trainer, in one folder."""

    def make(trainer):
        variables = training_variables(trainer.model, trainer.optimizer)
        return CheckpointKeeper(str(tmp_path), variables)

    return make


def settings(num_train_steps, **changes):
    return training_loop.LoopSettings(
        num_train_steps=num_train_steps, train_batch_size=1, **changes
    )


def describe(step):
    return {"at": step}


def test_train_logs_saves_and_writes_scalars(keeper_of, tmp_path, caplog):
    trainer = make_trainer([0.1])
    keeper = keeper_of(trainer)
    with caplog.at_level("INFO", "absl"):
        training_loop.train(
            trainer,
            keeper,
            settings(7, log_steps=3, save_checkpoints_steps=4),
            describe_run=describe,
        )
    lines = [m for m in caplog.messages if m.startswith("step ")]
    assert [m.split()[1] for m in lines] == ["3/7", "6/7", "7/7"]
    assert "learning_rate 0.1" in lines[0]
    names = {path.name for path in tmp_path.glob("model.ckpt-*.index")}
    assert names == {f"model.ckpt-{step}.index" for step in (0, 4, 7)}
    assert keeper.read_companion(keeper.latest()) == {"at": 7}
    (events,) = tmp_path.glob("events.out.tfevents.*")
    scalars = {
        (value.tag, event.step)
        for event in tf.compat.v1.train.summary_iterator(str(events))
        for value in event.summary.value
    }
    names = ("loss", "twice", "learning_rate", "examples_per_second")
    assert scalars == {(name, step) for name in names for step in (3, 6, 7)}


@pytest.mark.parametrize("full_loops", [True, False])
def test_a_bad_step_ends_training_and_is_named(keeper_of, full_loops):
    trainer = make_trainer([0.1, 0.1, 0.1, 0.1, float("nan")])
    keeper = keeper_of(trainer)
    with pytest.raises(UserError, match="At step 5 .* is .*model.ckpt-4"):
        training_loop.train(
            trainer,
            keeper,
            settings(9, save_checkpoints_steps=4, full_loops=full_loops),
            describe_run=describe,
        )
    assert keeper.latest().endswith("model.ckpt-4")


def test_a_gradient_that_overflows_is_a_bad_step(keeper_of):
    # (3 * 1e19)^2 is infinite in float32.
    trainer = make_trainer([0.1, 1e19])
    with pytest.raises(UserError, match="At step 2 the loss or its gradient"):
        training_loop.train(
            trainer, keeper_of(trainer), settings(9), describe_run=describe
        )


def test_an_update_that_overflows_is_not_saved(keeper_of):
    # The loss of step 1 is fine; its update is some 1e38 times 1e2.
    trainer = make_trainer([0.1], learning_rate=3e38)
    keeper = keeper_of(trainer)
    with pytest.raises(UserError, match="update of step 1 .* is .*ckpt-0"):
        training_loop.train(
            trainer,
            keeper,
            settings(1, save_checkpoints_steps=1),
            describe_run=describe,
        )
    assert keeper.latest().endswith("model.ckpt-0")


def test_scalars_that_cannot_be_written_do_not_end_a_run(
    keeper_of, monkeypatch, caplog
):
    def fail(*arguments):
        raise tf.errors.ResourceExhaustedError(None, None, "disk full")

    monkeypatch.setattr(tf.summary, "create_file_writer", fail)
    trainer = make_trainer([0.1])
    keeper = keeper_of(trainer)
    training_loop.train(trainer, keeper, settings(2), describe_run=describe)
    assert "TensorBoard scalars not written: disk full" in caplog.text
    assert keeper.latest().endswith("model.ckpt-2")


def test_bad_weights_are_never_watched(keeper_of):
    # Step 1's loss is finite, its update is not.
    trainer = make_trainer([0.1], learning_rate=1e39)
    watched = []
    with pytest.raises(UserError, match="The update of step 1 made"):
        training_loop.train(
            trainer,
            keeper_of(trainer),
            settings(5, save_checkpoints_steps=50, watch_steps=1),
            describe_run=describe,
            watch=lambda step: watched.append(step) or True,
        )
    assert watched == []


def test_watching_is_due_like_a_checkpoint_and_may_end_training(keeper_of):
    trainer = make_trainer([0.1])
    keeper = keeper_of(trainer)
    watched = []

    def watch(step):
        watched.append(step)
        return step < 6

    training_loop.train(
        trainer,
        keeper,
        settings(20, save_checkpoints_steps=4, watch_steps=3),
        describe_run=describe,
        watch=watch,
    )
    assert watched == [3, 6]
    # Where it ended there is a checkpoint.
    assert keeper.latest().endswith("model.ckpt-6")
