import io
import logging
import math
import sys
import types

import pytest

from bert_tf.storage import progress


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0:00:00"),
        (59.6, "0:01:00"),
        (3725, "1:02:05"),
        (360000, "100:00:00"),
        (math.inf, "unknown"),
    ],
)
def test_format_seconds(seconds, text):
    assert progress.format_seconds(seconds) == text


def clock(monkeypatch, *seconds):
    """Makes the module's clock show the seconds given, one a look."""
    looks = iter(seconds)
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(looks))


def test_a_line_has_step_values_rate_and_eta(monkeypatch, caplog):
    # 20 steps of 8 examples in 4 seconds: 40 examples/s; 80 steps are left,
    # at 5 steps/s 16 seconds.
    clock(monkeypatch, 100.0, 104.0)
    with (
        caplog.at_level("INFO", "absl"),
        progress.Progress(100, examples_per_step=8) as report,
    ):
        report.advance_to(20)
        rate = report.line({"loss": 1.25, "learning_rate": 5e-5})
    assert rate == pytest.approx(40.0)
    assert caplog.messages == [
        "step 20/100 | loss 1.2500 | learning_rate 5e-05 | 40.0 examples/s | "
        "ETA 0:00:16"
    ]


def test_a_line_is_about_the_steps_since_the_last_one(monkeypatch):
    clock(monkeypatch, 0.0, 1.0, 3.0)
    with progress.Progress(100, 10, examples_per_step=1) as report:
        report.advance_to(20)
        assert report.line({}) == pytest.approx(10.0)
        report.advance_to(40)
        assert report.line({}) == pytest.approx(10.0)


def test_a_line_says_what_a_step_is(caplog):
    with (
        caplog.at_level("INFO", "absl"),
        progress.Progress(7, unit="line") as report,
    ):
        report.advance_to(3)
        report.line({"pieces/s": 12.0})
    assert caplog.messages[0].startswith("line 3/7 | pieces/s 12.0 | ")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_bar_moves_on_a_terminal_only(monkeypatch, is_terminal):
    stream = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.Progress(4) as report:
        report.advance_to(3)
    assert ("0/4" in stream.getvalue()) == is_terminal


def test_heartbeat_logs_only_when_a_line_is_due(monkeypatch, caplog):
    seconds = [100.0]
    clock = types.SimpleNamespace(monotonic=lambda: seconds[0])
    monkeypatch.setattr(progress, "time", clock)
    with caplog.at_level(logging.INFO):
        beats = progress.Heartbeat("Read %s lines.")
        for seconds[0], count in [(101, 7), (120, 1234), (139, 8), (141, 9)]:
            beats.beat(count)
    messages = [record.getMessage() for record in caplog.records]
    assert messages == ["Read 1,234 lines.", "Read 9 lines."]
