"""Reading records: TFRecord files to batches.

B batch, S max_seq_length, P max_predictions_per_seq
"""

import contextlib
import dataclasses

import tensorflow as tf

from bert_tf.errors import UserError
from bert_tf.features import INPUT_KEYS, parse_spec

# As in 2018: how many files are read at a time, and how many records wait in
# the buffer that the next one is drawn from.
_FILES_AT_A_TIME = 4
_SHUFFLE_BUFFER = 100


@dataclasses.dataclass(frozen=True)
class RecordFiles:
    """TFRecord files and what every record in them has to be."""

    paths: list
    features: tuple  # Of features.Feature.
    # Feature name -> int that each of its numbers must stay below: it is an
    # index of a table, and an accelerator reads beyond the end without error.
    limits: dict
    # Are all batches alike, as a TPU wants it? If not, a batch is cut to its
    # longest row, which changes no result, and the last one may be smaller.
    fixed_shapes: bool = True
    # False where padding does reach a result, so that batches are not cut.
    trims: bool = True
    # What to do about a file that is damaged or missing, for messages.
    remedy: str = "Make the file again, or leave it out of --input_file."


def training_dataset(files, *, batch_size, seed, examples_read=0):
    """Reads records for ever, shuffled as 2018 did.

    Args:
      files: RecordFiles.
      batch_size: int, B.
      seed: int; the order of records depends on it and the files alone. It
        becomes TensorFlow's global seed.
      examples_read: int, how many records of that order an interrupted run has
        read; they are passed over.

    Returns:
      tf.data.Dataset of dicts, feature name -> int32 or float32 tensor with
      B before the feature's shape.

    Source: `input_fn_builder` in run_pretraining.py (2018), whose order could
      not be repeated.
    """
    # tf.data mixes the seeds given to it with TensorFlow's global one, which a
    # resumed run may have set otherwise.
    tf.random.set_seed(seed)
    paths = tf.data.Dataset.from_tensor_slices(files.paths)
    paths = paths.repeat().shuffle(len(files.paths), seed=seed)
    records = paths.interleave(
        tf.data.TFRecordDataset,
        cycle_length=min(_FILES_AT_A_TIME, len(files.paths)),
        num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=True,
    )
    records = records.shuffle(_SHUFFLE_BUFFER, seed=seed)
    return _batches(records.skip(examples_read), files, batch_size)


def evaluation_dataset(files, *, batch_size, num_batches):
    """Reads records in order, and again from the start where they run out.

    Returns a tf.data.Dataset as `training_dataset` does, but of `num_batches`.

    Source: `input_fn_builder` in run_pretraining.py (2018).
    """
    records = tf.data.TFRecordDataset(files.paths).repeat()
    return _batches(records, files, batch_size).take(num_batches)


def ordered_dataset(files, *, batch_size):
    """Reads records once, in order, as a tf.data.Dataset.

    With `fixed_shapes` a last batch that is not full is left out.

    Source: `file_based_input_fn_builder` in run_classifier.py (2018).
    """
    records = tf.data.TFRecordDataset(files.paths)
    return _batches(
        records, files, batch_size, drop_remainder=files.fixed_shapes
    )


def count_records(files, most):
    """Counts the records of RecordFiles, up to `most` (int)."""
    records = tf.data.TFRecordDataset(files.paths).take(most)
    with naming_bad_records(files):
        return int(records.reduce(0, lambda count, _: count + 1))


