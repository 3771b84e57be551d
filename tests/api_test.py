"""Holds docs/api.md against the code: signatures, arguments, examples."""

import doctest
import inspect
import json
import operator
import pathlib
import re
import shutil

import pytest

import bert_tf
import bert_tf.text

PAGE = pathlib.Path(__file__).parents[1] / "docs" / "api.md"
TEXT = PAGE.read_text(encoding="utf-8")
# A title, as "BertConfig", to what stands below it.
SECTIONS = {
    section.partition("`")[0]: section.partition("`")[2]
    for section in TEXT.split("\n## `")[1:]
}


def look_up(name):
    return operator.attrgetter(name)(bert_tf)


def first_line(thing):
    return inspect.getdoc(thing).splitlines()[0]


def without_space(text):
    return re.sub(r"\s", "", text).replace(",)", ")")


def signature_of(thing):
    """Returns a signature as the page has it, without white space."""
    text = str(inspect.signature(thing)).removesuffix(" -> None")
    return without_space(re.sub(r"^\(self(, )?", "(", text))


def printed_signatures(section):
    """Returns a dict, name -> signature: the section's first block."""
    block = re.search(r"(?:^    .*\n)+", section, re.M)[0]
    entries = re.findall(r"bert_tf\.([\w.]+)(\([^()]*\))", block)
    assert block.count("bert_tf.") == len(entries) > 0
    return {name: without_space(text) for name, text in entries}


def rows(section, head):
    """Returns the pairs of cells in the section's table with a head."""
    table = re.search(rf"^\| {head} .*\n.*\n((?:\|.*\n)+)", section, re.M)
    lines = table[1].splitlines() if table else []
    return [line.strip("| ").split(" | ", 1) for line in lines]


METHODS = [
    (name, method.strip("`"), text)
    for name, section in SECTIONS.items()
    for method, text in rows(section, "method")
]


def test_every_public_name_has_a_section():
    assert set(SECTIONS) == {*bert_tf.__all__, "text.TextTokenizer"}


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_begins_as_the_docstring(name):
    assert SECTIONS[name].split("\n")[2] == first_line(look_up(name))


@pytest.mark.parametrize("name", SECTIONS)
def test_signatures_and_arguments_are_those_of_the_code(name):
    accepted = set()
    for full_name, signature in printed_signatures(SECTIONS[name]).items():
        # A class, or what makes an object of it.
        assert full_name.startswith(name)
        thing = look_up(full_name)
        assert signature == signature_of(thing)
        accepted |= inspect.signature(thing).parameters.keys()
    cells = [cell for cell, _ in rows(SECTIONS[name], "argument")]
    assert set(re.findall(r"`(\w+)`", " ".join(cells))) == accepted


@pytest.mark.parametrize(
    ("name", "method", "text"), METHODS, ids=[" ".join(m[:2]) for m in METHODS]
)
def test_a_method_is_as_in_the_code(name, method, text):
    method, parenthesis, arguments = method.partition("(")
    thing = getattr(look_up(name), method)
    assert without_space(parenthesis + arguments) == signature_of(thing)
    assert text.startswith(first_line(thing))


@pytest.fixture
def example_folder(tmp_path, golden, monkeypatch):
    """What the page says is there, made of a small model of 2018's."""
    tasks = golden / "tasks"
    for folder, checkpoint in [
        ("model", "bert_model"),
        ("mrpc_output", "model"),
    ]:
        (tmp_path / folder).mkdir()
        for name in ("bert_config.json", "vocab.txt"):
            shutil.copy(tasks / name, tmp_path / folder)
        for path in (tasks / "classifier").glob("two_labels.ckpt*"):
            name = path.name.replace("two_labels", checkpoint)
            shutil.copy(path, tmp_path / folder / name)
    trained = tmp_path / "mrpc_output"
    (trained / "labels.txt").write_text("0\n1\n")
    (trained / "label_kind.txt").write_text("classification\n")
    said = {"do_lower_case": True, "model_max_length": 40}
    (trained / "tokenizer_config.json").write_text(json.dumps(said))
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("example_folder")
def test_examples_give_what_the_page_says():
    examples = doctest.DocTestParser().get_doctest(
        TEXT, {}, PAGE.name, str(PAGE), 0
    )
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    said = []
    runner.run(examples, out=said.append)
    assert not said, "".join(said)
    assert runner.tries == TEXT.count("    >>> ")
