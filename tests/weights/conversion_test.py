"""Tests of conversion: every bit of every variable, in every direction."""

import json
import logging

import numpy as np
import pytest
import safetensors.numpy
import tensorflow as tf

from bert_tf.checkpoints import checkpoint_io, variable_table
from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.weights import conversion, loading, model_folder, weights_path

CONFIG = BertConfig(
    vocab_size=61,
    hidden_size=12,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=17,
    max_position_embeddings=23,
    type_vocab_size=5,
)
HEADS = ("cls/predictions/", "cls/seq_relationship/", "output_", "cls/squad/")


def make_source(folder, heads, **more):
    """Writes a random 2018 folder with some heads; returns its values."""
    rng = np.random.default_rng(0)
    shapes = {
        **variable_table.encoder_shapes(CONFIG),
        **variable_table.head_shapes(CONFIG, num_labels=7),
    }
    values = {
        name: rng.normal(size=shape).astype(np.float32)
        for name, shape in shapes.items()
        if name.startswith(("bert/", *heads))
    }
    values.update(more)
    folder.mkdir()
    prefix = str(folder / "bert_model.ckpt")
    checkpoint_io.write_in_parts(prefix, values, values.__getitem__)
    (folder / "bert_config.json").write_text(CONFIG.to_json_string())
    (folder / "vocab.txt").write_text("[PAD]\nA\n")
    return values


def convert(source, folder, output_format, **options):
    path = weights_path.resolve(source)
    config, _ = model_folder.find_config(None, path)
    folder.mkdir()
    conversion.convert(
        loading.open_checkpoint(path),
        config,
        model_folder.find_vocabulary(None, path),
        str(folder),
        output_format=output_format,
        **options,
    )
    return folder


def assert_holds(folder, values):
    """Checks names, dtypes, shapes and every bit."""
    reader = loading.open_checkpoint(folder)
    assert reader.stored.keys() == values.keys()
    for name, value in values.items():
        read = reader.read(name)
        assert (read.dtype, read.shape) == (value.dtype, value.shape), name
        assert read.tobytes() == value.tobytes(), name


@pytest.mark.parametrize(
    "heads",
    [(), HEADS[:1], HEADS[1:2], HEADS[:2], HEADS[2:3], HEADS[3:], HEADS],
    ids=["none", "mlm", "nsp", "pre-training", "classifier", "SQuAD", "all"],
)
def test_a_journey_through_all_formats_keeps_every_bit(tmp_path, heads):
    # -0 and a NaN's own bits would not survive arithmetic.
    odd = np.array([0x80000000, 0x7FC00001, 0x00000001], np.uint32)
    values = make_source(
        tmp_path / "0", heads, **{"my_head/kernel": odd.view(np.float32)}
    )
    formats = ["huggingface", "2018", "model_garden", "2018", "model_garden"]
    formats += ["huggingface", "2018"]
    for step, output_format in enumerate(formats):
        source = tmp_path / str(step)
        assert_holds(source, values)
        convert(source, tmp_path / str(step + 1), output_format)
    last = tmp_path / str(len(formats))
    assert_holds(last, values)
    for name in ("bert_config.json", "vocab.txt", "bert_model.ckpt.index"):
        first = (tmp_path / "0" / name).read_bytes()
        assert (last / name).read_bytes() == first, name


@pytest.mark.parametrize("case", ["gelu", "relu_types16"])
@pytest.mark.parametrize("output_format", ["huggingface", "model_garden"])
def test_2018_s_own_models_come_back(golden, tmp_path, case, output_format):
    source = golden / "model" / case
    reader = loading.open_checkpoint(source)
    values = {name: reader.read(name) for name in reader.stored}
    convert(source, tmp_path / "there", output_format)
    convert(tmp_path / "there", tmp_path / "back", "2018")
    assert_holds(tmp_path / "back", values)


@pytest.mark.parametrize(
    "case", ["pretraining_gelu", "classifier_gelu_new", "qa_relu_bf16"]
)
def test_hugging_face_s_models_come_back(golden, tmp_path, case):
    source = golden / "huggingface" / case
    convert(source, tmp_path / "there", "2018")
    convert(tmp_path / "there", tmp_path / "back", "huggingface")
    expected = safetensors_of(source)
    written = safetensors_of(tmp_path / "back")
    # Names, and values; those of bfloat16 are float32 now.
    assert written.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(written[name], value)
    configs = [
        json.loads((folder / "config.json").read_text())
        for folder in (source, tmp_path / "back")
    ]
    assert configs[1].keys() - configs[0].keys() == {"torch_dtype"}
    for key in configs[1].keys() - {"torch_dtype"}:
        assert configs[0][key] == configs[1][key], key


