"""Tests of bert_tf.flag_checks."""

import pytest

from bert_tf import flag_checks
from bert_tf.config import BertConfig
from bert_tf.errors import UserError


def test_one_job_of_several_is_enough():
    values = {"do_train": False, "do_eval": True, "do_export": False}
    flag_checks.require_job(values, ("do_train", "do_eval", "do_export"))
    message = "Give at least one of --do_train and --do_export"
    with pytest.raises(UserError, match=message):
        flag_checks.require_job(values, ("do_train", "do_export"))


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
        flag_checks.check_pairs(values, **pairs)
        return
    with pytest.raises(UserError, match=message.format(words)):
        flag_checks.check_pairs(values, **pairs)


@pytest.mark.parametrize(
    ("name", "master"), [("my-tpu", None), (None, "grpc://10.0.0.2:8470")]
)
def test_a_tpu_with_an_address_passes(name, master):
    flag_checks.check_tpu(True, name, master)


def test_a_tpu_without_an_address_is_refused():
    flag_checks.check_tpu(False, None, None)
    with pytest.raises(UserError, match="--use_tpu needs --tpu_name"):
        flag_checks.check_tpu(True, None, None)


def test_a_sequence_beyond_the_positions_is_refused():
    config = BertConfig(vocab_size=61, max_position_embeddings=24)
    flag_checks.check_sequence_length(24, config, "c.json")
    message = r"--max_seq_length=25 .* \(24\) in c.json"
    with pytest.raises(UserError, match=message):
        flag_checks.check_sequence_length(25, config, "c.json")


def test_a_vocabulary_must_fit_the_model(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n")
    config = BertConfig(vocab_size=5)
    flag_checks.check_vocabulary(str(path), True, None, config, "c.json")
    config = BertConfig(vocab_size=4)
    with pytest.raises(UserError, match="has 5 lines, but `vocab_size` in c"):
        flag_checks.check_vocabulary(str(path), True, None, config, "c.json")


def test_a_vocabulary_needs_its_special_pieces(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n")
    config = BertConfig(vocab_size=5)
    with pytest.raises(UserError, match=r"\[SEP\]"):
        flag_checks.check_vocabulary(str(path), True, None, config, "c.json")


def test_a_release_of_the_other_letter_case_is_refused(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nA\n")
    config = BertConfig(vocab_size=5)
    release = "cased_L-12_H-768_A-12/bert_model.ckpt"
    with pytest.raises(UserError, match="Set --do_lower_case=false"):
        flag_checks.check_vocabulary(str(path), True, release, config, "c.json")
