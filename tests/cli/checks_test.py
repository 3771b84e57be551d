"""Which flags go together, and how many steps they make."""

import pytest

from bert_tf.cli import checks
from bert_tf.errors import UserError


def test_one_job_of_several_is_enough():
    values = {"do_train": False, "do_eval": True, "do_export": False}
    checks.require_job(values, ("do_train", "do_eval", "do_export"))
    message = "Give at least one of --do_train and --do_export"
    with pytest.raises(UserError, match=message):
        checks.require_job(values, ("do_train", "do_export"))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"a": None, "b": None}, None),
        ({"a": "x", "b": True}, None),
        ({"a": None, "b": True}, None),
        ({"a": "x", "b": False}, "--a {} --b"),
    ],
)
@pytest.mark.parametrize(
    ("kind", "words"),
    [("needs", "needs"), ("idle_without", "does nothing without")],
)
def test_a_flag_goes_with_another(values, message, kind, words):
    pairs = {kind: [("a", "b")]}
    if message is None:
        checks.check_pairs(values, **pairs)
        return
    with pytest.raises(UserError, match=message.format(words)):
        checks.check_pairs(values, **pairs)


@pytest.mark.parametrize(
    ("name", "master"), [("my-tpu", None), (None, "grpc://10.0.0.2:8470")]
)
def test_a_tpu_with_an_address_passes(name, master):
    checks.check_tpu(True, name, master)


def test_a_tpu_without_an_address_is_refused():
    checks.check_tpu(False, None, None)
    with pytest.raises(UserError, match="--use_tpu needs --tpu_name"):
        checks.check_tpu(True, None, None)


def test_steps_are_counted_as_in_2018():
    # 10 / 4 * 3 = 7.5
    steps = checks.count_steps(10, num_train_epochs=3, train_batch_size=4)
    assert steps == 7
    steps = checks.count_steps(3668, num_train_epochs=3.0, train_batch_size=32)
    assert steps == 343


def test_no_step_is_an_error():
    with pytest.raises(UserError, match="^3 training examples.*one step of"):
        checks.count_steps(3, num_train_epochs=3.0, train_batch_size=32)
    with pytest.raises(UserError, match="9 training examples.*=0.5 times, do"):
        checks.count_steps(9, num_train_epochs=0.5, train_batch_size=8)
