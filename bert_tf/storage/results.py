"""Files of results."""

import logging
import math

from bert_tf.errors import UserError
from bert_tf.storage import files

_logger = logging.getLogger("absl")


def write_results(path, results):
    """Writes and logs results (str -> number): sorted lines `key = value`.

    Raises:
      UserError: a result is not finite, or the file cannot be written.

    Source: the end of `main` in the 2018 scripts.
    """
    bad = [key for key, value in results.items() if not math.isfinite(value)]
    if bad:
        raise UserError(
            f"{', '.join(bad)} came out as no finite number, so that "
            f"{path} is not written. The weights or the records are broken."
        )
    # str, since a format would print a float32 with a float64's digits.
    lines = [f"{key} = {results[key]!s}\n" for key in sorted(results)]
    files.write_text(path, "".join(lines))
    for line in lines:
        _logger.info("  %s", line.rstrip())
    _logger.info("Wrote %s.", path)
