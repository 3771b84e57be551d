"""Tests of what all readers share; those of a format are with its reader."""

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.checkpoints.weight_reader import Stored, WeightReader, listed
from bert_tf.errors import UserError


class Reader(WeightReader):
    """Two variables, a slot of one, and a step."""

    format_name = "test"

    def __init__(self):
        self.values = {
            "w": np.float32([1, 2]),
            "w/adam_m": np.float32([3, 4]),
            "b": np.float32([5]),
            "global_step": np.int64(7),
        }
        stored = {
            name: Stored(value.dtype.name, value.shape)
            for name, value in self.values.items()
        }
        super().__init__("a path", stored)

    def read(self, name):
        return self.values[name]


def test_lists_in_messages_are_short():
    names = [f"n{i}" for i in range(12)]
    assert listed(names[:2]) == "n0, n1"
    assert listed(names[:10]).endswith("n8, n9")
    assert listed(names).endswith("n8, n9 and 2 more")
    assert listed(dict.fromkeys(names[:2])) == "n0, n1"


def test_names_are_sorted_and_described():
    reader = Reader()
    assert list(reader.stored) == ["b", "global_step", "w", "w/adam_m"]
    assert str(reader.stored["w"]) == "float32 [2]"
    assert reader.slots().keys() == {"global_step", "w/adam_m"}
    assert reader.model().keys() == {"b", "w"}
    assert reader.global_step() == 7


@pytest.mark.parametrize(
    "value", [np.float32(1), np.int64([1, 2])], ids=["float", "two"]
)
def test_a_step_that_is_no_whole_number_is_an_error(value):
    reader = Reader()
    reader.values["global_step"] = value
    entry = Stored(value.dtype.name, value.shape)
    reader.stored["global_step"] = entry
    with pytest.raises(UserError, match="must be one whole number"):
        reader.global_step()


def test_variables_are_set():
    variable = tf.Variable([0.0, 0.0])
    Reader().assign({"w": variable})
    np.testing.assert_array_equal(variable, [1, 2])


def test_what_does_not_fit_is_listed_under_its_fault():
    variables = {"w": tf.Variable([0.0]), "b": tf.Variable([0])}
    with pytest.raises(UserError) as raised:
        Reader().require_fit(variables, missing=["m"], file_only=["f"])
    assert str(raised.value) == (
        "The checkpoint a path does not fit the model. Of another shape: "
        "w (float32 [2] in the file, float32 [1] here), "
        "b (float32 [1] in the file, int32 [1] here). Not in the file: m. "
        "Not in the model: f. Use the configuration that belongs to it, and "
        "all of its files."
    )
