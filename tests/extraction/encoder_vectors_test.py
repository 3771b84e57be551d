"""The golden weights: 2 layers, D 32, 64 positions."""

import dataclasses
import functools
import gzip
import json

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.extraction import encoder_vectors, packed_lines
from bert_tf.text import packing
from bert_tf.training.distribution import one_device_strategy


class Kept:
    """What is written, as a list of arrays."""

    def __init__(self):
        self.vectors = []

    def write(self, input_ids, vectors):
        del input_ids
        self.vectors.append(vectors)


@pytest.fixture(scope="module")
def tasks(request):
    return request.path.parents[1] / "testdata" / "golden" / "tasks"


@pytest.fixture(scope="module")
def lines(tasks):
    path = str(tasks / "extract_features" / "input.txt")
    tokenizer = packing.new_tokenizer(str(tasks / "vocab.txt"), True)
    with packed_lines.pack_file(path, tokenizer, 24) as packed:
        yield packed


@pytest.fixture(scope="module")
def extract(tasks, lines):
    """Extracts with the golden weights; gives a list, an array a line."""

    @functools.cache
    def extractor(layers, pooling="none", strategy=None, **options):
        made = encoder_vectors.Extractor(
            BertConfig.from_json_file(str(tasks / "bert_config.json")),
            list(layers),
            pooling=pooling,
            strategy=strategy or one_device_strategy(),
            **options,
        )
        made.load(str(tasks / "squad" / "squad.ckpt"))
        return made

    def extract(layers, batch_size, **options):
        kept = Kept()
        extractor(tuple(layers), **options).extract(lines, batch_size, kept)
        return kept.vectors

    return extract


@pytest.fixture(scope="module")
def vectors(extract):
    return extract([-1, -2], 4)


def assert_alike(made, expected):
    """Sums of float32 in another order: 1e-5, as against 2018."""
    for one, other in zip(made, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-5)


def test_vectors_are_those_of_2018(vectors, tasks):
    golden = tasks / "extract_features" / "output.jsonl.gz"
    with gzip.open(golden, "rt") as stream:
        expected = [
            [
                [layer["values"] for layer in feature["layers"]]
                for feature in json.loads(line)["features"]
            ]
            for line in stream
        ]
    # What is written there is rounded to 6 decimals.
    assert_alike(vectors, map(np.array, expected))


def test_vectors_do_not_depend_on_the_batch(extract, vectors):
    assert_alike(extract([-1, -2], 1), vectors)
    assert_alike(extract([-1, -2], 32), vectors)


def test_vectors_do_not_depend_on_what_is_read_ahead(
    extract, vectors, monkeypatch
):
    # 9 lines: 2 + 2 + 2 + 2 + 1, each two sorted by themselves.
    monkeypatch.setattr(encoder_vectors, "_BYTES_AHEAD", 1)
    assert_alike(extract([-1, -2], 2), vectors)


def test_vectors_do_not_depend_on_padding(extract, vectors):
    options = {"fixed_length": 41, "use_one_hot_embeddings": True}
    assert_alike(extract([-1, -2], 4, **options), vectors)


def test_several_devices_give_the_same_vectors(extract, vectors):
    # Two of one CPU; on a machine where there is a GPU as well.
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    assert_alike(extract([-1, -2], 6, strategy=strategy), vectors)


def test_a_batch_that_devices_cannot_share_is_an_error(extract):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with pytest.raises(UserError, match="--batch_size=3 does not divide"):
        extract([-1], 3, strategy=strategy)


def test_layers_are_counted_from_both_ends_and_may_repeat(extract, vectors):
    made = extract([1, 0, -1, -1], 4)
    expected = [of_line[:, [0, 1, 0, 0]] for of_line in vectors]
    assert_alike(made, expected)


def test_pooled_vectors_are_those_of_the_pieces(extract, vectors):
    made = extract([-1, -2], 4, pooling="cls")
    assert made[0].shape == (2, 32)
    assert_alike(made, [of_line[0] for of_line in vectors])
    made = extract([-1, -2], 4, pooling="mean")
    assert_alike(made, [of_line.mean(axis=0) for of_line in vectors])


def test_pool_by_hand():
    # B=2, S=3, D=1; of the second row two pieces are real.
    vectors = np.array([[[3], [6], [12]], [[1], [5], [100]]], np.float32)
    input_mask = np.array([[1, 1, 1], [1, 1, 0]], np.int32)
    cls = encoder_vectors.pool(vectors, input_mask, "cls")
    np.testing.assert_array_equal(cls, [[3], [1]])
    mean = encoder_vectors.pool(vectors, input_mask, "mean")
    np.testing.assert_array_equal(mean, [[7], [3]])


def test_pool_refuses_what_it_does_not_know():
    with pytest.raises(
        UserError, match="'max'; it must be one of 'cls', 'mean'"
    ):
        encoder_vectors.pool(np.zeros([1, 2, 3]), np.ones([1, 2]), "max")


def test_weights_without_an_encoder_are_refused(extract, tasks, tmp_path):
    path = str(tmp_path / "head.ckpt")
    tf.raw_ops.SaveV2(
        prefix=path,
        tensor_names=["output_bias"],
        shape_and_slices=[""],
        tensors=[tf.zeros([3])],
    )
    extractor = encoder_vectors.Extractor(
        BertConfig.from_json_file(str(tasks / "bert_config.json")),
        [-1],
        pooling="none",
        strategy=one_device_strategy(),
    )
    with pytest.raises(UserError, match="head.ckpt"):
        extractor.load(path)


def test_pairs_want_a_model_with_two_segments(tasks, lines):
    config = BertConfig.from_json_file(str(tasks / "bert_config.json"))
    extractor = encoder_vectors.Extractor(
        dataclasses.replace(config, type_vocab_size=1),
        [-1],
        pooling="none",
        strategy=one_device_strategy(),
    )
    with pytest.raises(UserError, match="3 lines are pairs .* is 1: it cannot"):
        extractor.extract(lines, 4, Kept())


def test_progress_is_logged(extract, monkeypatch, caplog):
    monkeypatch.setattr(encoder_vectors, "_SECONDS_BETWEEN_LINES", 0)
    monkeypatch.setattr(encoder_vectors, "_BYTES_AHEAD", 1)
    with caplog.at_level("INFO", "absl"):
        extract([-1, -2], 4)
    progress = [line for line in caplog.messages if line.startswith("line ")]
    assert [line.split(" | ")[0] for line in progress] == [
        "line 4/9",
        "line 8/9",
        "line 9/9",
    ]
    assert "Ran 9 lines, 137 pieces" in caplog.messages[-1]
