"""What the documents tell people to type, typed."""

import ast
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
# In the order of the demo.
SCRIPTS = (
    "create_pretraining_data.py",
    "run_pretraining.py",
    "convert_checkpoint.py",
    "run_classifier.py",
    "run_squad.py",
    "extract_features.py",
    "export_savedmodel.py",
)


def commands_in(text):
    """Returns the commands `python X.py ...` in a text, as lists of words."""
    joined = re.sub(r"\\\n\s*", "", text)
    lines = re.findall(r"^ {4}(python \w+\.py .*)$", joined, re.MULTILINE)
    return [shlex.split(line) for line in lines]


def docstring_command(script):
    tree = ast.parse((ROOT / script).read_text(encoding="utf-8"))
    (command,) = commands_in(ast.get_docstring(tree))
    return command


@pytest.mark.slow
def test_the_commands_of_the_docstrings_work_one_after_the_other(tmp_path):
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    for script in SCRIPTS:
        _, name, *words = docstring_command(script)
        assert name == script
        # The same commands, only shorter.
        if script == "run_pretraining.py":
            words += ["--num_train_steps=20", "--num_warmup_steps=2"]
        elif script in ("run_classifier.py", "run_squad.py"):
            words += ["--num_train_epochs=1"]
        elif script == "export_savedmodel.py":
            words += ["--noverify_export"]
        result = subprocess.run(
            [sys.executable, str(ROOT / script), *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
    model = tmp_path / "demo_output" / "model"
    assert (model / "model.ckpt-20.index").exists()
    classifier = tmp_path / "demo_output" / "classifier"
    assert "eval_accuracy" in (classifier / "eval_results.txt").read_text()
    table = (classifier / "test_predictions.tsv").read_text().splitlines()
    assert len(table) == 1 + 37
    squad = tmp_path / "demo_output" / "squad"
    assert "exact_match = " in (squad / "eval_results.txt").read_text()
    with open(tmp_path / "demo_output" / "features.jsonl") as stream:
        assert sum(1 for _ in stream) == 404
    released = tmp_path / "demo_output" / "released"
    assert {path.name for path in released.iterdir()} == {
        "bert_config.json",
        "bert_model.ckpt.data-00000-of-00001",
        "bert_model.ckpt.index",
    }
    assert "masked_lm_loss = " in (model / "eval_results.txt").read_text()
    assert (tmp_path / "demo_output/export/1/saved_model.pb").exists()


def test_the_documents_and_the_makefile_give_the_same_commands():
    guide = [
        command
        for page in sorted((ROOT / "docs").glob("*.md"))
        for command in commands_in(page.read_text(encoding="utf-8"))
    ]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    makefile = makefile.replace("$(SAMPLE)", "tests/testdata")
    makefile = makefile.replace("$(DEMO)", "demo_output")
    makefile = makefile.replace("\t$(RUN) ", "    python ")
    for script in SCRIPTS:
        command = docstring_command(script)
        assert command in guide
        assert command in commands_in(makefile)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Installs the project alone, offline, into a folder of its own."""
    folder = tmp_path_factory.mktemp("installed")
    source = folder / "source"
    ignored = shutil.ignore_patterns(".venv", ".git", "build", "*.egg-info")
    shutil.copytree(ROOT, source, ignore=ignored)
    offline = ["--no-index", "--no-build-isolation", "--no-deps"]
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet"),
            *offline,
            *("--prefix", folder, source),
        ],
        check=True,
    )
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_run_from_path_in_any_folder(installed, script, tmp_path):
    (library,) = installed.glob("lib*/python*/site-packages")
    environment = {**os.environ, "PYTHONPATH": str(library)}
    result = subprocess.run(
        [sys.executable, str(installed / "bin" / script), "--help"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.search(
        "--(input|data_dir|.*predict_file|init_checkpoint)", result.stdout
    )
    assert re.search("--(output|export_dir)", result.stdout)
    assert result.stderr == ""
    source = (ROOT / script).read_text(encoding="utf-8")
    if "export_flags" in source:
        assert "--export_dir" in result.stdout
