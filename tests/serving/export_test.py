"""Tests of bert_tf.serving.export and verify_export, on 2018's classifier.

S=40, D=32, L=2; numbers to 1e-5, as golden results are.
"""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from absl import logging

from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.model import models
from bert_tf.serving import export, verify_export
from bert_tf.serving.classifier import Classifier
from bert_tf.serving.servable import Servable
from bert_tf.tasks.labels import Labels
from bert_tf.tasks.records.converter import Conversion
from bert_tf.training import distribution
from bert_tf.training.classification import ClassifierJob
from bert_tf.weights.loading import load_checkpoint, variable_names

YES_NO = Labels("classification", ("0", "1"))


@pytest.fixture(scope="module")
def tasks(request):
    return request.path.parents[1] / "testdata" / "golden" / "tasks"


@pytest.fixture(scope="module")
def served(tasks):
    config = BertConfig.from_json_file(str(tasks / "bert_config.json"))
    model = models.classifier_model(config, 2)
    load_checkpoint(model, str(tasks / "classifier" / "two_labels.ckpt"))
    return Classifier(
        model,
        config,
        labels=YES_NO,
        is_pair=True,
        vocab_file=str(tasks / "vocab.txt"),
        do_lower_case=True,
        max_seq_length=40,
    )


@pytest.fixture(scope="module")
def exported(served, tmp_path_factory):
    """An export, not verified; tests below do that."""
    folder = tmp_path_factory.mktemp("export")
    return export.export(served, str(folder), verify=False)


@pytest.fixture(scope="module")
def loaded(exported):
    return tf.saved_model.load(exported)


def _rows(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines]


def _test_results(tasks):
    return np.array(_rows(tasks / "classifier/MRPC/test_results.tsv"), float)


def _test_pairs(tasks):
    rows = _rows(tasks / "classifier/MRPC/test.tsv")[1:]
    return tf.constant([row[3] for row in rows]), tf.constant(
        [row[4] for row in rows]
    )


def test_serving_text_gives_golden_results(loaded, tasks):
    text_a, text_b = _test_pairs(tasks)
    run = loaded.signatures["serving_text"]
    outputs = run(text_a=text_a, text_b=text_b)
    expected = _test_results(tasks)
    np.testing.assert_allclose(outputs["probabilities"], expected, atol=1e-5)
    names = [YES_NO.names[i].encode() for i in expected.argmax(axis=-1)]
    assert outputs["labels"].numpy().tolist() == names


def test_serving_default_takes_any_size(loaded, served, tasks):
    """Plain int32 tensors: one row, then more, of other lengths."""
    text_a, text_b = _test_pairs(tasks)
    expected = _test_results(tasks)
    for rows, length in ((slice(0, 1), 40), (slice(1, 4), None)):
        inputs = served.pack(text_a[rows], text_b[rows], length=length)
        outputs = loaded.signatures["serving_default"](**inputs)
        assert outputs["logits"].shape == expected[rows].shape
        np.testing.assert_allclose(
            outputs["probabilities"], expected[rows], atol=1e-5
        )


def test_serving_examples_takes_records_without_labels(loaded, served, tasks):
    text_a, text_b = _test_pairs(tasks)
    inputs = served.pack(text_a[:3], text_b[:3], length=40)
    examples = [
        tf.train.Example(
            features=tf.train.Features(
                feature={
                    name: tf.train.Feature(
                        int64_list=tf.train.Int64List(value=value[row].numpy())
                    )
                    for name, value in inputs.items()
                }
            )
        ).SerializeToString()
        for row in range(3)
    ]
    run = loaded.signatures["serving_examples"]
    outputs = run(examples=tf.constant(examples))
    np.testing.assert_allclose(
        outputs["probabilities"], _test_results(tasks)[:3], atol=1e-5
    )


def test_an_export_has_its_files(exported):
    assets = os.path.join(exported, "assets")
    assert sorted(os.listdir(assets)) == [
        "bert_config.json",
        "export.json",
        "labels.txt",
        "vocab.txt",
    ]
    with open(os.path.join(assets, "labels.txt"), encoding="utf-8") as file:
        assert file.read() == "0\n1\n"


def test_an_export_needs_no_python(exported):
    assert not {op for op in export.operations(exported) if "PyFunc" in op}


def test_operations_finds_those_of_python(tmp_path):
    module = tf.Module()
    module.double = tf.function(
        lambda x: tf.numpy_function(lambda y: 2 * y, [x], tf.float32),
        input_signature=[tf.TensorSpec([], tf.float32)],
    )
    tf.saved_model.save(module, str(tmp_path))
    assert export.operations(str(tmp_path)) & {"PyFunc", "PyFuncStateless"}


@pytest.mark.slow
def test_saved_model_cli_runs_from_text(exported):
    cli = os.path.join(os.path.dirname(sys.executable), "saved_model_cli")
    where = ["--dir", exported, "--tag_set", "serve"]
    texts = 'text_a=[b"a dog"];text_b=[b"a cat"]'
    done = subprocess.run(
        [cli, "run", *where, "--signature_def", "serving_text"]
        + ["--input_exprs", texts],
        capture_output=True,
        check=True,
        text=True,
    )
    assert "Result for output key probabilities:" in done.stdout


