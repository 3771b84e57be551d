"""The 2018 optimizer: its Adam, its learning rate and its clipping."""

import math
import re

import tensorflow as tf
import tf_keras
from absl import logging

from bert_tf.errors import UserError

WEIGHT_DECAY_RATE = 0.01
EXCLUDED_FROM_WEIGHT_DECAY = ("LayerNorm", "layer_norm", "bias")


class WarmUpThenLinearDecay(tf_keras.optimizers.schedules.LearningRateSchedule):
    """The 2018 learning rate: linear warm-up, then linear decay to 0.

    Both lines start at step 0, so that the rate drops from the one to the
    other where warm-up ends. With `init_lr` 1, 10 steps and 4 of warm-up:

        step  0    1    2    3    4    5    ...  9    10
        rate  0.0  0.25 0.5  0.75 0.6  0.5  ...  0.1  0.0

    Called with the number of updates done so far (an integer scalar), it
    returns the rate of the next update, float32.

    Args:
      init_lr: float, the peak both lines aim at.
      num_train_steps: int, above 0; where the decay reaches 0.
      num_warmup_steps: int; 0 for no warm-up.

    Source: the first half of `create_optimizer` in optimization.py (2018).
    """

    def __init__(self, init_lr, num_train_steps, num_warmup_steps):
        super().__init__()
        self.init_lr = init_lr
        self.num_train_steps = num_train_steps
        self.num_warmup_steps = num_warmup_steps

    def __call__(self, step):
        init_lr = tf.constant(self.init_lr, tf.float32)
        total = tf.constant(self.num_train_steps, tf.float32)
        done = tf.cast(step, tf.float32)
        rate = init_lr * (1.0 - tf.minimum(done, total) / total)
        if not self.num_warmup_steps:
            return rate
        warm_up_rate = init_lr * (done / float(self.num_warmup_steps))
        is_warm_up = tf.cast(step, tf.int64) < self.num_warmup_steps
        return tf.where(is_warm_up, warm_up_rate, rate)

    def get_config(self):
        return {
            "init_lr": self.init_lr,
            "num_train_steps": self.num_train_steps,
            "num_warmup_steps": self.num_warmup_steps,
        }


class AdamWeightDecay(tf_keras.optimizers.Optimizer):
    """Adam without bias correction, with decoupled weight decay.

    For each variable w with gradient g:

        m = beta_1 * m + (1 - beta_1) * g
        v = beta_2 * v + (1 - beta_2) * g ** 2
        w = w - learning_rate * (m / (sqrt(v) + epsilon) + decay * w)

    A variable's decay is `weight_decay_rate`, or 0 where one of the patterns
    of `exclude_from_weight_decay` is found in its name. `iterations` is the
    2018 `global_step`: the number of updates done. After an update
    `learning_rate` is the rate which that update used.

    Call `build(variables)` before restoring, with the variables that get a
    gradient: 2018 kept no slots for others.

    Args:
      learning_rate: float or LearningRateSchedule.
      weight_decay_rate: float.
      beta_1: float, the first moment's decay per update.
      beta_2: float, the second moment's decay per update.
      epsilon: float, added outside the square root.
      exclude_from_weight_decay: iterable of str, regular expressions, or None.
      name: str.

    Source: `AdamWeightDecayOptimizer` in optimization.py (2018). There
      `apply_gradients` left counting the steps to its caller, and 1 - beta_2
      was rounded from float64: see `update_step`.
    """

    def __init__(
        self,
        learning_rate,
        weight_decay_rate=0.0,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-6,
        exclude_from_weight_decay=None,
        name="AdamWeightDecay",
    ):
        # tf_keras would decay before, and apart from, the update; and compile
        # each variable's update, which is a single kernel already.
        super().__init__(name=name, weight_decay=None, jit_compile=False)
        self._learning_rate = self._build_learning_rate(learning_rate)
        self.weight_decay_rate = weight_decay_rate
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.excluded_patterns = tuple(exclude_from_weight_decay or ())

    def build(self, var_list):
        """Makes the slots of the variables to be updated; later calls do none.

        Args:
          var_list: sequence of float variables.
        """
        if getattr(self, "_built", False):
            return
        super().build(var_list)
        self._adam_m = self._zero_slots(var_list, "adam_m")
        self._adam_v = self._zero_slots(var_list, "adam_v")
        # Decided here, since under a strategy `update_step` is given a
        # replica's copy, which has another name.
        self._decays = [self._decay_of(variable) for variable in var_list]
        self._built = True

    def _zero_slots(self, variables, kind):
        return [
            self.add_variable_from_reference(variable, kind)
            for variable in variables
        ]

    def _decay_of(self, variable):
        name = variable.name.partition(":")[0]
        if any(re.search(pattern, name) for pattern in self.excluded_patterns):
            return 0.0
        return self.weight_decay_rate

    def slots(self, variable):
        """Returns the moments kept for a variable that was given to `build`.

        Returns:
          dict: "adam_m" and "adam_v", variables of the same shape.

        Raises:
          KeyError: the variable has no slots.
        """
        index = self._index_dict[self._var_key(variable)]
        return {"adam_m": self._adam_m[index], "adam_v": self._adam_v[index]}

    def apply_gradients(self, grads_and_vars, **kwargs):
        """Updates the variables and counts one step.

        Args:
          grads_and_vars: iterable of (gradient, variable). A variable whose
            gradient is None is left alone; tf.IndexedSlices are summed up.
          **kwargs: as in tf_keras: `name`, `skip_gradients_aggregation`.

        Returns:
          The int64 variable `iterations`, or its new value.

        Raises:
          ValueError: no variable has a gradient.
        """
        # The moments of every row change at every step, in 2018 too, so
        # nothing would be gained by keeping a gradient sparse.
        dense = [
            (tf.convert_to_tensor(gradient), variable)
            for gradient, variable in grads_and_vars
            if gradient is not None
        ]
        if not dense:
            raise ValueError(
                "No variable was given a gradient. Check that the loss depends "
                "on the variables and was computed inside the tape."
            )
        return super().apply_gradients(dense, **kwargs)

    def update_step(self, gradient, variable):
        """Updates one variable and its moments.

        Args:
          gradient: float tensor of the variable's shape.
          variable: float variable.
        """
        index = self._index_dict[self._var_key(variable)]
        dtype = self._adam_m[index].dtype
        rate = tf.cast(self.learning_rate, dtype)
        decay = self._decays[index]
        if decay:
            variable.assign_sub(rate * decay * variable)
        # One pass over memory instead of a dozen. With both powers 0 this
        # kernel leaves out the bias correction; its epsilon is outside the
        # square root. It takes 1 - beta_2 in float32, which makes updates
        # 6e-6 of their size larger than in 2018.
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._adam_m[index].handle,
            v=self._adam_v[index].handle,
            beta1_power=tf.zeros([], dtype),
            beta2_power=tf.zeros([], dtype),
            lr=rate,
            beta1=tf.constant(self.beta_1, dtype),
            beta2=tf.constant(self.beta_2, dtype),
            epsilon=tf.constant(self.epsilon, dtype),
            grad=tf.cast(gradient, dtype),
        )

    def get_config(self):
        return {
            "learning_rate": self._serialize_hyperparameter(
                self._learning_rate
            ),
            "weight_decay_rate": self.weight_decay_rate,
            "beta_1": self.beta_1,
            "beta_2": self.beta_2,
            "epsilon": self.epsilon,
            "exclude_from_weight_decay": list(self.excluded_patterns),
            "name": self.name,
        }


