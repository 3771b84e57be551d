"""Tests of the script: what a user types, and what is then on the disk."""

import json
import struct

import pytest


@pytest.fixture
def run(run_script):
    def run(*words, **options):
        return run_script("convert_checkpoint.py", *words, **options)

    return run


@pytest.mark.slow
def test_there_and_back(run, golden, tmp_path):
    there, back = tmp_path / "new" / "there", tmp_path / "back"
    vocab_file = tmp_path / "pieces.txt"
    vocab_file.write_text("".join(f"piece{i}\n" for i in range(99)))
    source = golden / "run_pretraining" / "model.ckpt-12"
    result = run(
        f"--input={source}",
        f"--output={there}",
        "--output_format=huggingface",
        f"--vocab_file={vocab_file}",
    )
    assert result.returncode == 0, result.stderr
    assert "Left out, of the run: bert/embeddings/LayerNorm" in result.stderr
    assert result.stderr.splitlines()[-1].endswith(
        f"Written to {there}: config.json, model.safetensors, "
        "tokenizer_config.json, vocab.txt."
    )
    result = run(f"--input={there}", f"--output={back}")
    assert result.returncode == 0, result.stderr
    assert {path.name for path in back.iterdir()} == {
        "bert_config.json",
        "bert_model.ckpt.data-00000-of-00001",
        "bert_model.ckpt.index",
        "vocab.txt",
    }


def test_safetensors_are_described_without_tensorflow(run, golden):
    folder = golden / "huggingface" / "pretraining_gelu"
    result = run(f"--input={folder}", "--describe", with_tensorflow=False)
    assert result.returncode == 0, result.stderr
    assert "heads: masked language model, next sentence\n" in result.stdout
    assert f"{folder}/config.json: 4 attention heads" in result.stdout


def test_a_checkpoint_is_described(run, golden):
    source = golden / "run_pretraining" / "model.ckpt-12"
    result = run(f"--input={source}", "--describe")
    assert result.returncode == 0, result.stderr
    assert "format: 2018 checkpoint\n" in result.stdout
    assert "step: 12\n" in result.stdout


def make_folder(folder, **config):
    """Makes a Hugging Face folder with one weight."""
    folder.mkdir()
    header = json.dumps(
        {
            "bert.pooler.dense.bias": {
                "dtype": "F32",
                "shape": [2],
                "data_offsets": [0, 8],
            }
        }
    ).encode()
    (folder / "model.safetensors").write_bytes(
        struct.pack("<Q", len(header)) + header + bytes(8)
    )
    values = {"vocab_size": 61, "hidden_size": 12, "num_attention_heads": 3}
    (folder / "config.json").write_text(json.dumps({**values, **config}))
    return folder


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("none", "Of another shape: bert/pooler/dense/bias ([2] in the file, "),
        ("cut", "it is damaged, or not whole"),
        ("pickle", "pytorch_model.bin is a pickle"),
        ("roberta", "`model_type` is 'roberta'"),
    ],
)
def test_what_cannot_be_read_leaves_no_trace(run, tmp_path, damage, message):
    folder = make_folder(tmp_path / "in")
    weights = folder / "model.safetensors"
    if damage == "cut":
        weights.write_bytes(weights.read_bytes()[:-1])
    elif damage == "pickle":
        weights.rename(folder / "pytorch_model.bin")
    elif damage == "roberta":
        (folder / "config.json").write_text('{"model_type": "roberta"}')
    # Before TensorFlow, and so before anything is allocated.
    result = run(
        f"--input={folder}",
        f"--output={tmp_path / 'out'}",
        with_tensorflow=False,
    )
    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {
        "in",
        "work",
        "forbidden",
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--output=out"], "--input"),
        (["--input=in"], "Give --output=FOLDER, or --describe"),
        (["--input=in", "--output=o", "--describe"], "and no --output"),
        (["--input=no", "--output=o"], "--input=no: there is no such checkp"),
        (["--input=in", "--output=in"], "--output=in is there already"),
        (["--input=in", "--output=."], "--output=. is there already"),
        (["--input=in", "--describe", "--strip"], "--strip would do nothing"),
        (["--input=in", "--output=gs://b/o"], "name a folder on this machine"),
        (["--input=in", "--output=o", "--vocab_file=v"], "--vocab_file=v: "),
        (["--input=in", "--output=o", "--strip", "True"], "'True'"),
        (["--input=in", "--output=o", "--output_format=tf"], "--output_format"),
    ],
)
def test_wrong_flags_are_told_at_once(run, tmp_path, words, message):
    (tmp_path / "work").mkdir()
    make_folder(tmp_path / "work" / "in")
    result = run(*words, with_tensorflow=False)
    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr
