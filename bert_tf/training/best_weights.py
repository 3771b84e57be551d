"""Evaluating while training: the best weights are kept, and when to stop."""

import os

from absl import logging

from bert_tf.checkpoints.checkpoint_files import latest_checkpoint
from bert_tf.checkpoints.checkpoint_io import CheckpointReader
from bert_tf.checkpoints.checkpoint_keeper import CheckpointKeeper
from bert_tf.checkpoints.weight_reader import GLOBAL_STEP
from bert_tf.errors import UserError
from bert_tf.storage import files
from bert_tf.training.training_loop import Scalars
from bert_tf.weights.loading import variable_names
from bert_tf.weights.model_folder import CONFIG_FILE


class BestKeeper:
    """Keeps the checkpoint of one run that a measure likes best.

    best = BestKeeper(output_dir, measure="f1", eval_steps=100, patience=3)
    best.refuse_stopped_run()
    every 100 steps: goes_on = best.update(step, job, results)
    best.restore(job)

    Args:
      output_dir: str, the run's folder.
      measure: str, a key of the results; the more, the better.
      eval_steps: int.
      patience: int or None: never stop.
      evaluated: str or None, what tells the data that are evaluated from
        others. A best value of other data, or of another measure, does not
        count; None: that of any data does.

    Attributes:
      folder: str, output_dir/best. It holds the best weights as a released
        model does.
    """

    def __init__(
        self,
        output_dir,
        *,
        measure,
        eval_steps,
        patience=None,
        evaluated=None,
    ):
        self.folder = os.path.join(output_dir, "best")
        self._measure = measure
        self._eval_steps = eval_steps
        self._patience = patience
        self._evaluated = evaluated
        self._scalars = Scalars(os.path.join(output_dir, "eval"))
        self._is_told = False  # that the stored value does not count

    def refuse_stopped_run(self):
        """Checks that an earlier run was not stopped for good.

        Raises:
          UserError: as many evaluations as `patience` were no better; or the
            best weights are of a run whose checkpoints are gone.
        """
        output_dir = os.path.dirname(self.folder)
        latest = latest_checkpoint(output_dir)
        if latest is None and self._stored():
            raise UserError(
                f"{self.folder} holds the best weights of a run whose "
                "checkpoints are not there, so that a new one could not be "
                "told from it. Remove that folder, or name another "
                "--output_dir."
            )
        best = self._best()
        step = CheckpointReader(latest).global_step() if latest else 0
        if best and self._is_over(step, best):
            raise UserError(
                f"--early_stopping_patience={self._patience}: the run in "
                f"{output_dir} is at step {step}, and its best "
                f"{best['measure']}, {best['value']:.4f}, is of step "
                f"{best['step']}. Raise the flag to go on, name another "
                "--output_dir to start anew, or drop --do_train."
            )

    def update(self, step, job, results):
        """Keeps the weights if they are the best so far, and decides.

        Args:
          step: int.
          job: job.Job, training.
          results: dict of an evaluation at that step. They are written as
            TensorBoard scalars too, in `eval`, as 2018's Estimator did.

        Returns:
          bool, whether to go on: not if `patience` evaluations in a row were
          no better.
        """
        self._scalars.write(
            step, {k: v for k, v in results.items() if k != "global_step"}
        )
        value = float(results[self._measure])
        best = self._best()
        if best is None or value > best["value"]:
            best = {
                "measure": self._measure,
                "value": value,
                "step": step,
                "evaluated": self._evaluated,
            }
            self._keep(best, job)
        logging.info(
            "Step %d: %s %.4f; the best is %.4f, of step %d.",
            step,
            self._measure,
            value,
            best["value"],
            best["step"],
        )
        if not self._is_over(step, best):
            return True
        logging.info(
            "Training ends: %d evaluations in a row were no better.",
            self._patience,
        )
        return False

    def _is_over(self, step, best):
        if self._patience is None:
            return False
        return step - best["step"] >= self._patience * self._eval_steps

    def _keep(self, best, job):
        self._keeper(job).save(best["step"], best)
        files.write_text(
            os.path.join(self.folder, CONFIG_FILE), job.config.to_json_string()
        )

    def _keeper(self, job):
        variables = variable_names(job.ready_model())
        step = job.global_step_variable()
        return CheckpointKeeper(
            self.folder, {**variables, GLOBAL_STEP: step}, 1
        )

    def _stored(self):
        keeper = CheckpointKeeper(self.folder, {}, 1)
        latest = keeper.latest()
        return keeper.read_companion(latest) if latest else None

    def _best(self):
        """Returns what is stored of the best, if it can be compared with."""
        best = self._stored()
        if best is None:
            return None
        changed = []
        if best["measure"] != self._measure:
            changed.append("measure")
        if self._evaluated not in (None, best.get("evaluated")):
            changed.append("data evaluated on")
        if not changed:
            return best
        if not self._is_told:
            self._is_told = True
            logging.info(
                "The best %s so far, %.4f of step %d, does not count any more: "
                "the %s changed.",
                best["measure"],
                best["value"],
                best["step"],
                " and the ".join(changed),
            )
        return None

    def restore(self, job):
        """Gives the model of a job.Job the best weights, once it is trained."""
        if self._best() is not None:
            keeper = self._keeper(job)
            latest = keeper.latest()
            keeper.restore(latest)
            logging.info("Weights: the best ones, from %s.", latest)
