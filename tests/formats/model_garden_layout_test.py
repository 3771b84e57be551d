"""B=2, S=9, P=5, V=61, D=12, N=3 (H=4), L=7; 2 layers, 17 inner, 23 positions.

Against Model Garden's own classes, those of tf-models-official.
"""

import logging

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from official.nlp.modeling import layers as mg_layers
from official.nlp.modeling import models as mg_models
from official.nlp.modeling import networks as mg_networks

from bert_tf.checkpoints import checkpoint_io, variable_table
from bert_tf.checkpoints.weight_reader import Stored
from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.formats.model_garden import ModelGardenReader, layout
from bert_tf.model import models
from bert_tf.weights import loading

CONFIG = BertConfig(
    vocab_size=61,
    hidden_size=12,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=17,
    max_position_embeddings=23,
    type_vocab_size=2,
)
ALL = ("bert/", "cls/", "output_")
# The outputs are of size 1 to 10; the two sum in different orders.
TOLERANCE = 1e-5


def gelu(x):
    return tf_keras.activations.gelu(x, approximate=True)


def mg_encoder(class_name, config=CONFIG):
    encoder = getattr(mg_networks, class_name)(
        vocab_size=config.vocab_size,
        hidden_size=config.hidden_size,
        num_layers=config.num_hidden_layers,
        num_attention_heads=config.num_attention_heads,
        inner_dim=config.intermediate_size,
        max_sequence_length=config.max_position_embeddings,
        type_vocab_size=config.type_vocab_size,
    )
    encoder(encoder.inputs)  # Makes the variables.
    return encoder


def mg_pretrainer(config=CONFIG, heads=("next_sentence",)):
    # Not with the functional BertEncoder: it warns of `masked_lm_positions`.
    pretrainer = mg_models.BertPretrainerV2(
        mg_encoder("BertEncoderV2", config),
        mlm_activation=gelu,
        classification_heads=[
            mg_layers.ClassificationHead(config.hidden_size, 2, name=name)
            for name in heads
        ],
    )
    pretrainer(pretrainer.inputs)
    return pretrainer


def mg_classifier(class_name="BertEncoder", *, use_encoder_pooler=True):
    return mg_models.BertClassifier(
        mg_encoder(class_name), 7, use_encoder_pooler=use_encoder_pooler
    )


def mg_span_labeler(class_name="BertEncoder"):
    return mg_models.BertSpanLabeler(mg_encoder(class_name))


def mg_pretrainer_1():
    return mg_models.BertPretrainer(mg_encoder("BertEncoder"), 2, 5)


def randomize(model):
    """Gives all variables values that no initializer gives."""
    rng = np.random.default_rng(0)
    for variable in model.variables:
        variable.assign(rng.normal(scale=0.4, size=variable.shape))


def make_inputs():
    rng = np.random.default_rng(1)
    mask = np.ones([2, 9], np.int32)
    mask[1, 6:] = 0
    positions = [[2, 0, 8, 8, 1], [5, 1, 0, 3, 0]]
    return {
        "input_ids": rng.integers(0, 61, [2, 9]).astype(np.int32),
        "input_mask": mask,
        "segment_ids": rng.integers(0, 2, [2, 9]).astype(np.int32),
        "masked_lm_positions": np.array(positions, np.int32),
    }


def mg_inputs(inputs):
    """Gives the encoder's inputs Model Garden's names."""
    return {
        "input_word_ids": inputs["input_ids"],
        "input_mask": inputs["input_mask"],
        "input_type_ids": inputs["segment_ids"],
    }


def call_pretrainer(pretrainer, inputs):
    """Returns the logits of the masked LM and of the next sentence."""
    positions = {"masked_lm_positions": inputs["masked_lm_positions"]}
    outputs = pretrainer(mg_inputs(inputs) | positions, training=False)
    return outputs["mlm_logits"], outputs["next_sentence"]


@pytest.fixture(scope="module")
def ours():
    return models.pretraining_model(CONFIG)


def load(reader, model):
    """Sets what a reader has of a model's variables."""
    wanted = {
        name: variable
        for name, variable in loading.variable_names(model).items()
        if name in reader.stored
    }
    reader.require_fit(wanted, missing=[], file_only=[])
    reader.assign(wanted)


def assert_close(value, expected):
    np.testing.assert_allclose(value, expected, rtol=0, atol=TOLERANCE)


def save(folder, items):
    """Saves as Model Garden's users do."""
    path = tf.train.Checkpoint(**items).write(str(folder / "mg.ckpt"))
    return ModelGardenReader(checkpoint_io.CheckpointReader(path))


