"""How a run starts: what is refused, the seed, where the weights come from."""

import os
import random

import tf_keras
from absl import logging

from bert_tf.checkpoints.checkpoint_files import latest_checkpoint
from bert_tf.checkpoints.checkpoint_io import CheckpointReader
from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.storage import files
from bert_tf.weights.loading import load_checkpoint
from bert_tf.weights.model_folder import CONFIG_FILE


def seed_everything(seed):
    """Seeds weights, dropout and data; returns the seed, drawn here if None."""
    if seed is None:
        seed = random.SystemRandom().randrange(2**31)
    tf_keras.utils.set_random_seed(seed)
    return seed


def refuse_finished_run(output_dir, num_train_steps, length_flag):
    """Refuses, before anything is built, a run with no step left to train.

    `length_flag` (str) is the one that makes a run longer, for the message.
    """
    latest = latest_checkpoint(output_dir)
    step = CheckpointReader(latest).global_step() if latest else 0
    if latest and step >= num_train_steps:
        raise UserError(
            f"The checkpoint in --output_dir={output_dir} is at step {step} "
            f"and --{length_flag} ends the run at step {num_train_steps}: "
            "there is nothing to train. Raise it to go on, name another "
            "--output_dir to start anew, or drop --do_train."
        )


def refuse_other_model(output_dir, config):
    """Refuses a BertConfig that is not that of the checkpoints in a folder.

    Shapes alone would not show another number of heads or another activation.
    Dropout may change from run to run.
    """
    path = os.path.join(output_dir, CONFIG_FILE)
    if latest_checkpoint(output_dir) is None or not files.is_file(path):
        return
    others = config.differences(BertConfig.from_json_file(path))
    if others:
        raise UserError(
            f"--output_dir={output_dir} holds checkpoints of another model, "
            f"see {path}; --bert_config_file has {', '.join(others)}. Give "
            "that file, or another --output_dir."
        )


def initialize(model, keeper, init_checkpoint):
    """Gives a model its first weights; the log says from where.

    The order is fixed: 1. the newest checkpoint in `output_dir`, optimizer and
    step included; 2. `init_checkpoint`, the model alone; 3. random weights.

    `keeper` is a CheckpointKeeper on everything that a resume needs.

    Returns:
      str or None, the checkpoint in `output_dir` that was restored.

    Raises:
      UserError: a checkpoint does not fit the model.
    """
    latest = keeper.latest()
    if latest is not None:
        keeper.restore(latest)
        logging.info("Weights: those of %s, the newest there.", latest)
        if init_checkpoint:
            logging.info("So --init_checkpoint is not read.")
    elif init_checkpoint:
        load_checkpoint(model, init_checkpoint)
    else:
        logging.warning("Weights: random; no checkpoint was named or found.")
    return latest
