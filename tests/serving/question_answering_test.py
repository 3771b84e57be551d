"""Tests of bert_tf.serving.question_answering, on 2018's model of SQuAD.

S=48, D=32; texts exactly, numbers to 1e-5, as golden results are.
"""

import gzip
import json

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.features import INPUT_KEYS
from bert_tf.model import models
from bert_tf.serving import export, question_answering
from bert_tf.serving.question_answering import QuestionAnswering
from bert_tf.weights.loading import load_checkpoint

CASES = {
    "v1": {"doc_stride": 16},
    "v1_short": {"doc_stride": 7, "max_answer_length": 3, "n_best_size": 5},
    "v2": {"doc_stride": 16},
    "v2_short": {"doc_stride": 7, "max_answer_length": 6},
    "v2_thresh": {"doc_stride": 16, "null_score_diff_threshold": -2.5},
}


@pytest.fixture(scope="module")
def tasks(request):
    return request.path.parents[1] / "testdata" / "golden" / "tasks"


@pytest.fixture(scope="module")
def make(tasks):
    config = BertConfig.from_json_file(str(tasks / "bert_config.json"))
    model = models.question_answering_model(config)
    load_checkpoint(model, str(tasks / "squad" / "squad.ckpt"))

    def make(**options):
        given = {"max_seq_length": 48, "max_query_length": 12, **options}
        return QuestionAnswering(
            model,
            config,
            vocab_file=str(tasks / "vocab.txt"),
            do_lower_case=True,
            **given,
        )

    return make


@pytest.fixture(scope="module")
def served(make):
    return make(doc_stride=16, version_2_with_negative=True)


@pytest.fixture(scope="module")
def loaded(served, tmp_path_factory):
    """An export, loaded again; it is not verified here."""
    folder = tmp_path_factory.mktemp("export")
    return tf.saved_model.load(export.export(served, folder, verify=False))


def _read(tasks, name):
    path = tasks / "squad" / f"{name}.json.gz"
    return json.loads(gzip.decompress(path.read_bytes()))


def _questions(tasks, version):
    """Returns three lists: ids, questions, contexts."""
    articles = json.loads((tasks / "squad" / f"dev-{version}.json").read_text())
    rows = [
        (qa["id"], qa["question"], paragraph["context"])
        for article in articles["data"]
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
    ]
    return list(map(list, zip(*rows)))


def _assert_golden(outputs, tasks, case):
    """Compares answers and probabilities with 2018's files."""
    ids, _, contexts = _questions(tasks, case[:2])
    predictions = _read(tasks, f"{case}.predictions")
    texts = [answer.decode() for answer in outputs["answer"].numpy()]
    assert dict(zip(ids, texts)) == predictions
    nbest = _read(tasks, f"{case}.nbest_predictions")
    for row, key in enumerate(ids):
        listed = {entry["text"]: entry["probability"] for entry in nbest[key]}
        wanted = listed[texts[row]], listed.get("", 0.0)
        found = outputs["probability"][row], outputs["null_probability"][row]
        np.testing.assert_allclose(found, wanted, atol=1e-5)
        start, end = outputs["start_char"][row], outputs["end_char"][row]
        if texts[row] != "empty":
            words = contexts[row][int(start) : int(end)].split()
            assert " ".join(words) == " ".join(texts[row].split())


@pytest.mark.parametrize("case", CASES)
def test_answers_are_golden(make, tasks, case):
    served = make(version_2_with_negative=case[:2] == "v2", **CASES[case])
    _, questions, contexts = _questions(tasks, case[:2])
    outputs = served.answer(tf.constant(questions), tf.constant(contexts))
    _assert_golden(outputs, tasks, case)


def test_an_export_answers_the_same(loaded, tasks):
    """From strings, in a graph without Python; all at once and one by one."""
    _, questions, contexts = _questions(tasks, "v2")
    run = loaded.signatures["serving_text"]
    outputs = run(
        question=tf.constant(questions), context=tf.constant(contexts)
    )
    _assert_golden(outputs, tasks, "v2")
    kinds = {name: value.dtype.name for name, value in outputs.items()}
    assert kinds == {
        "answer": "string",
        "start_char": "int32",
        "end_char": "int32",
        "probability": "float32",
        "null_probability": "float32",
    }
    for row in (0, 7):
        one = run(
            question=tf.constant(questions[row : row + 1]),
            context=tf.constant(contexts[row : row + 1]),
        )
        for name in ("answer", "start_char", "end_char"):
            assert one[name][0] == outputs[name][row]


