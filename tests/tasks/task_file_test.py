"""The task of a folder's model."""

import logging

import pytest

from bert_tf.errors import UserError
from bert_tf.tasks import registry
from bert_tf.tasks.task_file import require_same_task, write_task


def _write(folder, name):
    write_task(str(folder), registry.find_task(name))


def _require(folder, name, to_train):
    task = registry.find_task(name)
    require_same_task(str(folder), task, to_train=to_train)


@pytest.mark.parametrize("to_train", [True, False])
def test_the_same_task_or_none_is_taken(tmp_path, caplog, to_train):
    _require(tmp_path, "MRPC", to_train)
    _write(tmp_path, "MRPC")
    assert (tmp_path / "task.txt").read_text() == "MRPC\n"
    _require(tmp_path, "mrpc", to_train)
    assert not caplog.messages


def test_a_model_of_another_task_is_not_trained_on(tmp_path):
    _write(tmp_path, "MRPC")
    message = "task.txt: .*trained on MRPC, and --task_name=RTE.*another --outp"
    with pytest.raises(UserError, match=message):
        _require(tmp_path, "RTE", to_train=True)


def test_a_model_of_another_task_predicts_with_a_warning(tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    _write(tmp_path, "MRPC")
    _require(tmp_path, "WNLI", to_train=False)
    (message,) = caplog.messages
    assert "trained on MRPC, not on WNLI. The labels are the same" in message


def test_a_model_of_mnli_is_the_one_for_ax(tmp_path, caplog):
    _write(tmp_path, "MNLI")
    _require(tmp_path, "AX", to_train=False)
    assert not caplog.messages
