"""What every export has: a description, files beside it, ways to call it."""

import json

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


# Of several lengths and scripts; one is empty.
SAMPLE_TEXTS = (
    "The quick brown fox jumps over the lazy dog.",
    "",
    "Naïve café: ΟΔΟΣ, 中文, 한국어 & \U0001f600!",
)
