"""Tests of the script: what a user types, and what is then on the disk."""

import pytest

from bert_tf.serving.predictor import Predictor


@pytest.fixture
def run(run_script):
    def run(*words, **options):
        return run_script("export_savedmodel.py", *words, **options)

    return run


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--export_dir=x"], "--kind must have a value"),
        (["--kind=encoder"], "--export_dir must have a value"),
        (["--kind=encoder", "--export_dir=x"], "needs --init_checkpoint"),
        (["--kind=preprocessor", "--export_dir=x"], "needs --vocab_file"),
        (
            [
                "--kind=preprocessor",
                "--export_dir=x",
                "--vocab_file=v",
                "--init_checkpoint=m",
            ],
            "--init_checkpoint does nothing with --kind=preprocessor",
        ),
        (
            [
                "--kind=encoder",
                "--export_dir=x",
                "--init_checkpoint=m",
                "--top_k=3",
            ],
            "--top_k does nothing without --kind=masked_lm",
        ),
        (
            ["--kind=preprocessor", "--export_dir=gs://b/x"],
            "name a folder on this machine",
        ),
    ],
)
def test_wrong_flags_are_told_before_tensorflow_starts(run, words, message):
    result = run(*words, with_tensorflow=False)
    assert result.returncode == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.slow
def test_an_encoder_with_a_vocabulary_embeds_texts(run, golden, tmp_path):
    tasks = golden / "tasks"
    result = run(
        "--kind=encoder",
        f"--init_checkpoint={tasks / 'squad' / 'squad.ckpt'}",
        f"--bert_config_file={tasks / 'bert_config.json'}",
        f"--vocab_file={tasks / 'vocab.txt'}",
        f"--export_dir={tmp_path / 'encoder'}",
        "--noverify_export",
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr.endswith(f"Exported to {tmp_path}/encoder/1.\n")
    predictor = Predictor.from_export(str(tmp_path / "encoder"))
    vectors = predictor.embed(["the king", "a dog", "the king"])
    assert vectors.shape == (3, 32)
    assert (vectors[0] == vectors[2]).all()
    assert (vectors[0] != vectors[1]).any()
