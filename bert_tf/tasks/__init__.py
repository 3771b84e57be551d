"""Files of texts with labels to examples, and predictions to files.

In: a task's files. Out: examples, records of them, metrics, predictions. May
import: `data` and below. No TensorFlow before records are written.

Read `rows`, `examples`, `labels`, `layouts`; `glue`, `xnli`, `own_table`;
`registry`, `task_file`; the package `records`; `metrics`, `predictions`. What
2018's run_classifier.py was imported for stands here under its names.
"""

from bert_tf.tasks.examples import (
    DataProcessor,
    InputExample,
    PaddingInputExample,
)
from bert_tf.tasks.glue import ColaProcessor, MnliProcessor, MrpcProcessor
from bert_tf.tasks.records.converter import (
    InputFeatures,
    convert_single_example,
)
from bert_tf.tasks.records.record_files import (
    file_based_convert_examples_to_features,
)
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