def safetensors_of(folder):
    path = folder / "model.safetensors"
    return {
        name: value.astype(np.float32)
        for name, value in safetensors.numpy.load_file(path).items()
    }


def test_a_span_model_has_no_pooler_among_its_weights(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    make_source(tmp_path / "0", HEADS[3:])
    convert(tmp_path / "0", tmp_path / "1", "huggingface")
    names = safetensors_of(tmp_path / "1").keys()
    assert "qa_outputs.weight" in names
    assert not [name for name in names if "pooler" in name]
    assert (
        "BertForQuestionAnswering has no place for bert/pooler" in caplog.text
    )


@pytest.mark.parametrize("pooler", [True, False])
def test_a_classifier_s_labels_are_counted(tmp_path, pooler):
    # Of texts with a pooler, of pieces without: both have 7 labels.
    values = make_source(tmp_path / "0", HEADS[2:3])
    values = {n: v for n, v in values.items() if pooler or "pooler" not in n}
    prefix = str(tmp_path / "0" / "bert_model.ckpt")
    checkpoint_io.write_in_parts(prefix, values, values.__getitem__)
    convert(tmp_path / "0", tmp_path / "1", "huggingface")
    config = json.loads((tmp_path / "1" / "config.json").read_text())
    assert len(config["id2label"]) == 7
    assert config["architectures"] == [
        "BertForSequenceClassification"
        if pooler
        else "BertForTokenClassification"
    ]


def test_a_class_that_needs_no_pooler_is_taken_without_one(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    values = make_source(tmp_path / "0", HEADS[:2])
    for name in ("bert/pooler/dense/kernel", "bert/pooler/dense/bias"):
        del values[name]
    prefix = str(tmp_path / "0" / "bert_model.ckpt")
    checkpoint_io.write_in_parts(prefix, values, values.__getitem__)
    convert(tmp_path / "0", tmp_path / "1", "huggingface")
    assert "Hugging Face's class for it: BertForMaskedLM" in caplog.text
    assert "has no place for cls/seq_relationship/output_bias" in caplog.text
    assert_holds(tmp_path / "1", values)


# What belongs to a run.


def test_2018_to_2018_keeps_the_run(golden, tmp_path):
    prefix = golden / "run_pretraining" / "model.ckpt-12"
    reader = loading.open_checkpoint(prefix)
    convert(prefix, tmp_path / "copy", "2018")
    assert_holds(
        tmp_path / "copy", {name: reader.read(name) for name in reader.stored}
    )


@pytest.mark.parametrize("output_format", conversion.FORMATS)
def test_slots_and_step_are_left_out_and_named(
    golden, tmp_path, caplog, output_format
):
    caplog.set_level(logging.INFO)
    prefix = golden / "run_pretraining" / "model.ckpt-12"
    reader = loading.open_checkpoint(prefix)
    convert(prefix, tmp_path / "small", output_format, strip=True)
    slots = reader.slots()
    assert_holds(
        tmp_path / "small",
        {n: reader.read(n) for n in reader.stored if n not in slots},
    )
    assert "Left out, of the run: bert/embeddings/LayerNorm" in caplog.text


def test_the_encoder_alone(tmp_path):
    values = make_source(tmp_path / "0", HEADS)
    convert(tmp_path / "0", tmp_path / "1", "2018", encoder_only=True)
    assert_holds(
        tmp_path / "1",
        {n: v for n, v in values.items() if n.startswith("bert/")},
    )


def test_stripping_leaves_a_third(golden, tmp_path):
    prefix = golden / "run_pretraining" / "model.ckpt-12"
    folder = convert(prefix, tmp_path / "small", "2018", strip=True)
    suffix = ".data-00000-of-00001"
    small = (folder / f"bert_model.ckpt{suffix}").stat().st_size
    whole = prefix.with_name(f"model.ckpt-12{suffix}").stat().st_size
    assert small * 3 + 8 == whole  # the step takes 8 bytes


def test_what_is_no_float32_is_named_where_it_is_lost(tmp_path, caplog):
    make_source(tmp_path / "0", (), **{"count": np.int64(3)})
    convert(tmp_path / "0", tmp_path / "1", "huggingface")
    assert "Left out, for not being float32: count." in caplog.text
    # The others hold it.
    convert(tmp_path / "0", tmp_path / "2", "model_garden")
    assert loading.open_checkpoint(tmp_path / "2").read("count") == 3


# Configurations and vocabularies.


def test_the_exact_gelu_is_kept_and_said(golden, tmp_path, caplog):
    source = golden / "huggingface" / "pretraining_gelu"
    folder = convert(source, tmp_path / "0", "2018")
    config = BertConfig.from_json_file(folder / "bert_config.json")
    assert config.hidden_act == "gelu_erf"
    assert "exact form of GELU" in caplog.text


@pytest.mark.parametrize(
    ("pieces", "beside", "lower_case"),
    [
        ("[PAD]\na\n", None, True),
        ("[PAD]\nA\n", None, False),
        # What the model's own tokenizer says counts more.
        ("[PAD]\na\n", {"do_lower_case": False}, False),
        ("[PAD]\nA\n", {"do_lower_case": "?"}, False),
    ],
)
def test_the_letter_case_is_told(tmp_path, pieces, beside, lower_case, caplog):
    caplog.set_level(logging.INFO)
    source = tmp_path / "0"
    make_source(source, ())
    (source / "vocab.txt").write_text(pieces)
    if beside:
        (source / "tokenizer_config.json").write_text(json.dumps(beside))
    folder = convert(source, tmp_path / "1", "huggingface")
    written = json.loads((folder / "tokenizer_config.json").read_text())
    assert written["do_lower_case"] is lower_case
    assert f"--do_lower_case={str(lower_case).lower()}." in caplog.text


def test_a_model_garden_checkpoint_shows_its_sizes(tmp_path, caplog):
    make_source(tmp_path / "0", ())
    folder = convert(tmp_path / "0", tmp_path / "1", "model_garden")
    reader = loading.open_checkpoint(folder)
    assert conversion.infer_config(reader, "2018") == CONFIG
    assert "the activation is taken to be 2018's" in caplog.text


def test_where_the_heads_cannot_be_counted_a_configuration_is_needed(
    tmp_path, caplog
):
    make_source(tmp_path / "0", ())
    reader = loading.open_checkpoint(tmp_path / "0")
    assert conversion.infer_config(reader, "2018") is None
    assert "There is no bert_config.json beside" in caplog.text
    with pytest.raises(UserError, match="--bert_config_file must be given"):
        conversion.infer_config(reader, "huggingface")


def test_what_is_no_bert_is_not_copied_for_one(tmp_path):
    prefix = str(tmp_path / "m")
    checkpoint_io.write_in_parts(prefix, ["a/b"], lambda _: np.float32([1]))
    with pytest.raises(UserError, match="is of no BERT.*It has a/b"):
        conversion.infer_config(loading.open_checkpoint(prefix), "2018")


def test_model_garden_s_optimizer_is_no_part_of_2018_s(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    values = make_source(tmp_path / "0", ())
    folder = convert(tmp_path / "0", tmp_path / "1", "model_garden")
    reader = loading.open_checkpoint(folder)
    slot = "optimizer/iter/.ATTRIBUTES/VARIABLE_VALUE"
    reader.slots = lambda: {slot: None}
    (tmp_path / "2").mkdir()
    conversion.convert(
        reader, CONFIG, None, str(tmp_path / "2"), output_format="2018"
    )
    assert f"Left out, of the run: {slot}" in caplog.text
    assert_holds(tmp_path / "2", values)


def test_a_full_disk_is_an_error(tmp_path, monkeypatch):
    make_source(tmp_path / "0", ())

    def raise_no_space(*args, **kwargs):
        raise tf.errors.ResourceExhaustedError(None, None, "no space left")

    monkeypatch.setattr(checkpoint_io, "write_in_parts", raise_no_space)
    with pytest.raises(UserError, match="cannot be written: no space left on"):
        convert(tmp_path / "0", tmp_path / "1", "2018")
