"""Small checkpoints for tests: made, written, compared, damaged."""

import os

import numpy as np
import tensorflow as tf

from bert_tf.checkpoints import checkpoint_io

DATA = ".data-00000-of-00001"


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
