"""The data of sentence classification: files to examples to records.

In the order of the data: `rows` (a file's lines), `examples` and `labels` (what
a task gives), `layouts`, `glue`, `xnli` and `columns` (whose row is what),
`registry` (a task's name to all that belongs to it), `task_file` (the task of a
folder's model), `packing` (text to ids), `encoding` (ids to bytes), `converter`
and `processes` (examples to records), `fingerprint`, `record_file` and
`records` (TFRecord files), `metrics`, and `predictions`.

What 2018's run_classifier.py was imported for stands here under its names.
Nothing in this package needs TensorFlow until records are written.
"""

from bert_tf.tasks.examples import (
    DataProcessor,
    InputExample,
    PaddingInputExample,
)
from bert_tf.tasks.glue import ColaProcessor, MnliProcessor, MrpcProcessor
from bert_tf.tasks.packing import InputFeatures, convert_single_example
from bert_tf.tasks.records import file_based_convert_examples_to_features
from bert_tf.tasks.xnli import XnliProcessor

__all__ = [
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
]
