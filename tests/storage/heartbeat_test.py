"""The line now and then in long work."""

import logging
import types

from bert_tf.storage import heartbeat


def test_heartbeat_logs_only_when_a_line_is_due(monkeypatch, caplog):
    seconds = [100.0]
    clock = types.SimpleNamespace(monotonic=lambda: seconds[0])
    monkeypatch.setattr(heartbeat, "time", clock)
    with caplog.at_level(logging.INFO):
        beats = heartbeat.Heartbeat("Read %s lines.")
        for seconds[0], count in [(101, 7), (120, 1234), (139, 8), (141, 9)]:
            beats.beat(count)
    messages = [record.getMessage() for record in caplog.records]
    assert messages == ["Read 1,234 lines.", "Read 9 lines."]
