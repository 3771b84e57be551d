"""Says now and then that long work is going on, and how far it has come."""

import logging
import time

_SECONDS_BETWEEN_LINES = 20


class Heartbeat:
    """Logs a count every 20 seconds; work that is done sooner stays quiet."""

    def __init__(self, message):
        """Starts the clock.

        Args:
          message: str with one %s for the count.
        """
        self._message = message
        self._due = time.monotonic() + _SECONDS_BETWEEN_LINES

    def beat(self, count):
        """Logs `count` (int) if a line is due."""
        if time.monotonic() >= self._due:
            logging.getLogger("absl").info(self._message, f"{count:,}")
            self._due = time.monotonic() + _SECONDS_BETWEEN_LINES
