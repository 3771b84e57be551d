"""Records as bytes, made without TensorFlow, and the TFRecord files of them.

Processes that convert text would otherwise each import TensorFlow, which takes
longer than converting most data sets.

S max_seq_length
"""

import functools

from bert_tf.errors import UserError
from bert_tf.storage import files
from bert_tf.storage.progress import Heartbeat

# tf.train.Example as protocol buffers put it on the wire. A map is there a list
# of entries. Declared as a list, it keeps their order, so that the same values
# always give the same bytes. A message inside another one is there its length
# and its bytes. So a Feature takes its list as bytes, and any of the three list
# messages can make them.
_MESSAGES = """
name: "record.proto"
syntax: "proto3"
message_type {
  name: "FloatList"
  field { name: "value" number: 1 label: LABEL_REPEATED type: TYPE_FLOAT }
}
message_type {
  name: "Int64List"
  field { name: "value" number: 1 label: LABEL_REPEATED type: TYPE_INT64 }
}
message_type {
  name: "SmallIntList"
  field { name: "value" number: 1 type: TYPE_BYTES }
}
message_type {
  name: "Feature"
  field { name: "float_list" number: 2 type: TYPE_BYTES }
  field { name: "int64_list" number: 3 type: TYPE_BYTES }
}
message_type {
  name: "Entry"
  field { name: "key" number: 1 type: TYPE_STRING }
  field { name: "value" number: 2 type_name: ".Feature" }
}
message_type {
  name: "Features"
  field { name: "feature" number: 1 label: LABEL_REPEATED type_name: ".Entry" }
}
message_type {
  name: "Example"
  field { name: "features" number: 1 type_name: ".Features" }
}
"""

# Their numbers are 0 and 1. A number below 128 is one byte on the wire, so a
# list of them is written as bytes, many times faster than number by number.
_SMALL = ("input_mask", "segment_ids")


@functools.cache
def _messages():
    """Returns a dict, name -> class; from a pool apart from TensorFlow's."""
    # Deferred: every script imports this file, and --help needs no record.
    from google.protobuf import (
        descriptor_pb2,
        descriptor_pool,
        message_factory,
        text_format,
    )

    pool = descriptor_pool.DescriptorPool()
    pool.Add(text_format.Parse(_MESSAGES, descriptor_pb2.FileDescriptorProto()))
    return message_factory.GetMessageClassesForFiles(["record.proto"], pool)


class ExampleSerializer:
    """Makes records of one kind, by the thousand.

    The messages are filled again and again, which takes half the time of
    making them for each record.
    """

    def __init__(self, features):
        """Prepares the messages of a kind of record (tuple of Feature)."""
        messages = _messages()
        self._example = messages["Example"]()
        self._small, self._ints, self._floats = [], [], []
        for feature in features:
            if feature.name in _SMALL:
                kind, entries = "SmallIntList", self._small
            elif feature.dtype == "int64":
                kind, entries = "Int64List", self._ints
            else:
                kind, entries = "FloatList", self._floats
            entry = self._example.features.feature.add(key=feature.name)
            entries.append((feature.name, messages[kind](), entry.value))

    def serialize(self, values):
        """Makes one record: bytes, a serialized tf.train.Example.

        `values` is a dict, name -> sequence of numbers as long as its shape
        says, of every feature. `input_mask` and `segment_ids` are bytes.
        """
        for name, numbers, feature in self._small:
            numbers.value = values[name]
            feature.int64_list = numbers.SerializeToString()
        for name, numbers, feature in self._ints:
            numbers.value[:] = values[name]
            feature.int64_list = numbers.SerializeToString()
        for name, numbers, feature in self._floats:
            numbers.value[:] = values[name]
            feature.float_list = numbers.SerializeToString()
        return self._example.SerializeToString()


def text_values(input_ids, num_first, max_seq_length):
    """Pads packed text, see `packing.pack`, to S pieces.

    `input_ids` is a list of int, empty for padding; `num_first` of them belong
    to segment 0.

    Returns:
      dict, name -> S int: input_ids, a list; input_mask and segment_ids, bytes.
    """
    length = len(input_ids)
    num_padding = max_seq_length - length
    ones = b"\1" * length
    return {
        "input_ids": input_ids + [0] * num_padding,
        "input_mask": ones + bytes(num_padding),
        "segment_ids": bytes(num_first) + ones[num_first:] + bytes(num_padding),
    }


def write(path, batches):
    """Writes a TFRecord file, which appears when it is complete.

    `batches` is an iterable of lists of bytes, the records.

    Raises:
      UserError: the file cannot be written.
    """
    # Deferred: until here flags, data and vocabulary are checked without it.
    import tensorflow as tf

    heartbeat = Heartbeat(f"Wrote %s records to {path} so far.")
    num_records = 0
    try:
        with (
            files.naming_failures(path, "written"),
            files.replacing(path) as beside,
            tf.io.TFRecordWriter(beside) as writer,
        ):
            for records in batches:
                for record in records:
                    writer.write(record)
                num_records += len(records)
                heartbeat.beat(num_records)
    except tf.errors.OpError as error:
        raise UserError(
            f"{path} cannot be written: {error.message}."
        ) from error
