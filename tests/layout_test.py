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

# What each package, or module that stands alone, may import from the others.
# A row may name only rows above it, so that there can be no circle.
MAY_IMPORT = {
    "errors": "",
    "storage": "errors",
    "config": "errors storage",
    "features": "",
    "text": "errors storage features",
    "checkpoints": "errors storage",
    "formats": "errors storage config checkpoints",
    "data": "errors storage features text",
    "model": "errors features",
    "weights": "errors storage config text checkpoints formats model",
    "tasks": "errors storage features text data",
    "squad": "errors storage features text data",
    "training": "errors storage config features data checkpoints model weights "
    "tasks",
    "extraction": "errors storage features text data model weights training",
    "serving": "errors storage features text formats data model weights tasks "
    "squad extraction",
    "cli": "errors storage config text checkpoints formats weights tasks squad "
    "training extraction serving",
    # 2018's, or a command's, name for what is in a package.
    "tokenization": "text",
    "predictor": "cli serving",
}
ROWS = list(MAY_IMPORT)

MODULES = sorted(LIBRARY.rglob("*.py"))
PACKAGES = sorted(path.parent for path in LIBRARY.rglob("*/__init__.py"))

# Where TensorFlow may be imported at the top of a file; all else answers
# before it is there, and imports it within a function.
USES_TENSORFLOW = {
    "text": {"graph_characters", "graph_packing", "graph_tokenizer"},
    "squad": {"graph_answers", "graph_spans", "graph_windows"},
    "data": {"input_pipeline"},
    "model": ...,
    "weights": {"conversion"},
    "checkpoints": {"checkpoint_io", "checkpoint_keeper"},
    "formats": {"model_garden", "model_garden_search", "object_graph"},
    "training": ...,
    "extraction": {"encoder_vectors"},
    "serving": ...,
}


def place_of(path):
    """Returns what has a row: a module that stands alone, or its package."""
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


def imported_within(path, dotted):
    """Returns the names directly below a package (str) that a file imports."""
    prefix = f"{dotted}."
    return {
        name.removeprefix(prefix).partition(".")[0]
        for name in imported_modules(path)
        if name.startswith(prefix)
    }


def test_every_place_has_a_row():
    assert {place_of(path) for path in MODULES} - {"__init__"} == set(ROWS)


def test_rows_name_rows_above_them():
    for i, (row, others) in enumerate(MAY_IMPORT.items()):
        assert set(others.split()) <= set(ROWS[:i]), row


@pytest.mark.parametrize("row", ROWS)
def test_imports_are_those_of_the_table(row):
    paths = [path for path in MODULES if place_of(path) == row]
    found = set().union(*(imported_within(p, "bert_tf") for p in paths))
    assert found & set(ROWS) - {row} == set(MAY_IMPORT[row].split())


@pytest.mark.parametrize(
    "package", PACKAGES, ids=lambda path: str(path.relative_to(LIBRARY))
)
def test_a_package_is_read_from_top_to_bottom(package):
    # The docstring names each file once, and none before one that it imports.
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    text = ast.get_docstring(tree)
    assert len(text.splitlines()) <= 10
    order = re.findall(r"`(\w+)`", text[text.index("\nRead ") :])
    inside = [p for p in package.iterdir() if p.name != "__pycache__"]
    names = {p.stem for p in inside} - {"__init__"}
    assert sorted(order) == sorted(names)
    dotted = ".".join(package.relative_to(ROOT).parts)
    for i, name in enumerate(order):
        is_folder = (package / name).is_dir()
        for path in MODULES if is_folder else [package / f"{name}.py"]:
            if not is_folder or package / name in path.parents:
                found = imported_within(path, dotted) & names - {name}
                assert found <= set(order[:i]), path.name


def test_the_walks_of_the_document_are_short_and_true():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("### Three walks")[1].split("\n## ")[0]
    steps = re.findall(r"^(\d)\. (.*):", section, flags=re.MULTILINE)
    assert [int(n) for n, _ in steps].count(1) == 3
    assert max(int(n) for n, _ in steps) <= 8
    for _, step in steps:
        for name in re.findall(r"`([\w/]+\.py)`", step):
            assert (ROOT / name).exists() or (LIBRARY / name).exists(), name


def test_folders_are_small():
    for folder in [LIBRARY, *PACKAGES]:
        files = [p for p in folder.glob("*.py") if p.name != "__init__.py"]
        assert len(files) <= 13, folder.name


def test_tensorflow_is_imported_where_it_is_expected():
    for path in MODULES:
        names = USES_TENSORFLOW.get(place_of(path), set())
        if names is ... or path.stem in names:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            text = ast.unparse(node)
            assert not text.startswith(
                ("import tensorflow", "import tf_keras")
            ), path


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


def test_only_the_training_loop_imports_orbit():
    users = {p.stem for p in MODULES if "orbit" in imported_modules(p)}
    assert users == {"training_loop"}


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