def make_values(scopes, **more):
    """Makes random 2018 variables."""
    rng = np.random.default_rng(2)
    shapes = {
        **variable_table.encoder_shapes(CONFIG),
        **variable_table.head_shapes(CONFIG, num_labels=7),
    }
    return more | {
        name: rng.normal(scale=0.4, size=shape).astype(np.float32)
        for name, shape in shapes.items()
        if name.startswith(scopes)
    }


def read_all(reader):
    return {name: reader.read(name) for name in reader.stored}


def describe(values):
    return {k: Stored(v.dtype.name, v.shape) for k, v in values.items()}


def write(folder, values, num_attention_heads=3):
    """Writes 2018 variables as `layout` says."""
    written = layout(describe(values), num_attention_heads)
    tensors = {checkpoint_io.OBJECT_GRAPH: tf.constant(written.graph)}
    for key, entry in written.entries.items():
        value = entry.to_model_garden(values[entry.name])
        assert (value.dtype.name, value.shape) == entry.stored
        tensors[key] = value
    path = str(folder / "bert_model.ckpt")
    tf.raw_ops.SaveV2(
        prefix=path,
        tensor_names=list(tensors),
        shape_and_slices=[""] * len(tensors),
        tensors=list(tensors.values()),
    )
    return path


def assert_same_bits(values, expected):
    assert values.keys() == expected.keys()
    for name, value in expected.items():
        assert values[name].dtype == value.dtype, name
        assert values[name].shape == value.shape, name
        assert values[name].tobytes() == value.tobytes(), name


# In.


@pytest.mark.parametrize("class_name", ["BertEncoder", "BertEncoderV2"])
def test_an_encoder_has_model_gardens_outputs_here(tmp_path, ours, class_name):
    encoder = mg_encoder(class_name)
    randomize(encoder)
    reader = save(tmp_path, {"encoder": encoder})
    assert set(reader.stored) == set(variable_table.encoder_shapes(CONFIG))
    assert reader.num_attention_heads == 3
    load(reader, ours.encoder)
    inputs = make_inputs()
    expected = encoder(mg_inputs(inputs), training=False)
    if class_name == "BertEncoder":
        expected = dict(zip(["sequence_output", "pooled_output"], expected))
    outputs = ours.encoder(inputs, training=False)
    assert_close(outputs["sequence_output"], expected["sequence_output"])
    assert_close(outputs["pooled_output"], expected["pooled_output"])


def test_a_pretrainer_has_model_gardens_logits_here(tmp_path, ours, caplog):
    pretrainer = mg_pretrainer()
    randomize(pretrainer)
    with caplog.at_level(logging.INFO):
        reader = save(
            tmp_path, {"model": pretrainer, **pretrainer.checkpoint_items}
        )
    assert "pooler is the head's, next_sentence..pooler_dense" in caplog.text
    assert set(reader.stored) == set(loading.variable_names(ours))
    load(reader, ours)
    inputs = make_inputs()
    outputs = ours(inputs, training=False)
    masked_lm, next_sentence = call_pretrainer(pretrainer, inputs)
    assert_close(outputs["masked_lm_logits"], masked_lm)
    assert_close(outputs["next_sentence_logits"], next_sentence)


SCORES = ["output_bias", "output_weights"]


@pytest.mark.parametrize(
    ("build", "scope"),
    [
        (mg_pretrainer_1, "cls/seq_relationship/"),
        (mg_classifier, ""),
        (mg_span_labeler, "cls/squad/"),
    ],
)
def test_heads_are_found(tmp_path, build, scope):
    model = build()
    reader = save(tmp_path, {"my_own": {"anywhere": model}})
    (weights,) = [v for v in model.variables if "logits/kernel" in v.name]
    (bias,) = [v for v in model.variables if "logits/bias" in v.name]
    np.testing.assert_array_equal(
        reader.read(f"{scope}output_weights"), weights.numpy().T
    )
    np.testing.assert_array_equal(reader.read(f"{scope}output_bias"), bias)


def test_other_classification_heads_stand_under_their_keys(tmp_path):
    pretrainer = mg_pretrainer(heads=("same_author", "next_sentence"))
    pretrainer.classification_heads[1].out_proj.bias.assign([3.0, 4.0])
    reader = save(tmp_path, {"model": pretrainer})
    bias = reader.read("cls/seq_relationship/output_bias")
    np.testing.assert_array_equal(bias, [3, 4])
    others = [name for name in reader.stored if name.startswith("model/")]
    assert others == [
        f"model/classification_heads/0/{name}/.ATTRIBUTES/VARIABLE_VALUE"
        for name in (
            "dense/bias",
            "dense/kernel",
            "out_proj/bias",
            "out_proj/kernel",
        )
    ]
    assert reader.read(others[0]).shape == (12,)
    assert reader.slots() == {}


