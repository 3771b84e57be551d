"""Tests of the script: what a user types, and what is then on the disk."""

import gzip
import re

import numpy as np
import pytest


@pytest.fixture
def run(run_script):
    def run(*words, **options):
        return run_script("extract_features.py", *words, **options)

    return run


@pytest.fixture
def words(golden, tmp_path):
    """Gives the words of 2018's run on the golden file; changes by name."""
    tasks = golden / "tasks"

    def words(**changes):
        values = {
            "input_file": tasks / "extract_features" / "input.txt",
            "output_file": tmp_path / "out" / "features",
            "vocab_file": tasks / "vocab.txt",
            "bert_config_file": tasks / "bert_config.json",
            "init_checkpoint": tasks / "squad" / "squad.ckpt",
            "layers": "-1,-2",
            "max_seq_length": 24,
            "batch_size": 4,
            **changes,
        }
        return [f"--{k}={v}" for k, v in values.items() if v is not None]

    return words


_NUMBER = re.compile(r"-?\d[\d.e-]*")


@pytest.mark.slow
def test_the_file_is_that_of_2018(run, words, golden, tmp_path):
    result = run(*words())
    assert result.returncode == 0, result.stderr
    path = golden / "tasks" / "extract_features" / "output.jsonl.gz"
    with gzip.open(path, "rt") as stream:
        expected = stream.read()
    text = (tmp_path / "out" / "features").read_text()
    # All but the numbers, byte for byte. These are sums of float32 in another
    # order: five in six are the same, the others differ in the last decimal.
    assert _NUMBER.sub("0", text) == _NUMBER.sub("0", expected)
    made, golden_numbers = (
        np.array(_NUMBER.findall(content), np.float64)
        for content in (text, expected)
    )
    np.testing.assert_allclose(made, golden_numbers, rtol=0, atol=5e-6)
    assert (made != golden_numbers).mean() < 0.5
    assert "Loaded 39 variables from" in result.stderr
    assert "Wrote 9 lines to" in result.stderr.splitlines()[-1]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["features"]


@pytest.mark.slow
def test_a_mean_a_line_as_npz(run, words, tmp_path):
    text = tmp_path / "lines.txt"
    text.write_bytes(b"for\xff old\r\n\nnew ||| old ||| was")
    result = run(
        *words(input_file=text, pooling="mean", output_format="npz", layers=0)
    )
    assert result.returncode == 0, result.stderr
    with np.load(tmp_path / "out" / "features") as arrays:
        assert arrays["vectors"].shape == (3, 1, 32)
        assert arrays["layers"].tolist() == [0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layers": "-3"}, "error: --layers names -3"),
        ({"max_seq_length": 65}, "error: --max_seq_length=65 is larger"),
        ({"input_file": "/dev/null"}, "error: /dev/null is empty"),
    ],
)
def test_a_wrong_flag_is_named_without_tensorflow(
    run, words, tmp_path, changes, message
):
    result = run(*words(**changes), with_tensorflow=False)
    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out" / "features").exists()


def test_the_flags_are_those_of_2018(run):
    text = run("--help", with_tensorflow=False).stdout
    defaults = {}
    for entry in re.split(r"\n  --(?:\[no\])?", text)[1:]:
        name = entry.partition(":")[0]
        found = re.search(r"\(default: '(.*?)'\)", entry)
        defaults[name] = found[1] if found else None
    assert {
        "input_file": None,
        "output_file": None,
        "layers": "-1,-2,-3,-4",
        "bert_config_file": None,
        "max_seq_length": "128",
        "init_checkpoint": None,
        "vocab_file": None,
        "do_lower_case": "true",
        "batch_size": "32",
        "use_tpu": "false",
        "master": None,
        "num_tpu_cores": "8",
        "use_one_hot_embeddings": "false",
    }.items() <= defaults.items()
    assert (defaults["pooling"], defaults["output_format"]) == ("none", "jsonl")
