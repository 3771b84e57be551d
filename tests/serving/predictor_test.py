"""Tests of bert_tf.serving.predictor, on 2018's results: to 1e-5, as golden."""

import json
import shutil

import numpy as np
import pytest

import bert_tf
from bert_tf.errors import UserError
from bert_tf.serving import export
from bert_tf.serving.loading import open_served


@pytest.fixture(scope="module")
def tasks(request):
    return request.path.parents[1] / "testdata" / "golden" / "tasks"


@pytest.fixture(scope="module")
def trained(tasks, tmp_path_factory):
    """A folder as run_classifier.py leaves it, with 2018's weights."""
    folder = tmp_path_factory.mktemp("trained")
    for name in ("bert_config.json", "vocab.txt"):
        shutil.copy(tasks / name, folder)
    for path in (tasks / "classifier").glob("two_labels.ckpt*"):
        shutil.copy(path, folder / path.name.replace("two_labels", "model"))
    # The golden MRPC model has the labels of its own order.
    (folder / "labels.txt").write_text("0\n1\n")
    (folder / "label_kind.txt").write_text("classification\n")
    said = {"do_lower_case": True, "model_max_length": 40}
    (folder / "tokenizer_config.json").write_text(json.dumps(said))
    return str(folder / "model.ckpt")


@pytest.fixture(scope="module")
def exported(trained, tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("exported"))
    served = open_served("classifier", trained, max_seq_length=40, is_pair=True)
    export.export(served, folder, verify=False)
    return folder


@pytest.fixture(scope="module", params=["checkpoint", "export"])
def predictor(request, trained, exported):
    if request.param == "export":
        return bert_tf.Predictor.from_export(exported)
    # The length of the training is said beside the weights.
    return bert_tf.Predictor.from_checkpoint(trained, task="classifier")


def _test_set(tasks):
    """Returns MRPC's pairs to predict, and 2018's probabilities."""
    folder = tasks / "classifier" / "MRPC"
    rows = (folder / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]
    pairs = [tuple(row.split("\t")[3:5]) for row in rows]
    return pairs, np.loadtxt(folder / "test_results.tsv")


def test_predict_gives_golden_results(predictor, tasks):
    """In the order of the texts, though those of like length run together."""
    pairs, expected = _test_set(tasks)
    found = predictor.predict(pairs)
    probabilities = [list(p.probabilities.values()) for p in found]
    np.testing.assert_allclose(probabilities, expected, atol=1e-5)
    assert [p.label for p in found] == [str(i) for i in expected.argmax(-1)]
    assert list(found[0].probabilities) == ["0", "1"]


def test_predict_is_the_same_one_by_one(predictor, tasks):
    """Neither the batch nor its padding reaches a result."""
    texts = [*_test_set(tasks)[0], ("", ""), ("a", "")]
    together = predictor.predict(texts)
    for text, one in zip(texts, together, strict=True):
        alone = predictor.predict([text])[0]
        assert alone.label == one.label
        np.testing.assert_allclose(
            list(alone.probabilities.values()),
            list(one.probabilities.values()),
            atol=1e-5,
        )


def test_predict_takes_no_text_at_all(predictor):
    assert predictor.predict([]) == []


def test_predict_refuses_single_texts_for_pairs(exported):
    predictor = bert_tf.Predictor.from_export(exported)
    with pytest.raises(UserError, match="takes pairs of texts, not single"):
        predictor.predict(["a"])


@pytest.mark.parametrize("text", [("a", "b", "c"), (1, "b"), ("a",), None])
def test_predict_refuses_what_is_no_text(predictor, text):
    with pytest.raises(UserError, match="neither a text nor a pair"):
        predictor.predict([text])


def test_predict_refuses_a_bare_string(predictor):
    with pytest.raises(UserError, match="is one text; give a list"):
        predictor.predict("a text")


@pytest.mark.parametrize("method", ["fill_mask", "embed"])
def test_a_classifier_does_nothing_else(predictor, method):
    with pytest.raises(UserError, match=f"`{method}` is for a model of"):
        getattr(predictor, method)(["a text"])
    with pytest.raises(UserError, match="this one is of the kind 'classifier'"):
        predictor.answer(["a"], ["b"])


def test_loading_is_told_in_one_line(trained, caplog):
    caplog.set_level("INFO", logger="absl")
    bert_tf.Predictor.from_checkpoint(trained, task="classifier")
    assert caplog.messages[-1].startswith(f"Loaded classifier from {trained}")


@pytest.fixture(scope="module")
def pretrained(request, tmp_path_factory):
    """2018's small pre-trained model, with a vocabulary that has its size."""
    folder = tmp_path_factory.mktemp("pretrained")
    golden = request.path.parents[1] / "testdata" / "golden"
    model = next((golden / "model").glob("*/bert_config.json")).parent
    for path in model.glob("bert_*"):
        shutil.copy(path, folder)
    config = json.loads((folder / "bert_config.json").read_text())
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "red", "fox"]
    pieces += [f"[unused{i}]" for i in range(len(pieces), config["vocab_size"])]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    return str(folder)


def test_fill_mask_gives_each_masks_pieces(pretrained):
    predictor = bert_tf.Predictor.from_checkpoint(
        pretrained, task="masked_lm", top_k=4
    )
    texts = ["red [MASK] [MASK]", "no mask", "[MASK]"]
    found = predictor.fill_mask(texts)
    assert [len(masks) for masks in found] == [2, 0, 1]
    for masks in found:
        for fillings in masks:
            values = [filling.probability for filling in fillings]
            assert len(values) == 4
            assert values == sorted(values, reverse=True)
            assert 0 < sum(values) <= 1
    alone = predictor.fill_mask(texts[-1:])[0]
    assert [f.word for f in alone[0]] == [f.word for f in found[2][0]]


def test_from_checkpoint_refuses_an_unknown_task(trained):
    with pytest.raises(UserError, match="'glue' is no kind of model"):
        bert_tf.Predictor.from_checkpoint(trained, task="glue")


def test_from_export_refuses_what_is_none(tmp_path):
    with pytest.raises(UserError, match="is no SavedModel"):
        bert_tf.Predictor.from_export(str(tmp_path))


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ("{}", "does not say its `kind`"),
        ('{"kind": "preprocessor"}', "is a preprocessor, and no model"),
        ('{"kind": "encoder"}', "is an encoder without a vocabulary"),
    ],
)
def test_from_export_refuses_what_takes_no_texts(
    tmp_path, description, message
):
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "export.json").write_text(description)
    (tmp_path / "saved_model.pb").write_text("")
    with pytest.raises(UserError, match=message):
        bert_tf.Predictor.from_export(str(tmp_path))


def test_from_export_refuses_a_damaged_one(exported, tmp_path):
    shutil.copytree(f"{exported}/1", tmp_path / "1")
    (tmp_path / "1" / "saved_model.pb").write_bytes(b"damaged")
    with pytest.raises(UserError, match="1 cannot be loaded; it may be damag"):
        bert_tf.Predictor.from_export(str(tmp_path))


def test_halves_of_a_character_are_left_out(pretrained):
    predictor = bert_tf.Predictor.from_checkpoint(pretrained, task="masked_lm")
    whole, half = predictor.fill_mask(["red [MASK]", "red\ud800 [MASK]"])
    assert [f.word for f in whole[0]] == [f.word for f in half[0]]