def test_an_export_takes_records(loaded, served, tasks):
    """Those of run_squad.py, whose `unique_ids` are passed over."""
    _, questions, contexts = _questions(tasks, "v2")
    windows, _ = served._read(
        tf.constant(questions[:3]), tf.constant(contexts[:3])
    )
    inputs = windows.inputs
    examples = []
    for row in range(len(windows.questions)):
        values = {name: inputs[name][row].numpy() for name in INPUT_KEYS}
        values["unique_ids"] = [1_000_000_000 + row]
        feature = {
            name: tf.train.Feature(int64_list=tf.train.Int64List(value=value))
            for name, value in values.items()
        }
        features = tf.train.Features(feature=feature)
        examples.append(tf.train.Example(features=features).SerializeToString())
    run = loaded.signatures["serving_examples"]
    found = run(examples=tf.constant(examples))
    expected = loaded.signatures["serving_default"](**inputs)
    assert set(expected) == {"start_logits", "end_logits"}
    for name, logits in expected.items():
        assert logits.shape == [len(examples), 48]
        # The same model on the same rows.
        np.testing.assert_allclose(found[name], logits, atol=1e-6)


def test_answers_do_not_depend_on_windows_at_a_time(served, tasks, monkeypatch):
    _, questions, contexts = map(tf.constant, _questions(tasks, "v2"))
    monkeypatch.setattr(question_answering, "_WINDOWS_AT_A_TIME", 7)
    _assert_golden(served.answer(questions, contexts), tasks, "v2")


def test_answers_of_no_text_at_all(served):
    none = tf.constant([], tf.string)
    assert served.answer(none, none)["answer"].shape == [0]


def test_samples_fit_the_signatures(served):
    """The longest is cut into several windows; one is empty."""
    signatures, samples = served.signatures(), served.samples()
    assert set(signatures) == set(samples)
    texts = {k: tf.constant(v) for k, v in samples["serving_text"].items()}
    windows, _ = served._read(texts["question"], texts["context"])
    counts = np.bincount(windows.questions, minlength=4)
    assert counts[0] > 3
    assert counts[2] == 0
    for name in ("serving_default", "serving_examples"):
        inputs = {k: tf.constant(v) for k, v in samples[name].items()}
        outputs = signatures[name](**inputs)
        assert set(outputs) == {"start_logits", "end_logits"}


def test_description_has_the_options(make):
    options = {
        "max_query_length": 9,
        "doc_stride": 7,
        "n_best_size": 5,
        "max_answer_length": 4,
        "version_2_with_negative": True,
        "null_score_diff_threshold": -1.5,
    }
    description = make(**options).description()
    assert description["kind"] == "question_answering"
    assert description["max_seq_length"] == 48
    assert options.items() <= description.items()


def test_logits_that_are_not_finite_are_refused(served, monkeypatch):
    def diverged(inputs):
        logits = tf.fill(tf.shape(inputs["input_ids"]), float("nan"))
        return {"start_logits": logits, "end_logits": logits}

    monkeypatch.setattr(served, "call_model", diverged)
    with pytest.raises(tf.errors.InvalidArgumentError, match="has diverged"):
        served.answer(tf.constant(["who"]), tf.constant(["the river"]))


def test_a_question_without_its_context_is_refused(loaded):
    with pytest.raises(tf.errors.InvalidArgumentError, match="as many"):
        loaded.signatures["serving_text"](
            question=tf.constant(["who", "what"]),
            context=tf.constant(["the river"]),
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_query_length": 45}, "--max_seq_length=48 leaves no room"),
        ({"doc_stride": 0}, "--doc_stride=0 must be 1 or more"),
        ({"n_best_size": 0}, "--n_best_size=0 must be 1 or more"),
        ({"max_answer_length": 0}, "--max_answer_length=0 must be 1 or more"),
    ],
)
def test_options_too_small_are_refused(make, options, message):
    with pytest.raises(UserError, match=message):
        make(**options)
