"""Writing a TFRecord file that appears when it is complete."""

from bert_tf.errors import UserError
from bert_tf.storage import files
from bert_tf.storage.progress import Heartbeat


def write(path, batches):
    """Writes records.

    Args:
      path: str.
      batches: iterable of lists of bytes, the records.

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
