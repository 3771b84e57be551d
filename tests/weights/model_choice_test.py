"""Tests of what the fine-tuning scripts find out from their flags."""

import pytest

from bert_tf import fine_tuning
from bert_tf.errors import UserError


def test_steps_are_counted_as_in_2018():
    # 10 / 4 * 3 = 7.5
    steps = fine_tuning.count_steps(10, num_train_epochs=3, train_batch_size=4)
    assert steps == 7
    steps = fine_tuning.count_steps(
        3668, num_train_epochs=3.0, train_batch_size=32
    )
    assert steps == 343


def test_no_step_is_an_error():
    with pytest.raises(UserError, match="^3 training examples.*one step of"):
        fine_tuning.count_steps(3, num_train_epochs=3.0, train_batch_size=32)
    with pytest.raises(UserError, match="9 training examples.*=0.5 times, do"):
        fine_tuning.count_steps(9, num_train_epochs=0.5, train_batch_size=8)


def choose(golden, tmp_path, **changes):
    tasks = golden / "tasks"
    values = {
        "output_dir": str(tmp_path / "out"),
        "init_checkpoint": str(tasks / "squad" / "squad.ckpt"),
        "bert_config_file": str(tasks / "bert_config.json"),
        "vocab_file": str(tasks / "vocab.txt"),
        "do_lower_case": True,
        "max_seq_length": 64,
        **changes,
    }
    return fine_tuning.choose_model(values, is_case_given=False)


def test_the_model_and_the_folders_it_must_agree_with(golden, tmp_path):
    model = choose(golden, tmp_path)
    assert model.config.hidden_size == 32
    assert model.do_lower_case
    out = str(tmp_path / "out")
    assert (tmp_path / "out").is_dir()
    assert model.folders(out, to_train=True) == [out]
    assert model.folders(out, to_train=False) == [
        out,
        str(golden / "tasks" / "squad"),
    ]


def test_no_folder_is_made_where_something_is_wrong(golden, tmp_path):
    with pytest.raises(UserError, match="--max_seq_length=65"):
        choose(golden, tmp_path, max_seq_length=65)
    assert not (tmp_path / "out").exists()
