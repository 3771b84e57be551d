"""Tests of what the fine-tuning scripts find out from their flags."""

import pytest

from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.weights import model_choice


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
    return model_choice.choose_model(values, is_case_given=False)


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


def test_a_sequence_beyond_the_positions_is_refused():
    config = BertConfig(vocab_size=61, max_position_embeddings=24)
    model_choice.check_sequence_length(24, config, "c.json")
    message = r"--max_seq_length=25 .* \(24\) in c.json"
    with pytest.raises(UserError, match=message):
        model_choice.check_sequence_length(25, config, "c.json")


def choose_vocabulary(path, config, checkpoint=None):
    return model_choice.choose_vocabulary(
        {"vocab_file": str(path), "do_lower_case": True},
        checkpoint,
        config,
        "c.json",
        is_case_given=True,
    )


def test_a_vocabulary_must_fit_the_model(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n")
    config = BertConfig(vocab_size=5)
    assert choose_vocabulary(path, config) == (str(path), True)
    config = BertConfig(vocab_size=4)
    with pytest.raises(UserError, match="has 5 lines, but `vocab_size` in c"):
        choose_vocabulary(path, config)


def test_a_vocabulary_needs_its_special_pieces(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n")
    config = BertConfig(vocab_size=5)
    with pytest.raises(UserError, match=r"\[SEP\]"):
        choose_vocabulary(path, config)


def test_a_release_of_the_other_letter_case_is_refused(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nA\n")
    config = BertConfig(vocab_size=5)
    release = "cased_L-12_H-768_A-12/bert_model.ckpt"
    with pytest.raises(UserError, match="Set --do_lower_case=false"):
        choose_vocabulary(path, config, release)