def test_a_classifiers_own_pooler_is_the_pooler(tmp_path):
    classifier = mg_classifier(use_encoder_pooler=False)
    classifier.classifier.dense.bias.assign(range(12))
    reader = save(tmp_path, {"model": classifier})
    np.testing.assert_array_equal(
        reader.read("bert/pooler/dense/bias"), range(12)
    )
    assert set(reader.stored) == {
        *variable_table.encoder_shapes(CONFIG),
        *SCORES,
    }


def test_an_optimizer_belongs_to_the_run(tmp_path):
    classifier = mg_classifier("BertEncoderV2")
    classifier.compile("adam")
    classifier.optimizer.build(classifier.trainable_variables)
    classifier.optimizer.iterations.assign(5)
    path = str(tmp_path / "weights")
    classifier.save_weights(path, save_format="tf")
    reader = ModelGardenReader(checkpoint_io.CheckpointReader(path))
    slots = reader.slots()
    # Two moments of each variable, learning rate, step.
    assert len(slots) == 2 * len(classifier.trainable_variables) + 2
    assert reader.stored.keys() - slots == {
        *variable_table.encoder_shapes(CONFIG),
        *SCORES,
    }
    assert reader.global_step() == 5


def test_a_trainers_step_counts_and_its_slots_belong_to_the_run(tmp_path):
    classifier = mg_classifier("BertEncoderV2")
    optimizer = tf_keras.optimizers.legacy.Adam()
    optimizer._create_all_weights(classifier.trainable_variables)
    path = tf.train.Checkpoint(
        model=classifier,
        optimizer=optimizer,
        global_step=tf.Variable(17, dtype=tf.int64),
    ).save(str(tmp_path / "ckpt"))
    reader = ModelGardenReader(checkpoint_io.CheckpointReader(path))
    slots = reader.slots()
    assert [name for name in slots if "OPTIMIZER_SLOT" not in name] == [
        f"{name}/.ATTRIBUTES/VARIABLE_VALUE"
        for name in (
            "global_step",
            "optimizer/beta_1",
            "optimizer/beta_2",
            "optimizer/decay",
            "optimizer/iter",
            "optimizer/learning_rate",
            "save_counter",
        )
    ]
    assert reader.stored.keys() - slots == {
        *variable_table.encoder_shapes(CONFIG),
        *SCORES,
    }
    assert reader.global_step() == 17


# Out.


@pytest.mark.parametrize("root_edge", ["encoder", "model"])
@pytest.mark.parametrize("class_name", ["BertEncoder", "BertEncoderV2"])
def test_an_encoder_is_all_that_an_encoders_file_holds(
    tmp_path, class_name, root_edge
):
    values = make_values("bert/")
    items = {root_edge: mg_encoder(class_name)}
    status = tf.train.Checkpoint(**items).read(write(tmp_path, values))
    status.assert_consumed()
    assert_same_bits(read_all(save(tmp_path, items)), values)


OPENED = {
    "encoder": (lambda: {"encoder": mg_encoder("BertEncoder")}, []),
    "encoder 2": (lambda: {"encoder": mg_encoder("BertEncoderV2")}, []),
    "masked LM's items": (
        lambda: mg_pretrainer(heads=()).checkpoint_items,
        ["cls/predictions/"],
    ),
    "pretrainer 2's items": (
        lambda: mg_pretrainer().checkpoint_items,
        ["cls/predictions/"],
    ),
    "pretrainer 2": (
        lambda: {"model": mg_pretrainer()},
        ["cls/predictions/", "cls/seq_relationship/"],
    ),
    "pretrainer 1": (
        lambda: {"model": mg_pretrainer_1()},
        ["cls/predictions/", "cls/seq_relationship/"],
    ),
    "classifier": (lambda: {"model": mg_classifier()}, ["output_"]),
    "classifier of encoder 2": (
        lambda: {"model": mg_classifier("BertEncoderV2")},
        ["output_"],
    ),
    "classifier with a pooler": (
        lambda: {"model": mg_classifier(use_encoder_pooler=False)},
        ["output_"],
    ),
    "classifier with a pooler's items": (
        lambda: mg_classifier(use_encoder_pooler=False).checkpoint_items,
        [],
    ),
    "span labeler": (lambda: {"model": mg_span_labeler()}, ["cls/squad/"]),
    "span labeler of encoder 2": (
        lambda: {"model": mg_span_labeler("BertEncoderV2")},
        ["cls/squad/"],
    ),
}


