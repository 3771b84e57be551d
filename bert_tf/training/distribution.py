"""Where a model runs: the tf.distribute strategy that the flags ask for."""

import dataclasses

import numpy as np
import tensorflow as tf
from absl import logging

from bert_tf.errors import UserError


@dataclasses.dataclass(frozen=True)
class TpuAddress:
    """The 2018 flags that say which Cloud TPU; None where not given."""

    tpu_name: str | None = None
    tpu_zone: str | None = None
    gcp_project: str | None = None
    master: str | None = None
    num_tpu_cores: int = 8

    @classmethod
    def from_flags(cls, values):
        """Returns the address that flags give, or None without --use_tpu.

        Args:
          values: dict, flag -> value, those of common_flags.define_tpu in it.
        """
        if not values["use_tpu"]:
            return None
        names = [field.name for field in dataclasses.fields(cls)]
        return cls(**{name: values[name] for name in names})


def build_strategy(tpu_address=None):
    """Returns the tf.distribute.Strategy to make everything under.

    On the TPU of a TpuAddress; without one, on this machine.
    """
    return tpu_strategy(tpu_address) if tpu_address else one_device_strategy()


def one_device_strategy():
    """Returns a strategy for the first GPU, or the CPU where there is none."""
    has_gpu = bool(tf.config.list_logical_devices("GPU"))
    return tf.distribute.OneDeviceStrategy("gpu:0" if has_gpu else "cpu:0")


def tpu_strategy(address):
    """Connects to a Cloud TPU; returns a TPUStrategy over all its cores.

    Raises:
      UserError: no TPU answers there, or it has another number of cores.

    Source: `TPUClusterResolver` and `RunConfig` in the `main` of the 2018
      scripts, where `master` stood for a TPU without a name.
    """
    name = address.tpu_name or address.master
    logging.info("Connecting to the TPU at --tpu_name=%s.", name)
    try:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(
            tpu=name, zone=address.tpu_zone, project=address.gcp_project
        )
        if name != "local":
            tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
        strategy = tf.distribute.TPUStrategy(resolver)
    # What "no TPU" raises depends on the machine: a ValueError where no name
    # is known, an error of the network or the runtime where one is.
    except (ValueError, OSError, RuntimeError, tf.errors.OpError) as error:
        reason = (str(error) or type(error).__name__).split(". ")[0]
        raise UserError(
            f"--use_tpu: no TPU answers at --tpu_name={name} ({reason}). Run "
            "on a Cloud TPU VM with tensorflow-tpu, or drop --use_tpu."
        ) from error
    if strategy.num_replicas_in_sync != address.num_tpu_cores:
        raise UserError(
            f"--num_tpu_cores={address.num_tpu_cores}, but the TPU {name} has "
            f"{strategy.num_replicas_in_sync}. Give that number."
        )
    return strategy


def gathered(strategy, value):
    """Joins the devices' shares of a batch: what `strategy.run` gave, in order.

    Returns:
      np.ndarray [B, ...].
    """
    shares = strategy.experimental_local_results(value)
    return np.concatenate([share.numpy() for share in shares])


def require_even_batch(global_batch_size, strategy, flag):
    """Refuses a batch that does not divide evenly among the devices.

    `flag` (str) is the one that gave it, for the message.
    """
    replicas = strategy.num_replicas_in_sync
    if global_batch_size % replicas:
        raise UserError(
            f"--{flag}={global_batch_size} does not divide evenly among "
            f"{replicas} devices. Give a multiple of {replicas}."
        )