def _batches(records, files, batch_size, *, drop_remainder=True):
    spec = parse_spec(files.features)

    def parse(serialized):
        batch = tf.io.parse_example(serialized, spec)
        for name, limit in files.limits.items():
            tf.debugging.assert_non_negative(batch[name])
            tf.debugging.assert_less(batch[name], tf.cast(limit, tf.int64))
        # TPUs have no int64 to speak of.
        batch = {
            name: tf.cast(value, tf.int32) if value.dtype == tf.int64 else value
            for name, value in batch.items()
        }
        is_cut = files.trims and not files.fixed_shapes
        return _trimmed(batch) if is_cut else batch

    # A fixed batch size is what a TPU needs.
    return (
        records.batch(batch_size, drop_remainder=drop_remainder)
        .map(parse, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
        .prefetch(tf.data.AUTOTUNE)
    )


def _trimmed(batch):
    """Cuts tensors [B, S] of a batch (dict) to the longest row.

    `input_mask`, int32 [B, S], is 1 for each row's first pieces. The length is
    rounded up to a multiple of 8.
    """
    pieces = tf.reduce_max(tf.reduce_sum(batch["input_mask"], axis=-1))
    length = tf.maximum(8, (pieces + 7) // 8 * 8)
    return {
        name: value[:, :length] if name in INPUT_KEYS else value
        for name, value in batch.items()
    }


def check_first_records(files):
    """Checks the first record of each of RecordFiles, before work begins.

    Raises:
      UserError: a file without a record, a damaged one, or one made with other
        lengths, another vocabulary or for another job; names the file.
    """
    with naming_bad_records(files):
        for path in files.paths:
            records = tf.data.TFRecordDataset(path).take(1)
            first = next(records.as_numpy_iterator(), None)
            if first is None:
                raise UserError(f"{path} holds no records. {files.remedy}")
            _check_record(first, f"{path}, record 1", files)


@contextlib.contextmanager
def naming_bad_records(files):
    """Turns TensorFlow's errors about records into ones that name the file.

    RecordFiles are read inside the `with` block.

    Raises:
      UserError: a file is damaged or a record does not fit.
    """
    try:
        yield
    except (
        tf.errors.NotFoundError,
        tf.errors.PermissionDeniedError,
        tf.errors.FailedPreconditionError,
    ) as error:
        raise UserError(
            f"Records cannot be read: {error.message}. {files.remedy}"
        ) from error
    except (tf.errors.DataLossError, tf.errors.InvalidArgumentError):
        # Reading all again takes long, but happens once, and the library's
        # message names neither file nor record.
        _check_all_records(files)
        raise


def _check_all_records(files):
    for path in files.paths:
        count = 0
        try:
            for record in tf.data.TFRecordDataset(path).as_numpy_iterator():
                _check_record(record, f"{path}, record {count + 1}", files)
                count += 1
        except tf.errors.DataLossError as error:
            raise UserError(
                f"{path} is damaged, or not a TFRecord file: after {count} "
                "good records the next one is cut short or changed. "
                f"{files.remedy}"
            ) from error


def _check_record(serialized, place, files):
    try:
        stored = tf.train.Example.FromString(serialized).features.feature
    except Exception as error:  # protobuf's DecodeError, which it hides.
        raise UserError(
            f"{place}: not a tf.train.Example. {files.remedy}"
        ) from error
    missing = [f.name for f in files.features if f.name not in stored]
    if missing:
        raise UserError(
            f"{place}: lacks {', '.join(missing)}; it has "
            f"{', '.join(sorted(stored)) or 'nothing'}. It was made for "
            f"another job. {files.remedy}"
        )
    for feature in files.features:
        _check_feature(feature, stored[feature.name], place, files)


def _check_feature(feature, entry, place, files):
    kind = "int64_list" if feature.dtype == "int64" else "float_list"
    values = getattr(entry, kind).value
    (length,) = feature.shape
    if len(values) != length:
        rule = (
            f"--{feature.length_flag} is {length}. Use the value the records "
            "were made with, or make them again."
            if feature.length_flag
            else f"it must have {length}."
        )
        raise UserError(
            f"{place}: `{feature.name}` has {len(values)} entries, but {rule}"
        )
    limit = files.limits.get(feature.name)
    misfits = [v for v in values if limit is not None and not 0 <= v < limit]
    if misfits:
        raise UserError(
            f"{place}: `{feature.name}` holds {misfits[0]}, but must be from 0 "
            f"up and below {limit}. The records were made with another "
            f"vocabulary or for another model. {files.remedy}"
        )
