"""The design's rules that a machine can check."""

import ast
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
LIBRARY = ROOT / "bert_tf"
SCRIPTS = sorted(p for p in ROOT.glob("*.py") if p.name != "setup.py")

# A module may import modules of its own level and of those above it here.
LEVELS = [
    # Text and configuration, no TensorFlow operations.
    {
        "errors",
        "files",
        "config",
        "vocabulary",
        "tokenization",
        "common_flags",
        "flag_checks",
        "progress",
        "heartbeat",
        "checkpoint_files",
        "weight_reader",
        "variables",
        "json_files",
        "json_numbers",
        "new_folder",
        "weights_path",
        "saved_model_folder",
        "hub_module",
        "safetensors_files",
        "huggingface",
        "huggingface_config",
        "model_folder",
        "description",
        "results",
        "fine_tuning",
        "text_tables",
        "export_flags",
    },
    # What a record is.
    {"features"},
    # The data of each job; never imports a layer.
    {
        "documents",
        "masking",
        "instances",
        "pretraining_data",
        "input_pipeline",
        "packed_lines",
        "feature_flags",
        "feature_files",
        "tasks",
    },
    # Tensors; never imports data.
    {
        "functions",
        "dropout",
        "layers",
        "encoder",
        "heads",
        "losses",
        "models",
        "text_characters",
        "text",
        "text_packing",
        "text_windows",
        "text_spans",
        "text_answers",
    },
    # Optimising and keeping.
    {
        "optimization",
        "checkpoint_io",
        "model_garden_graph",
        "model_garden_places",
        "model_garden_search",
        "model_garden",
        "saved_variables",
        "checkpoint",
        "checkpoint_keeper",
        "conversion",
        "distribution",
    },
    # The loop.
    {
        "run_state",
        "starting",
        "training",
        "job",
        "pretraining",
        "best",
        "classification",
        "classifier_files",
        "question_answering",
        "squad_files",
        "serving",
        "export",
        "verify_export",
        "feature_extraction",
        "predictor",
        "predictor_main",
    },
]
LEVEL_OF = {name: i for i, names in enumerate(LEVELS) for name in names}
DATA, TENSORS = 2, 3

MODULES = sorted(LIBRARY.rglob("*.py"))


def unit_of(path):
    """Returns what has a level: a module, or the package that it is in."""
    return path.relative_to(LIBRARY).parts[0].removesuffix(".py")


def imported_modules(path):
    """Returns the bert_tf modules and the packages that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
            names.update(f"{node.module}.{a.name}" for a in node.names)
    return names


def module_names(path):
    parts = (name.split(".") for name in imported_modules(path))
    return {p[1] for p in parts if p[0] == "bert_tf" and len(p) > 1} & set(
        LEVEL_OF
    )


def test_every_module_has_a_level():
    names = {unit_of(path) for path in MODULES} - {"__init__"}
    assert names == set(LEVEL_OF)


def test_the_levels_are_those_of_the_document():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("## Layout")[1].split("## ")[0]
    listed = [
        set(re.findall(r"`(\w+)`", item)) & set(LEVEL_OF)
        for item in re.split(r"^\d\. ", section, flags=re.MULTILINE)[1:]
    ]
    assert listed == LEVELS


@pytest.mark.parametrize(
    "path", MODULES, ids=lambda path: str(path.relative_to(LIBRARY))
)
def test_imports_point_down(path):
    level = LEVEL_OF.get(unit_of(path))
    for name in module_names(path) if level is not None else ():
        assert LEVEL_OF[name] <= level, f"{path.stem} imports {name}"
        assert not (level == TENSORS and LEVEL_OF[name] == DATA), (
            f"{path.stem}, a module of tensors, imports {name}, one of data"
        )


def test_level_one_does_not_import_tensorflow():
    # Deferred imports, inside a function, are what it may have.
    for name in LEVELS[0]:
        tree = ast.parse((LIBRARY / f"{name}.py").read_text(encoding="utf-8"))
        for node in tree.body:
            text = ast.unparse(node)
            assert not text.startswith(("import tensorflow", "import tf_keras"))


def test_only_scripts_read_flags():
    for path in MODULES:
        names = {
            node.id
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Name)
        }
        assert "FLAGS" not in names, path.name


def test_keras_is_tf_keras():
    for path in [*MODULES, *SCRIPTS]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            is_keras_3 = (
                isinstance(node, ast.Attribute)
                and node.attr == "keras"
                and isinstance(node.value, ast.Name)
                and node.value.id == "tf"
            )
            assert not is_keras_3, f"{path.name}, line {node.lineno}: tf.keras"


def test_only_training_imports_orbit():
    users = {p.stem for p in MODULES if "orbit" in imported_modules(p)}
    assert users == {"training"}


def test_files_stay_short():
    # A file that grows past this has more than one subject.
    for path in [*MODULES, *SCRIPTS]:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        assert lines <= 350, f"{path.name} has {lines} lines"


def test_public_functions_have_docstrings():
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        kinds = (ast.FunctionDef, ast.ClassDef)
        for node in (n for n in tree.body if isinstance(n, kinds)):
            if not node.name.startswith("_"):
                assert ast.get_docstring(node), f"{path.name}: {node.name}"


def test_docstrings_name_only_arguments_that_exist():
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                extra = documented_arguments(node) - accepted_arguments(node)
                assert not extra, f"{path.name}: {node.name}: {extra}"


def documented_arguments(function):
    """Returns the names in a docstring's Args section."""
    text = ast.get_docstring(function) or ""
    if "\nArgs:\n" not in text:
        return set()
    section = text.split("\nArgs:\n")[1].split("\n\n")[0]
    entries = (
        line.strip().partition(":")[0]
        for line in section.splitlines()
        if line.startswith("  ") and not line.startswith("    ")
    )
    return {entry.lstrip("*") for entry in entries if " " not in entry}


def accepted_arguments(function):
    """Returns the names of a function's parameters."""
    a = function.args
    named = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
    return {argument.arg for argument in named if argument}


@pytest.mark.parametrize("name", ["bert_tf", *(p.stem for p in SCRIPTS)])
def test_import_does_not_bring_tensorflow(name):
    # A process of its own: here other tests have imported it.
    code = (
        f"import sys, {name}; "
        "sys.exit(any(m in sys.modules for m in ('tensorflow', 'tf_keras')))"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT)
    assert result.returncode == 0


def test_public_names_are_importable():
    import bert_tf

    for name in bert_tf.__all__:
        assert getattr(bert_tf, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'BertEncodr'"):
        bert_tf.BertEncodr  # noqa: B018 - the access is what is tested
