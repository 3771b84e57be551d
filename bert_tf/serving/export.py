"""Writing a SavedModel that takes text, and trying it before it counts."""

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
import threading

import numpy as np
import tensorflow as tf
from absl import logging
from tensorflow.core.protobuf import saved_model_pb2

import bert_tf
from bert_tf.errors import UserError
from bert_tf.storage import files
from bert_tf.storage.new_folder import making_numbered_folder
from bert_tf.weights.loading import variable_names

_FLAG = "export_dir"

# Operations that need the Python process which made them.
_PYTHON_OPERATIONS = {"PyFunc", "PyFuncStateless", "EagerPyFunc"}


def export(served, export_dir, *, verify=True):
    """Writes an export into the next numbered folder, such as out/export/1.

    It is written beside and renamed: serving software that watches the folder
    never sees half of it.

    Args:
      served: serving.servable.Servable.
      export_dir: str, a local folder; made if need be.
      verify: bool, whether to load the export in a new process and compare
        what it gives with what `served` gives, before it gets its name.

    Returns:
      str, the numbered folder.

    Raises:
      UserError: it cannot be written, or does not give the same.
    """
    with (
        _ending_by_exception(),
        making_numbered_folder(export_dir, _FLAG) as made,
    ):
        beside = made[0]
        try:
            with tempfile.TemporaryDirectory(dir=beside) as folder:
                _write(served, beside, folder, verify=verify)
        except tf.errors.OpError as error:
            raise UserError(
                f"--{_FLAG}={export_dir}: the export cannot be written: "
                f"{error.message}"
            ) from error
    logging.info("Exported to %s.", made[0])
    return made[0]


def _write(served, path, folder, *, verify):
    """Writes an export to `path`; what only this needs goes to `folder`."""
    logging.info("Making the export.")
    signatures = served.signatures()
    served.keep_assets(_assets(served.asset_files(), folder))
    with _only_warnings():
        tf.saved_model.save(served, path, signatures=signatures)
    found = operations(path) & _PYTHON_OPERATIONS
    assert not found, found
    if verify:
        _verify(path, signatures, served.samples(), folder)


@contextlib.contextmanager
def _ending_by_exception():
    """Turns SIGTERM into an exception, so that nothing is left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number, frame):
        del frame
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _only_warnings():
    """Keeps TensorFlow's notes about saving out of the log."""
    verbosity = logging.get_verbosity()
    # The logger's own level may be unset, which absl's verbosity cannot be.
    level = logging.get_absl_logger().level
    logging.set_verbosity(logging.WARNING)
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        logging.get_absl_logger().setLevel(level)


def trained_model(job):
    """Returns the trained, or else the newest, model of a job, for one device.

    It is a tf_keras.Model of its own with the weights of `job.ready_model`.
    """
    with job.strategy.scope():
        trained = variable_names(job.ready_model())
    here = dataclasses.replace(
        job,
        strategy=tf.distribute.get_strategy(),
        use_one_hot_embeddings=False,
    )
    model = here.build_model()
    for name, variable in variable_names(model).items():
        variable.assign(trained[name].numpy())
    return model


def _assets(contents, folder):
    """Turns bytes (dict, by name) into assets; their files go to `folder`."""
    assets = {}
    for name, content in contents.items():
        path = os.path.join(folder, name)
        files.write_bytes(path, content)
        assets[name] = tf.saved_model.Asset(path)
    return assets


def operations(path):
    """Lists the names (set of str) of the operations in a SavedModel (str)."""
    content = files.read_bytes(os.path.join(path, "saved_model.pb"))
    saved = saved_model_pb2.SavedModel.FromString(content)
    graph = saved.meta_graphs[0].graph_def
    nodes = list(graph.node)
    for function in graph.library.function:
        nodes += function.node_def
    return {node.op for node in nodes}


def _verify(path, signatures, samples, folder):
    """Compares an export, in a new process, with the model in memory."""
    logging.info(
        "Comparing it, loaded in a new process, with the model "
        "(--noverify_export leaves this out)."
    )
    values = {}
    for name, inputs in samples.items():
        tensors = {key: tf.constant(value) for key, value in inputs.items()}
        outputs = signatures[name](**tensors)
        values |= {f"{name}/input/{k}": v for k, v in tensors.items()}
        values |= {f"{name}/output/{k}": v for k, v in outputs.items()}
    compared = os.path.join(folder, "compared.npz")
    np.savez(compared, **{k: _as_array(v) for k, v in values.items()})
    # Where `bert_tf` is, for scripts that are run from elsewhere.
    root = os.path.dirname(os.path.dirname(os.path.abspath(bert_tf.__file__)))
    places = [root, os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "bert_tf.serving.verify_export", path, compared],
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))},
    )
    if done.returncode:
        raise UserError(
            f"--{_FLAG}: what was exported, loaded in a new process, does not "
            f"do what the model in memory does, and was removed:\n"
            f"{done.stdout.strip() or done.stderr.strip()}"
        )
    logging.info("%s", done.stdout.strip())


def _as_array(value):
    """Returns a tensor as an array that needs no pickle.

    Such arrays lose NUL bytes at the end of a string, hence the full stop.
    """
    array = value.numpy()
    return array if array.dtype != object else (array + b".").astype(np.bytes_)