@pytest.mark.parametrize(("build", "heads"), OPENED.values(), ids=OPENED.keys())
def test_model_garden_opens_all_of_its_own(tmp_path, build, heads):
    values = make_values(ALL, my_variable=np.float32([1, 2]))
    path = write(tmp_path, values)
    items = build()
    status = tf.train.Checkpoint(**items).read(path)
    status.assert_existing_objects_matched().expect_partial()
    scopes = ("bert/", *heads)
    assert_same_bits(
        read_all(save(tmp_path, items)),
        {k: v for k, v in values.items() if k.startswith(scopes)},
    )


def test_model_garden_computes_what_2018_did(tmp_path, golden):
    folder = golden / "model" / "gelu"
    config = BertConfig.from_json_file(str(folder / "bert_config.json"))
    source = loading.open_checkpoint(folder)
    path = write(tmp_path, read_all(source), config.num_attention_heads)
    pretrainer = mg_pretrainer(config)
    status = tf.train.Checkpoint(model=pretrainer).read(path)
    status.assert_existing_objects_matched()
    values = np.load(folder / "forward.npz")
    masked_lm, next_sentence = call_pretrainer(pretrainer, values)
    masked_lm = tf.reshape(tf.nn.log_softmax(masked_lm), [20, 99])
    assert_close(masked_lm, values["masked_lm_log_probs"])
    assert_close(
        tf.nn.log_softmax(next_sentence), values["next_sentence_log_probs"]
    )


def test_keys_are_those_of_model_gardens_converter(tmp_path):
    # Which writes a BertEncoder as `encoder`.
    converted = tf.train.Checkpoint(encoder=mg_encoder("BertEncoder"))
    theirs = checkpoint_io.CheckpointReader(
        converted.write(str(tmp_path / "ckpt"))
    )
    ours = checkpoint_io.CheckpointReader(write(tmp_path, make_values("bert/")))
    assert ours.stored == theirs.stored


def plan(values):
    return layout(describe(values), num_attention_heads=3)


def test_what_has_no_place_is_named(caplog):
    values = make_values("bert/", **{"my.own/variable": np.zeros([5])})
    with caplog.at_level(logging.INFO):
        entries = plan(values).entries
    assert (
        "no place for my.own/variable; kept below bert_tf_rest" in caplog.text
    )
    key = "bert_tf_rest/my..own.Svariable/.ATTRIBUTES/VARIABLE_VALUE"
    assert entries[key].name == "my.own/variable"
    assert entries[key].stored == ("float64", (5,))


def test_heads_with_their_own_pooler_get_one():
    def count(*scopes):
        names = [e.name for e in plan(make_values(scopes)).entries.values()]
        return names.count("bert/pooler/dense/kernel")

    assert count("bert/", "cls/predictions/", "cls/squad/") == 1
    assert count("bert/", "cls/seq_relationship/") == 2
    assert count("bert/", "output_") == 2
    assert count("bert/e", "output_") == 0


@pytest.mark.parametrize(
    ("without", "listed"),
    [
        ("bert/embeddings/token_type", "bert/embeddings/token_type_embeddings"),
        ("bert/encoder/layer_1/output/LayerNorm/b", ".*layer_1/.*/beta"),
        ("bert/encoder/layer_0/", ".*layer_0/attention/self/query/kernel, "),
        ("bert/encoder/", ".*layer_0/attention/self/query/kernel, "),
    ],
)
def test_half_an_encoder_is_refused(without, listed):
    values = {
        name: value
        for name, value in make_values(ALL).items()
        if not name.startswith(without)
    }
    with pytest.raises(UserError, match=f"no whole encoder.*lacks {listed}"):
        plan(values)


def test_heads_must_share_the_hidden_size():
    stored = describe(make_values("bert/"))
    with pytest.raises(UserError, match=r"12, is not a multiple.*\(5\)"):
        layout(stored, num_attention_heads=5)


@pytest.mark.parametrize(
    ("name", "shape", "axes"),
    [
        ("bert/embeddings/LayerNorm/gamma", [], r"\[D\]\. Use"),
        ("bert/pooler/dense/kernel", [12, 13], r"\[D, d\], D = 12"),
        ("cls/squad/output_weights", [3, 12], r"\[2, D\], D = 12"),
        ("output_bias", [8], r"\[L\], L = 7"),
        (
            "bert/encoder/layer_0/attention/self/query/kernel",
            [12, 9],
            r"\[D, NH\], D = 12, N = 3, H = 4",
        ),
    ],
)
def test_a_shape_of_no_bert_is_refused(name, shape, axes):
    values = make_values(ALL) | {name: np.zeros(shape, np.float32)}
    with pytest.raises(
        UserError, match=f"has shape .*, where BERT's has {axes}"
    ):
        plan(values)
