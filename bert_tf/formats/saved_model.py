"""A SavedModel: its weights, what lies beside them, and the flag for one.

    saved_model.pb
    variables/variables.index, .data-...    a checkpoint
    assets/                                 vocab.txt, bert_config.json, ...

TensorFlow is not imported here, unless a file is of a form that only it reads.
"""

import os

from bert_tf.checkpoints.weight_reader import WeightReader
from bert_tf.errors import UserError
from bert_tf.storage import files, json_files

# The asset that tells what an export of this project is.
DESCRIPTION_FILE = "export.json"

_PREFIX = os.path.join("variables", "variables")
_LOWER_CASE = "do_lower_case/.ATTRIBUTES/VARIABLE_VALUE"
# The root's child below which an export of this project has its variables, each
# under its 2018 name; see serving.hub_encoder.
_VARIABLES = "bert_variables"

_FLAG = "bert_hub_module_handle"


def find_prefix(folder):
    """Returns the prefix of a SavedModel's checkpoint; None if it has none."""
    prefix = os.path.join(folder, _PREFIX)
    wanted = (os.path.join(folder, "saved_model.pb"), f"{prefix}.index")
    return prefix if all(map(files.is_file, wanted)) else None


def assets_of(prefix):
    """Returns a SavedModel's folder of assets by its checkpoint; else None."""
    folder = os.path.dirname(os.path.dirname(prefix))
    if os.path.join(folder, _PREFIX) != prefix or not find_prefix(folder):
        return None
    return os.path.join(folder, "assets")


def find_vocabulary(prefix):
    """Finds the vocabulary (str) among the assets, whatever its name is there.

    None if `prefix` is of no SavedModel, or unless exactly one asset's name has
    "vocab" in it.
    """
    assets = assets_of(prefix)
    if assets is None or files.is_remote(assets) or not files.is_folder(assets):
        return None
    names = [name for name in files.list_folder(assets) if "vocab" in name]
    return os.path.join(assets, names[0]) if len(names) == 1 else None


def stored_lower_case(prefix):
    """Reads (bool) where Model Garden's modules keep the letter case.

    None if `prefix` is of no SavedModel, or it has no such variable.
    """
    if assets_of(prefix) is None:
        return None
    import tensorflow as tf

    with files.naming_failures(prefix, "read"):
        reader = tf.train.load_checkpoint(prefix)
        if not reader.has_tensor(_LOWER_CASE):
            return None
        return bool(reader.get_tensor(_LOWER_CASE))


def is_exported(graph):
    """Tells whether an ObjectGraph is of a SavedModel of this project."""
    return graph.find(_VARIABLES) is not None


class SavedVariablesReader(WeightReader):
    """The checkpoint in a SavedModel that this project exported.

    `graph` is the ObjectGraph of `checkpoint`, a CheckpointReader.

    Raises:
      UserError: it is damaged.
    """

    format_name = "SavedModel"

    def __init__(self, checkpoint, graph):
        self._checkpoint = checkpoint
        self._keys = {
            name: graph.keys[node]
            for name, node in graph.children[graph.find(_VARIABLES)].items()
        }
        lost = sorted(set(self._keys.values()) - checkpoint.stored.keys())
        if lost:
            raise UserError(
                f"The checkpoint {checkpoint.path} is damaged: its object "
                f"graph names {lost[0]}, which is not in it. Export it again."
            )
        super().__init__(
            checkpoint.path,
            {name: checkpoint.stored[key] for name, key in self._keys.items()},
        )

    def read(self, name):
        """See WeightReader."""
        return self._checkpoint.read(self._keys[name])


def choose_init_checkpoint(init_checkpoint, handle):
    """Finds the weights (str or None) that one of two flags names.

    `handle` is --bert_hub_module_handle: the folder of a SavedModel, or the URL
    of one, which tensorflow_hub then fetches.

    Raises:
      UserError: both are given, or it is no SavedModel of an encoder.

    Source: run_classifier_with_tfhub.py (2018), a script of its own.
    """
    if not handle:
        return init_checkpoint
    if init_checkpoint is not None:
        raise UserError(
            f"--{_FLAG} and --init_checkpoint both say what to begin from; "
            "give one of them."
        )
    folder = handle
    if handle.startswith(("http://", "https://")):
        import tensorflow_hub

        try:
            folder = tensorflow_hub.resolve(handle)
        # OSError: no network, no such page. ValueError: no handle it knows.
        except (OSError, ValueError) as error:
            raise UserError(
                f"--{_FLAG}={handle} cannot be fetched: {error}. Fetch it "
                "another way, unpack it, and name its folder."
            ) from error
    _require_encoder(folder)
    return folder


def _require_encoder(folder):
    if not find_prefix(folder):
        raise UserError(
            f"--{_FLAG}={folder} is no SavedModel of an encoder: there must be "
            "a saved_model.pb and variables/variables.index in it. Name the "
            "folder that holds them; of an export that is a numbered one."
        )
    path = os.path.join(folder, "assets", DESCRIPTION_FILE)
    kind = "encoder"  # Other people's modules do not say.
    if files.is_file(path):
        kind = json_files.read_object(path).get("kind")
    if kind != "encoder":
        raise UserError(
            f"--{_FLAG}={folder} is an export of the kind {kind!r}; an "
            "'encoder' is wanted."
        )
