"""The script: its command lines, what it says, and how it fails."""

import os
import platform
import re
import subprocess
import sys

import pytest


@pytest.fixture
def run(run_script):
    """Runs the script, most times where TensorFlow is forbidden."""

    def run(*words, with_tensorflow=False):
        name = "create_pretraining_data.py"
        return run_script(name, *words, with_tensorflow=with_tensorflow)

    return run


@pytest.fixture
def words(testdata):
    """Makes the flags of a small run, with some replaced."""

    def make(**changes):
        values = {
            "input_file": testdata / "sample_text.txt",
            "output_file": "new/folder/sample.tfrecord",
            "vocab_file": testdata / "vocab.txt",
            **changes,
        }
        return [f"--{flag}={value}" for flag, value in values.items()]

    return make


def test_script_makes_records_and_says_so(run, words, tmp_path, read_records):
    command = words(max_seq_length=40, max_predictions_per_seq=7, dupe_factor=2)
    # As a killed run leaves it.
    folder = tmp_path / "work/new/folder"
    folder.mkdir(parents=True)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = f".sample.tfrecord.{platform.node()}.{ended.pid}.incomplete"
    (folder / left).write_bytes(b"half a record")
    done = run(*command, with_tensorflow=True)
    assert done.returncode == 0, done.stderr
    records = read_records(folder / "sample.tfrecord")
    assert os.listdir(folder) == ["sample.tfrecord"]
    for record in records:
        assert len(record["input_ids"]) == 40
        assert len(record["masked_lm_ids"]) == 7
    for line in (
        r"up to 40 pieces, 7 of them masked, with seed 12345",
        r"sample_text\.txt",
        r"Read 37 documents of 368 sentences",
        rf"Made {len(records)} instances: on average [\d.]+ pieces",
        r"The first.*: \[CLS\].*\(.+>.+\).*\[SEP\]",
        rf"Wrote {len(records)} instances to new/folder/sample\.tfrecord",
    ):
        assert re.search(line, done.stderr), (line, done.stderr)


def test_script_takes_patterns_and_several_outputs(
    run, words, tmp_path, read_records
):
    (tmp_path / "work").mkdir()
    for name in ("b1.txt", "b2.txt", "a.txt"):
        (tmp_path / "work" / name).write_text(f"This is {name}.\n\n")
    command = words(
        input_file="b*.txt,a.txt",
        output_file="x.tfrecord,y.tfrecord",
        dupe_factor=1,
    )
    done = run(*command, with_tensorflow=True)
    assert done.returncode == 0, done.stderr
    # One document a file, one instance a document.
    assert len(read_records(tmp_path / "work/x.tfrecord")) == 2
    assert len(read_records(tmp_path / "work/y.tfrecord")) == 1
    assert re.search(r"b1\.txt\n.*b2\.txt\n.* a\.txt\n", done.stderr)


# The flags and their defaults of 2018.


def test_flags_have_the_defaults_of_2018(run):
    shown = run("--help").stdout
    # As a description starts after "flag:", the default is the next in "()".
    defaults = re.findall(
        r"--(?:\[no\])?(\w+):(?:(?!\n  --).)*?\(default: '(.*?)'\)", shown, re.S
    )
    assert dict(defaults) == {
        "do_lower_case": "true",
        "do_whole_word_mask": "false",
        "max_seq_length": "128",
        "max_predictions_per_seq": "20",
        "random_seed": "12345",
        "dupe_factor": "10",
        "masked_lm_prob": "0.15",
        "short_seq_prob": "0.1",
    }
    for flag in ("input_file", "output_file", "vocab_file"):
        assert f"--{flag}:" in shown


# Mistakes: named, exit code not 0, no traceback, no TensorFlow, no file.


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"input_file": "no*.txt"},
            r"--input_file: no file matches 'no\*\.txt'",
        ),
        ({"input_file": "a.txt"}, r"--input_file: no file matches 'a\.txt'"),
        ({"vocab_file": "no.txt"}, r"--vocab_file=no\.txt: there is no such"),
        ({"vocab_file": "."}, r"--vocab_file=\. is a folder"),
        ({"output_file": "."}, r"--output_file='\.'.*no plain file"),
        ({"output_file": "x,x"}, r"'x' is also another output file"),
        ({"max_seq_length": 4}, r"--max_seq_length=4: the minimum is 5"),
        ({"max_predictions_per_seq": 0}, r"--max_predictions_per_seq=0: the m"),
        ({"dupe_factor": 0}, r"--dupe_factor=0: the minimum is 1"),
        ({"masked_lm_prob": 15}, r"--masked_lm_prob=15\.0: it must be between"),
        ({"short_seq_prob": -1}, r"--short_seq_prob=-1\.0: it must be between"),
        ({"dupe_factor": "x"}, r"flag --dupe_factor=x"),
    ],
    ids=lambda value: None if isinstance(value, str) else str(value),
)
def test_script_names_a_wrong_flag(run, words, tmp_path, changes, message):
    done = run(*words(**changes))
    assert done.returncode == 1
    assert re.search(message, done.stderr), done.stderr
    assert "Traceback" not in done.stderr
    assert os.listdir(tmp_path / "work") == []


@pytest.mark.parametrize("flag", ["input_file", "output_file", "vocab_file"])
def test_script_names_a_missing_flag(run, words, flag):
    command = [word for word in words() if not word.startswith(f"--{flag}")]
    done = run(*command)
    assert done.returncode == 1
    assert f"--{flag}" in done.stderr
    assert "Traceback" not in done.stderr


def test_script_quotes_words_left_over(run, words, tmp_path):
    # As an unquoted blank in a path leaves them.
    done = run(*words(), "text.txt", "--dupe_factor=2")
    assert done.returncode == 1
    assert "'text.txt'" in done.stderr
    assert os.listdir(tmp_path / "work") == []


def test_script_names_the_special_token_that_is_missing(run, words, tmp_path):
    vocab_file = tmp_path / "vocab.txt"
    vocab_file.write_text("[UNK]\n[CLS]\n[SEP]\nthe\n")
    done = run(*words(vocab_file=vocab_file))
    assert done.returncode == 1
    assert re.search(r"vocab\.txt has 4 pieces, but not \[MASK\]", done.stderr)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "0 instances"),
        (b"\n \n\n", "0 instances"),
        (b"The sun.\n\nCaf\xe9.\n", r"text\.txt, line 3: not UTF-8"),
    ],
    ids=["empty", "blank", "latin-1"],
)
def test_script_names_a_text_it_cannot_use(
    run, words, tmp_path, content, message
):
    text = tmp_path / "text.txt"
    text.write_bytes(content)
    done = run(*words(input_file=text))
    assert done.returncode == 1
    assert re.search(message, done.stderr), done.stderr
    assert "Traceback" not in done.stderr
    assert os.listdir(tmp_path / "work/new/folder") == []
