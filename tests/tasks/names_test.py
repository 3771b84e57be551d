"""The names that 2018's scripts were imported for."""

import subprocess
import sys

from bert_tf import tasks

NAMES_OF_2018 = {
    "ColaProcessor",
    "DataProcessor",
    "InputExample",
    "InputFeatures",
    "MnliProcessor",
    "MrpcProcessor",
    "PaddingInputExample",
    "XnliProcessor",
    "convert_single_example",
    "file_based_convert_examples_to_features",
}


def test_the_names_of_2018_are_there():
    assert set(tasks.__all__) == NAMES_OF_2018
    for name in NAMES_OF_2018:
        assert getattr(tasks, name).__name__ == name


def test_they_need_no_tensorflow():
    code = "import sys, bert_tf.tasks; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
