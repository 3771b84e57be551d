"""Records as bytes, made without TensorFlow.

A record is a tf.train.Example, which is one message of protocol buffers:

    Example { Features features = 1 }
    Features { map<string, Feature> feature = 1 }, an entry of which is
      { string key = 1, Feature value = 2 }
    Feature { FloatList float_list = 2 | Int64List int64_list = 3 }
    FloatList, Int64List { repeated value = 1, packed }

Processes that convert text would otherwise each import TensorFlow, which takes
longer than converting most data sets. Most of a record recurs, namely its mask,
segments and label, and is encoded once: this takes less than half the time.

S max_seq_length
"""

import functools
import struct

_FLOAT_LIST, _INT64_LIST = 2, 3
_ENTRIES_REMEMBERED = 4096


def encode_record(input_ids, num_first, max_seq_length, label_entry):
    """Makes one record.

    Args:
      input_ids: list of at most S int, unpadded; empty for padding.
      num_first: int, how many of them belong to segment 0.
      max_seq_length: int, S.
      label_entry: bytes from `encode_label`.

    Returns:
      bytes, a serialized tf.train.Example with the entries of
      features.classifier_features.
    """
    is_real = min(len(input_ids), 1)
    return encode_example(
        (
            *text_entries(input_ids, num_first, max_seq_length),
            label_entry,
            _run_of_ones("is_real_example", 0, is_real, 1),
        )
    )


def encode_example(entries):
    """Makes one record of its entries.

    Args:
      entries: iterable of bytes, from the functions below.

    Returns:
      bytes, a serialized tf.train.Example.
    """
    return _field(1, b"".join(entries))


def text_entries(input_ids, num_first, max_seq_length):
    """Makes the entries of packed text.

    Args:
      input_ids: list of at most S int, unpadded.
      num_first: int, how many of them belong to segment 0.
      max_seq_length: int, S.

    Returns:
      tuple of bytes: input_ids, input_mask, segment_ids.
    """
    length = len(input_ids)
    packed = b"".join(map(_VARINTS.__getitem__, input_ids))
    return (
        _entry(
            "input_ids", _INT64_LIST, packed + bytes(max_seq_length - length)
        ),
        _run_of_ones("input_mask", 0, length, max_seq_length),
        _run_of_ones("segment_ids", num_first, length, max_seq_length),
    )


def number_entry(name, number):
    """Makes the entry (bytes) of one number (int from 0), of any name."""
    return _entry(name, _INT64_LIST, _spell_varint(number))


@functools.lru_cache(_ENTRIES_REMEMBERED)
def encode_label(values, dtype):
    """Makes the entry of a record's label.

    Args:
      values: tuple of numbers, see labels.Labels.encode.
      dtype: str, "int64" or "float32".

    Returns:
      bytes.
    """
    if dtype == "float32":
        packed = struct.pack(f"<{len(values)}f", *values)
        return _entry("label_ids", _FLOAT_LIST, packed)
    packed = b"".join(map(_VARINTS.__getitem__, values))
    return _entry("label_ids", _INT64_LIST, packed)


@functools.lru_cache(_ENTRIES_REMEMBERED)
def _run_of_ones(name, start, end, length):
    """Makes the entry of `length` zeros, but ones from `start` to `end`."""
    packed = bytes(start) + b"\1" * (end - start) + bytes(length - end)
    return _entry(name, _INT64_LIST, packed)


def _entry(name, list_field, packed):
    value = _field(list_field, _field(1, packed))
    return _field(1, _field(1, name.encode()) + _field(2, value))


def _field(number, payload):
    # 2: what follows is a length and so many bytes.
    return _VARINTS[number << 3 | 2] + _VARINTS[len(payload)] + payload


class _Varints(dict):
    """Int from 0 -> its bytes: seven bits each, the lowest first.

    The eighth bit says that more follow. The keys are ids and lengths, so
    there are no more of them than a vocabulary has pieces.
    """

    def __missing__(self, number):
        self[number] = _spell_varint(number)
        return self[number]


def _spell_varint(number):
    septets = [number & 127]
    rest = number >> 7
    while rest:
        septets[-1] |= 128
        septets.append(rest & 127)
        rest >>= 7
    return bytes(septets)


_VARINTS = _Varints()