class _Adder(Servable):
    """What `export` needs of a model that is served, and no more."""

    def __init__(self):
        super().__init__()
        self.added = tf.Variable(1.5)

    def signatures(self):
        spec = tf.TensorSpec([None], tf.float32, name="x")
        add = tf.function(lambda x: {"y": x + self.added})
        return {"serving_default": add.get_concrete_function(x=spec)}

    def asset_files(self):
        return {"notes.txt": b"1.5 is added\n"}

    def samples(self):
        return {"serving_default": {"x": np.float32([1, 2])}}


@pytest.fixture
def told(caplog):
    """What the log tells a user, with the verbosity that scripts set."""
    before = logging.get_verbosity()
    logging.set_verbosity(logging.INFO)
    yield caplog
    logging.set_verbosity(before)


def test_export_takes_the_next_number_and_compares(tmp_path, told):
    (tmp_path / "3").mkdir()
    (tmp_path / "notes").mkdir()
    path = export.export(_Adder(), str(tmp_path))
    assert path == str(tmp_path / "4")
    assert sorted(os.listdir(tmp_path)) == ["3", "4", "notes"]
    _, _, compared, exported = told.messages
    assert "loaded in a new process, gives the same" in compared
    assert exported == f"Exported to {path}."


def test_export_leaves_nothing_that_does_not_agree(tmp_path, monkeypatch):
    """The weights change after they were written."""
    adder, save = _Adder(), tf.saved_model.save

    def save_and_change(*args, **kwargs):
        save(*args, **kwargs)
        adder.added.assign(1.75)

    monkeypatch.setattr(tf.saved_model, "save", save_and_change)
    with pytest.raises(UserError, match="serving_default, y: differs by 0.25"):
        export.export(adder, str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_the_new_process_finds_the_library_from_anywhere(tmp_path, monkeypatch):
    def run(words, *, env, **_):
        root = env["PYTHONPATH"].split(os.pathsep)[0]
        assert os.path.isfile(f"{root}/{words[2].replace('.', '/')}.py")
        return subprocess.CompletedProcess(words, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    export.export(_Adder(), str(tmp_path))
    assert os.listdir(tmp_path) == ["1"]


@pytest.mark.parametrize(
    ("expected", "wrong"),
    [([[1.0, 2.0]], 0), ([[1.0, 2.001]], 1), ([[1.0]], 1)],
)
def test_compare_tells_numbers_and_shapes(tmp_path, expected, wrong):
    module = tf.Module()
    module.run = tf.function(
        lambda x: {"y": x, "text": tf.strings.as_string(x)},
        input_signature=[tf.TensorSpec([None, None], tf.float32, name="x")],
    )
    tf.saved_model.save(module, str(tmp_path), signatures={"run": module.run})
    path = tmp_path / "compared.npz"
    given = {"run/input/x": np.float32([[1, 2]]), "run/output/y": expected}
    text = np.array([[b"1.000000.", b"2.000000."]])
    np.savez(path, **given, **{"run/output/text": text})
    found, largest = verify_export.compare(str(tmp_path), str(path))
    assert len(found) == wrong
    assert largest <= verify_export.TOLERANCE
    assert verify_export.main(str(tmp_path), str(path)) == wrong


def test_trained_model_has_the_weights_of_all_devices(tasks, tmp_path):
    """A job on two devices; what is served is on one."""
    config = BertConfig.from_json_file(str(tasks / "bert_config.json"))
    conversion = Conversion(YES_NO, 40, str(tasks / "vocab.txt"), True)
    strategy = distribution.build_strategy()
    job = ClassifierJob(
        config=config,
        labels=YES_NO,
        record_features=conversion.features(),
        output_dir=str(tmp_path),
        strategy=strategy,
        use_one_hot_embeddings=True,
        init_checkpoint=str(tasks / "classifier" / "two_labels.ckpt"),
    )
    model = export.trained_model(job)
    trained = variable_names(job.ready_model())
    for name, variable in variable_names(model).items():
        assert variable is not trained[name]
        np.testing.assert_array_equal(variable, trained[name])


def test_a_full_disk_is_one_clear_line(tmp_path, monkeypatch):
    def save(*args, **kwargs):
        raise tf.errors.ResourceExhaustedError(None, None, "No space left")

    monkeypatch.setattr(tf.saved_model, "save", save)
    with pytest.raises(UserError, match="cannot be written: No space left"):
        export.export(_Adder(), str(tmp_path))
    assert os.listdir(tmp_path) == []


def test_the_signal_to_end_leaves_nothing(tmp_path, monkeypatch):
    def save(*args, **kwargs):
        os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(tf.saved_model, "save", save)
    with pytest.raises(SystemExit, match="143"):
        export.export(_Adder(), str(tmp_path))
    assert os.listdir(tmp_path) == []
    assert signal.getsignal(signal.SIGTERM) is before
