"""How far long work has come: a bar and lines, or only a line now and then."""

import math
import sys
import time

from absl import logging

_SECONDS_BETWEEN_BEATS = 20


class Heartbeat:
    """Logs a count every 20 seconds; work that is done sooner stays quiet.

    Args:
      message: str with one %s for the count.
    """

    def __init__(self, message):
        self._message = message
        self._due = time.monotonic() + _SECONDS_BETWEEN_BEATS

    def beat(self, count):
        """Logs `count` (int) if a line is due."""
        if time.monotonic() >= self._due:
            logging.info(self._message, f"{count:,}")
            self._due = time.monotonic() + _SECONDS_BETWEEN_BEATS


class Progress:
    """Reports a job of a known number of steps.

    A line goes to the log whenever `line` is called; on a terminal a bar moves
    below the lines, also between them.

        with Progress(1000, examples_per_step=32) as progress:
            progress.advance_to(step)
            progress.line({"loss": 1.25})

    Args:
      total_steps: int, where the job ends.
      first_step: int, where it begins (after a resume, not 0).
      examples_per_step: int.
      unit: str, what a step is called.
    """

    def __init__(
        self, total_steps, first_step=0, *, examples_per_step=1, unit="step"
    ):
        # Deferred: the scripts that only beat start sooner without it.
        from tqdm import tqdm

        self._total_steps = total_steps
        self._unit = unit
        self._examples_per_step = examples_per_step
        self._step = self._line_step = first_step
        self._line_time = time.monotonic()
        self._bar = tqdm(
            total=total_steps,
            initial=first_step,
            unit=unit,
            # On a terminal only: a log file wants lines, not a moving bar.
            disable=not sys.stderr.isatty(),
            leave=False,
            dynamic_ncols=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._bar.close()

    def advance_to(self, step):
        """Moves the bar to `step` (int)."""
        self._bar.update(step - self._step)
        self._step = step

    def line(self, values):
        """Logs one line for the steps since the last line.

        `values` is a dict, name -> float, printed in its order. Returns the
        examples per second (float) over these steps.
        """
        now = time.monotonic()
        steps_per_second = (self._step - self._line_step) / max(
            now - self._line_time, 1e-9
        )
        self._line_step, self._line_time = self._step, now
        examples_per_second = steps_per_second * self._examples_per_step
        remaining = self._total_steps - self._step
        eta = remaining / steps_per_second if steps_per_second else math.inf
        with self._bar.external_write_mode(file=sys.stderr):
            logging.info(
                "%s %d/%d | %s | %s examples/s | ETA %s",
                self._unit,
                self._step,
                self._total_steps,
                " | ".join(f"{k} {_short(v)}" for k, v in values.items()),
                _short(examples_per_second),
                format_seconds(eta),
            )
        return examples_per_second


def _short(value):
    if abs(value) < 1e-3 or value >= 1e4:
        return f"{value:.4g}"
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.1f}"


def format_seconds(seconds):
    """Writes a duration (float, seconds) as 0:00:07; "unknown" if infinite."""
    if math.isinf(seconds):
        return "unknown"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
