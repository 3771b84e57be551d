"""What every export has: a description, files beside it, ways to call it."""

import json

import numpy as np
import tensorflow as tf

from bert_tf.serving.exported import DESCRIPTION_FILE


class Exportable(tf.Module):
    """Something that `export.export` writes as a SavedModel.

    A subclass gives it `kind`, and what is left open here.
    """

    kind = None

    def description(self):
        """Returns the dict that the export's description holds."""
        return {"kind": self.kind}

    def asset_files(self):
        """Returns the files that go with the model: dict, name -> bytes."""
        description = json.dumps(self.description(), indent=2, sort_keys=True)
        return {DESCRIPTION_FILE: f"{description}\n".encode()}

    def keep_assets(self, assets):
        """Makes those files part of what is saved.

        Args:
          assets: dict, name -> tf.saved_model.Asset.
        """
        self.assets = list(assets.values())

    def signatures(self):
        """Returns the functions of an export: dict, name -> function."""
        raise NotImplementedError

    def samples(self):
        """Returns inputs to compare an export by.

        Returns:
          dict, a signature's name -> dict, an input's name -> np.ndarray.
        """
        raise NotImplementedError


def any_size(names):
    """Returns dict, name -> TensorSpec, of int32 [B, S], any B and any S."""
    return {
        name: tf.TensorSpec([None, None], tf.int32, name=name) for name in names
    }


def as_bytes(texts):
    """Returns texts (sequence of str) as a signature takes them."""
    return np.array([text.encode() for text in texts])


# Of several lengths and scripts; one is empty.
SAMPLE_TEXTS = (
    "The quick brown fox jumps over the lazy dog.",
    "",
    "Naïve café: ΟΔΟΣ, 中文, 한국어 & \U0001f600!",
)
