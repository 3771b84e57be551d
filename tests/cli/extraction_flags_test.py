import os
import shutil

import pytest

from bert_tf import config
from bert_tf.cli import extraction_flags
from bert_tf.errors import UserError


@pytest.fixture
def check(golden, tmp_path):
    """Checks the flags of 2018's run on the golden file; changes by name."""
    tasks = golden / "tasks"

    def check(**changes):
        values = {
            "input_file": str(tasks / "extract_features" / "input.txt"),
            "output_file": str(tmp_path / "new" / "folder" / "out.jsonl"),
            "layers": "-1,-2",
            "bert_config_file": str(tasks / "bert_config.json"),
            "init_checkpoint": str(tasks / "squad" / "squad.ckpt"),
            "vocab_file": str(tasks / "vocab.txt"),
            "do_lower_case": True,
            "max_seq_length": 24,
            "use_tpu": False,
            "tpu_name": None,
            "master": None,
            **changes,
        }
        return extraction_flags.check(values, is_case_given=False)

    return check


def test_check_gives_model_and_layers_and_makes_the_folder(check, tmp_path):
    model, layers = check()
    assert layers == [-1, -2]
    assert model.config.hidden_size == 32
    assert model.checkpoint.endswith("squad.ckpt")
    assert (tmp_path / "new" / "folder").is_dir()


def test_what_lies_beside_the_weights_is_found(check, golden, tmp_path):
    tasks = golden / "tasks"
    for path in (tasks / "bert_config.json", tasks / "vocab.txt"):
        shutil.copy(path, tmp_path)
    for path in (tasks / "squad").glob("squad.ckpt.*"):
        shutil.copy(path, tmp_path)
    model, _ = check(
        init_checkpoint=str(tmp_path / "squad.ckpt"),
        bert_config_file=None,
        vocab_file=None,
    )
    assert model.vocab_file == str(tmp_path / "vocab.txt")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layers": "-1;-2"}, "--layers='-1;-2' is no list of whole numbers"),
        ({"layers": ""}, "--layers='' is no list of whole numbers"),
        ({"layers": "-1,2,-3"}, "names 2, -3, but `num_hidden_layers` .* is 2"),
        ({"max_seq_length": 65}, "--max_seq_length=65 is larger than .* [(]64"),
        ({"max_seq_length": 2}, "--max_seq_length=2 leaves no room for text"),
        ({"input_file": "none.txt"}, "--input_file=none.txt: there is no such"),
        ({"init_checkpoint": None}, "--init_checkpoint"),
        ({"use_tpu": True}, "--use_tpu needs --tpu_name"),
        ({"output_file": None}, "--output_file must be given"),
        ({"output_file": "/"}, "--output_file=/ is a folder"),
        ({"output_file": "/dev/null"}, "--output_file=/dev/null is no plain"),
    ],
)
def test_a_wrong_flag_is_named(check, changes, message):
    with pytest.raises(UserError, match=message):
        check(**changes)


@pytest.mark.parametrize("flag", ["input_file", "vocab_file"])
def test_an_input_is_not_overwritten(check, golden, tmp_path, flag):
    path = {
        "input_file": golden / "tasks" / "extract_features" / "input.txt",
        "vocab_file": golden / "tasks" / "vocab.txt",
    }[flag]
    copy = tmp_path / "copy.txt"
    shutil.copy(path, copy)
    link = tmp_path / "link.txt"
    link.symlink_to(copy)
    message = f"--output_file={link} is --{flag} as well"
    with pytest.raises(UserError, match=message):
        check(**{flag: str(copy), "output_file": str(link)})


def test_a_remote_output_is_compared_by_name():
    message = "--output_file=gs://a/b is --input_file as well"
    with pytest.raises(UserError, match=message):
        extraction_flags.require_other("gs://a/b", {"input_file": "gs://a/b"})
    extraction_flags.require_other("gs://a/b", {"input_file": os.devnull})


@pytest.mark.parametrize(
    ("text", "layers"),
    [("-1", [-1]), ("0,-1, 1", [0, -1, 1]), ("-1,-1", [-1, -1])],
)
def test_parse_layers(text, layers):
    assert extraction_flags.parse_layers(text) == layers


def test_check_layers_takes_both_ends():
    three = config.BertConfig(vocab_size=7, num_hidden_layers=3)
    extraction_flags.check_layers([0, 2, -1, -3], three, "x.json")
    for layer in (3, -4):
        with pytest.raises(UserError, match=f"names {layer}, but .* x.json"):
            extraction_flags.check_layers([layer], three, "x.json")
