"""The training loop: steps on the device, lines, checkpoints, resuming.

This is the only file that imports orbit. Orbit runs the steps; its Controller
is not used, since it keeps object-based checkpoints and prints its own lines.
"""

import dataclasses
import time

import orbit
import tensorflow as tf
import tf_keras
from absl import logging

from bert_tf.errors import UserError
from bert_tf.storage.progress import Progress, format_seconds
from bert_tf.training.optimization import clip_gradients

# Away from TPUs a call from the host costs little, so that loops are only as
# long as this, and the bar and Ctrl-C stay lively.
_SECONDS_PER_LOOP = 1.0


@dataclasses.dataclass(frozen=True)
class LoopSettings:
    """How many steps there are, and after how many of them what is done."""

    num_train_steps: int  # in the whole run, resumed ones included
    train_batch_size: int  # B over all devices
    save_checkpoints_steps: int = 1000
    iterations_per_loop: int = 1000  # the most steps in one call to the device
    log_steps: int = 100
    full_loops: bool = False  # always as long as they may be: on a TPU
    watch_steps: int | None = None  # when `watch` is called, see `train`

    @classmethod
    def from_flags(cls, flags, num_train_steps, *, watch_steps=None):
        """Returns the settings that a script's flags (FlagValues) give."""
        return cls(
            num_train_steps=num_train_steps,
            train_batch_size=flags.train_batch_size,
            save_checkpoints_steps=flags.save_checkpoints_steps,
            iterations_per_loop=flags.iterations_per_loop,
            log_steps=flags.log_steps,
            full_loops=flags.use_tpu,
            watch_steps=watch_steps,
        )

    def next_stop(self, step):
        """Returns the next step (int) at which the host has something to do."""
        periods = (
            self.save_checkpoints_steps,
            self.iterations_per_loop,
            self.log_steps,
            self.watch_steps or self.num_train_steps,
        )
        return min(
            self.num_train_steps,
            *((step // period + 1) * period for period in periods),
        )

    def is_due(self, step, period):
        """Tells whether what is done every `period` steps is due at `step`."""
        return step % period == 0 or step == self.num_train_steps


@dataclasses.dataclass(frozen=True)
class Schedule:
    """How fast is learned, and which flag says how long."""

    learning_rate: float  # the peak
    num_warmup_steps: int
    length_flag: str = "num_train_steps"  # for messages

    @classmethod
    def from_epochs(cls, flags, num_train_steps):
        """Returns the schedule of fine-tuning, whose flags speak of epochs."""
        return cls(
            flags.learning_rate,
            int(num_train_steps * flags.warmup_proportion),
            length_flag="num_train_epochs",
        )


class Trainer(orbit.StandardTrainer):
    """Takes optimizer steps, many of them in one loop on the device.

    A step, on each device:

        losses = compute_losses(model, batch)
        gradients = clip(d losses["loss"] / d variables)
        optimizer.apply(sum of the devices' gradients)

    As in 2018 each device clips its own gradient before they are added up.
    (2018 added, and did not average: its optimizer for several TPU cores
    averages only where it makes the gradients itself.)

    Args:
      model: tf_keras.Model.
      optimizer: AdamWeightDecay, built on the model's trainable variables.
      compute_losses: function of (model, batch) that gives a dict of float
        scalars; "loss" is the one that is minimised.
      loss_names: sequence of str, the keys of that dict.
      dataset: tf.data.Dataset of batches, or a distributed one, without end.
    """

    def __init__(
        self, model, optimizer, *, compute_losses, loss_names, dataset
    ):
        super().__init__(dataset)
        self.model = model
        self.optimizer = optimizer
        self._compute_losses = compute_losses
        self._means = {name: tf_keras.metrics.Mean(name) for name in loss_names}
        self.first_bad_step = tf.Variable(
            -1,
            dtype=tf.int64,
            trainable=False,
            aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
        )

    def train_step(self, iterator):
        """Runs one step on every device. Source: orbit.StandardTrainer."""
        strategy = tf.distribute.get_strategy()
        strategy.run(self.replica_step, args=(next(iterator),))

    def replica_step(self, batch):
        """Runs one step on this device.

        Args:
          batch: dict of tensors, this device's share.
        """
        with tf.GradientTape() as tape:
            losses = self._compute_losses(self.model, batch)
        variables = self.model.trainable_variables
        gradients = tape.gradient(losses["loss"], variables)
        gradients, global_norm = clip_gradients(gradients)
        self._note_bad_step(losses["loss"] + global_norm)
        self.optimizer.apply_gradients(zip(gradients, variables))
        for name, mean in self._means.items():
            mean.update_state(losses[name])

    def _note_bad_step(self, value):
        replica_context = tf.distribute.get_replica_context()
        value = replica_context.all_reduce(tf.distribute.ReduceOp.SUM, value)
        step = tf.cast(self.optimizer.iterations, tf.int64) + 1
        is_first = tf.logical_and(
            self.first_bad_step < 0, tf.logical_not(tf.math.is_finite(value))
        )
        self.first_bad_step.assign(
            tf.where(is_first, step, self.first_bad_step)
        )

    def train_loop_end(self):
        """Returns nothing: `pop_means` gives the losses when a line is due."""

    def pop_means(self):
        """Returns the mean losses since the last call: dict, name -> float."""
        means = {name: float(m.result()) for name, m in self._means.items()}
        for mean in self._means.values():
            mean.reset_states()
        return means


def train(trainer, keeper, settings, *, describe_run, watch=None):
    """Trains to the last step, with lines, scalars and checkpoints.

    Args:
      trainer: Trainer.
      keeper: CheckpointKeeper on everything that a resume needs.
      settings: LoopSettings.
      describe_run: function of the step (int) that gives the companion dict of
        the checkpoint taken there.
      watch: function of the step, called every `settings.watch_steps` and at
        the end; if it returns False training ends there.

    Raises:
      UserError: a loss or gradient is not finite, or no room for a checkpoint.
    """
    scalars = Scalars(keeper.output_dir)
    first_step = int(trainer.optimizer.iterations.numpy())
    if keeper.latest() is None:
        # As 2018 did; a full or slow disk shows now and not after hours.
        keeper.save(first_step, describe_run(first_step))
    started = time.monotonic()
    batch_size = settings.train_batch_size
    with Progress(
        settings.num_train_steps, first_step, examples_per_step=batch_size
    ) as progress:
        for step in _run_loops(trainer, settings, first_step):
            _refuse_bad_step(trainer, keeper)
            progress.advance_to(step)
            if settings.is_due(step, settings.log_steps):
                _report(trainer, progress, scalars, step)
            goes_on = True
            if watch and settings.is_due(step, settings.watch_steps):
                _refuse_bad_weights(trainer, keeper, step)
                goes_on = watch(step)
            if not goes_on or settings.is_due(
                step, settings.save_checkpoints_steps
            ):
                _refuse_bad_weights(trainer, keeper, step)
                keeper.save(step, describe_run(step))
            if not goes_on:
                break
    seconds = time.monotonic() - started
    logging.info(
        "Trained %d steps in %s (%.1f examples/s); the last checkpoint is %s.",
        step - first_step,
        format_seconds(seconds),
        (step - first_step) * batch_size / seconds,
        keeper.latest(),
    )


def _run_loops(trainer, settings, step):
    """Trains from `step` on; yields the step reached by each call."""
    loop_steps = 1
    while step < settings.num_train_steps:
        stop = settings.next_stop(step)
        if not settings.full_loops:
            stop = min(stop, step + loop_steps)
        started = time.monotonic()
        trainer.train(tf.constant(stop - step, tf.int32))
        seconds = time.monotonic() - started
        loop_steps = max(1, round((stop - step) * _SECONDS_PER_LOOP / seconds))
        step = stop
        yield step


def _refuse_bad_step(trainer, keeper):
    bad_step = int(trainer.first_bad_step.numpy())
    if bad_step >= 0:
        raise UserError(
            f"At step {bad_step} the loss or its gradient was not a finite "
            "number; training cannot go on from there. The last checkpoint "
            f"before it is {keeper.latest()}. Lower --learning_rate, lengthen "
            "the warm-up, or look for broken records."
        )


def _refuse_bad_weights(trainer, keeper, step):
    # The loss of a step is computed before its update, and so tells nothing
    # of the last one.
    for variable in trainer.model.trainable_variables:
        if not tf.reduce_all(tf.math.is_finite(variable)):
            raise UserError(
                f"The update of step {step} made {variable.name} a number that "
                "is not finite. The last checkpoint before it is "
                f"{keeper.latest()}. Lower --learning_rate or lengthen the "
                "warm-up."
            )


def _report(trainer, progress, scalars, step):
    values = trainer.pop_means()
    values["learning_rate"] = float(trainer.optimizer.learning_rate)
    values["examples_per_second"] = progress.line(values)
    scalars.write(step, values)


class Scalars:
    """Writes TensorBoard scalars to a folder (str), made when first used."""

    def __init__(self, folder):
        """Stores its argument."""
        self._folder = folder
        self._writer = None

    def write(self, step, values):
        """Writes values of one step; what fails is a warning.

        Args:
          step: int.
          values: dict, str -> number.
        """
        try:
            if self._writer is None:
                self._writer = tf.summary.create_file_writer(self._folder)
            with self._writer.as_default():
                for name, value in values.items():
                    tf.summary.scalar(name, value, step=step)
            self._writer.flush()
        # A run is worth more than its curves: a full disk, above all, is for
        # the next checkpoint to report.
        except tf.errors.OpError as error:
            logging.warning(
                "TensorBoard scalars not written: %s.", error.message
            )
