"""What training shares between tasks: weights in, steps, checkpoints out."""

import dataclasses
import os

import tensorflow as tf
from absl import logging

from bert_tf.checkpoints.checkpoint_files import latest_checkpoint
from bert_tf.checkpoints.checkpoint_keeper import CheckpointKeeper
from bert_tf.checkpoints.weight_reader import GLOBAL_STEP
from bert_tf.config import BertConfig
from bert_tf.data import input_pipeline
from bert_tf.storage import files
from bert_tf.training import run_start, training_loop
from bert_tf.training.distribution import (
    TpuAddress,
    build_strategy,
    gathered,
    require_even_batch,
)
from bert_tf.training.optimization import create_optimizer
from bert_tf.training.run_state import RunState
from bert_tf.weights.loading import (
    open_checkpoint,
    training_variables,
    variable_names,
)
from bert_tf.weights.model_folder import CONFIG_FILE
from bert_tf.weights.weights_path import untrained


@dataclasses.dataclass(kw_only=True)
class Job:
    """What is done with one model in one folder.

    A task is a subclass, which defines

        loss_names                    the keys of the training losses
        build_model()                 the model, in the strategy's scope
        compute_losses(model, batch)  a dict of them to float32 scalars
        compute_outputs(model, batch)  what `run` gives, if that is called

    Raises:
      UserError: (by every method) files, flags or checkpoints that do not fit.
    """

    loss_names = ("loss",)

    config: BertConfig
    output_dir: str
    strategy: tf.distribute.Strategy
    use_one_hot_embeddings: bool = False  # as suits TPUs
    init_checkpoint: str | None = None
    keep_checkpoint_max: int = 5  # 0 keeps all
    seed: int | None = None  # None: a random one

    def __post_init__(self):
        self._model = None  # made by whichever method comes first
        self._global_step = None
        self._run_steps = {}  # shapes of a batch -> the function that runs it

    @classmethod
    def from_flags(cls, flags, **own):
        """Returns the job that a script's flags (FlagValues) ask for.

        `own` is what the flags do not say of this kind of job.
        """
        address = TpuAddress.from_flags(flags.flag_values_dict())
        given = {
            "init_checkpoint": flags.init_checkpoint,
            "output_dir": flags.output_dir,
            "strategy": build_strategy(address),
            "use_one_hot_embeddings": flags.use_tpu,
            "keep_checkpoint_max": flags.keep_checkpoint_max,
            "seed": flags.seed,
        }
        return cls(**{**given, **own})

    def build_model(self):
        """Returns a new tf_keras.Model."""
        raise NotImplementedError

    def compute_losses(self, model, batch):
        """Runs the model, dropout acting, on a batch of records (dict).

        Returns:
          dict of `loss_names` to float32 scalars; "loss" is minimised.
        """
        raise NotImplementedError

    def compute_outputs(self, model, batch):
        """Runs the model without dropout: dict, str -> tensor [B, ...]."""
        raise NotImplementedError

    def train(self, records, settings, schedule, *, watch=None):
        """Trains to the last step, from wherever weights come.

        Args:
          records: input_pipeline.RecordFiles.
          settings: training_loop.LoopSettings.
          schedule: training_loop.Schedule.
          watch: see `training_loop.train`.
        """
        self.check_run(settings, schedule)
        files.make_output_folder(self.output_dir, "output_dir")
        seed = run_start.seed_everything(self.seed)
        self._log_plan(records, settings, schedule)
        with self.strategy.scope():
            optimizer = create_optimizer(
                schedule.learning_rate,
                settings.num_train_steps,
                schedule.num_warmup_steps,
            )
            self._model = self.build_model()
            optimizer.build(self._model.trainable_variables)
            self._global_step = optimizer.iterations
            keeper = self._keeper(training_variables(self._model, optimizer))
            state = RunState(self._model, records.paths, seed=seed)
            self._begin(keeper, state)
            trainer = self._make_trainer(optimizer, records, settings, state)
            first_step = self.global_step()

            def describe_run(step):
                examples = (step - first_step) * settings.train_batch_size
                return state.describe(state.examples_read + examples)

            with input_pipeline.naming_bad_records(records):
                training_loop.train(
                    trainer,
                    keeper,
                    settings,
                    describe_run=describe_run,
                    watch=watch,
                )

    def _begin(self, keeper, state):
        """Gives the model its first weights, and `state` its position."""
        latest = run_start.initialize(self._model, keeper, self.init_checkpoint)
        if latest is not None:
            state.restore(keeper.read_companion(latest))
            logging.info("Training goes on after step %d.", self.global_step())
        files.write_text(
            os.path.join(self.output_dir, CONFIG_FILE),
            self.config.to_json_string(),
        )

    def _make_trainer(self, optimizer, records, settings, state):
        dataset = input_pipeline.training_dataset(
            records,
            batch_size=settings.train_batch_size,
            seed=state.seed,
            examples_read=state.examples_read,
        )
        return training_loop.Trainer(
            self._model,
            optimizer,
            compute_losses=self.compute_losses,
            loss_names=self.loss_names,
            dataset=self.strategy.experimental_distribute_dataset(dataset),
        )

    def check_run(self, settings, schedule):
        """Checks, before anything is written, that there is a run to begin."""
        require_even_batch(
            settings.train_batch_size, self.strategy, "train_batch_size"
        )
        run_start.refuse_finished_run(
            self.output_dir, settings.num_train_steps, schedule.length_flag
        )
        run_start.refuse_other_model(self.output_dir, self.config)

    def _keeper(self, variables):
        return CheckpointKeeper(
            self.output_dir, variables, self.keep_checkpoint_max
        )

    def _log_plan(self, records, settings, schedule):
        logging.info(
            "Training on %d file(s) of records, %s, %d device(s): %d steps of "
            "%d examples, learning rate %g after %d steps of warm-up.",
            len(records.paths),
            type(self.strategy).__name__,
            self.strategy.num_replicas_in_sync,
            settings.num_train_steps,
            settings.train_batch_size,
            schedule.learning_rate,
            schedule.num_warmup_steps,
        )

    def ready_model(self):
        """Returns the trained model, or else one with the newest weights.

        Call it in the strategy's scope.
        """
        if self._model is None:
            run_start.refuse_other_model(self.output_dir, self.config)
            run_start.seed_everything(self.seed)
            self._model = self.build_model()
            self._global_step = tf.Variable(0, dtype=tf.int64, trainable=False)
            variables = variable_names(self._model)
            keeper = self._keeper({**variables, GLOBAL_STEP: self._global_step})
            run_start.initialize(self._model, keeper, self.init_checkpoint)
        return self._model

    def run(self, records, batch_size, flag):
        """Runs the trained, or else the newest, weights over records once.

        Args:
          records: input_pipeline.RecordFiles.
          batch_size: int, B over all devices.
          flag: str, the one that gives it, for messages.

        Yields:
          dict, str -> np.ndarray [B, ...]: the outputs of a batch, in order.
        """
        require_even_batch(batch_size, self.strategy, flag)
        with self.strategy.scope():
            dataset = self.strategy.experimental_distribute_dataset(
                input_pipeline.ordered_dataset(records, batch_size=batch_size)
            )
            run_step = self._run_step(self.ready_model(), dataset.element_spec)
        with input_pipeline.naming_bad_records(records):
            for batch in dataset:
                yield {
                    name: gathered(self.strategy, value)
                    for name, value in run_step(batch).items()
                }

    def _run_step(self, model, element_spec):
        """Returns the function that runs a batch; made once for a job."""

        # Only tensors may be arguments of what a TPU runs.
        def replica_step(batch):
            return self.compute_outputs(model, batch)

        shapes = repr(element_spec)
        if shapes not in self._run_steps:
            self._run_steps[shapes] = tf.function(
                lambda batch: self.strategy.run(replica_step, args=(batch,)),
                input_signature=[element_spec],
            )
        return self._run_steps[shapes]

    def open_weights(self, *, to_train):
        """Opens the checkpoint that `ready_model` would begin from.

        Returns:
          pair: WeightReader, and str, the flag that leads to it; two None if
          there is none, which only training (`to_train`) can do without.
        """
        latest = latest_checkpoint(self.output_dir)
        path = latest or self.init_checkpoint
        if path:
            flag = "output_dir" if latest else "init_checkpoint"
            return open_checkpoint(path), flag
        if to_train:
            return None, None
        raise untrained(self.output_dir)

    def global_step_variable(self):
        """Returns the int64 variable that counts the steps."""
        return self._global_step

    def global_step(self):
        """Returns the step (int) of the weights of `ready_model`."""
        return int(self._global_step.numpy())