def create_optimizer(init_lr, num_train_steps, num_warmup_steps):
    """Returns the optimizer of all 2018 training, with its learning rate.

    Args:
      init_lr: float, the peak learning rate.
      num_train_steps: int, updates in the whole run.
      num_warmup_steps: int, updates of linear warm-up; 0 or None for none.

    Returns:
      AdamWeightDecay with weight decay 0.01, except on LayerNorm and biases.

    Raises:
      UserError: a value no run can have.

    Source: `create_optimizer` in optimization.py (2018), which also made the
      gradients and clipped them: see `clip_gradients`.
    """
    num_warmup_steps = num_warmup_steps or 0
    _check_schedule(init_lr, num_train_steps, num_warmup_steps)
    return AdamWeightDecay(
        WarmUpThenLinearDecay(init_lr, num_train_steps, num_warmup_steps),
        weight_decay_rate=WEIGHT_DECAY_RATE,
        exclude_from_weight_decay=EXCLUDED_FROM_WEIGHT_DECAY,
    )


def _check_schedule(init_lr, num_train_steps, num_warmup_steps):
    if not (math.isfinite(init_lr) and init_lr >= 0):
        raise UserError(
            f"The learning rate is {init_lr}; it must be a number from 0 up. "
            "2018 used 1e-4 to pre-train and 2e-5 to 5e-5 to fine-tune."
        )
    if num_train_steps <= 0:
        raise UserError(
            f"num_train_steps is {num_train_steps}: there is nothing to train. "
            "It must be at least 1; give more steps or epochs, more examples, "
            "or a smaller batch."
        )
    if num_warmup_steps < 0:
        raise UserError(
            f"num_warmup_steps is {num_warmup_steps}; it must be 0 or more."
        )
    if num_warmup_steps >= num_train_steps:
        logging.warning(
            "num_warmup_steps (%d) is not below num_train_steps (%d): the "
            "learning rate rises to the last step and never decays. Lower "
            "num_warmup_steps to have it decay.",
            num_warmup_steps,
            num_train_steps,
        )


def clip_gradients(gradients, clip_norm=1.0):
    """Scales gradients down together so that their global norm is bounded.

    Clip before giving them to the optimizer. The word embedding's gradient, if
    tf.IndexedSlices, counts with its rows as they are, not summed up by id: a
    piece that occurs twice adds the squares of both its rows. So it was in
    2018, and the norm differs from that of the summed gradient.

    Args:
      gradients: list of float tensors, tf.IndexedSlices or None.
      clip_norm: float, the largest norm let through unchanged.

    Returns:
      clipped: list like `gradients`; all NaN if the norm is not finite.
      global_norm: float32 scalar, before clipping.

    Source: the call of `tf.clip_by_global_norm` in `create_optimizer` of
      optimization.py (2018).
    """
    return tf.clip_by_global_norm(gradients, clip_norm)
