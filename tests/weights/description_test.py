"""Tests of describing checkpoints."""

from bert_tf.config import BertConfig
from bert_tf.formats import huggingface_config
from bert_tf.weights import loading
from bert_tf.weights.description import describe


def test_a_training_checkpoint_is_described(golden):
    folder = golden / "run_pretraining"
    path = str(folder / "bert_config.json")
    config = BertConfig.from_json_file(path)
    reader = loading.open_checkpoint(folder / "model.ckpt-12")
    model = [name for name in reader.stored if name not in reader.slots()]
    lines = describe(reader, config, path).splitlines()
    told = dict(line.split(": ", 1) for line in lines)
    assert told["format"] == "2018 checkpoint"
    assert told["step"] == "12"
    assert told["heads"] == "masked language model, next sentence"
    assert told["optimizer slots and steps"] == str(2 * len(model) + 1)
    assert "4 attention heads, activation 'gelu'" in told["configuration"]
    assert "other variables" not in told


def test_a_hugging_face_model_is_described(golden):
    folder = golden / "huggingface" / "qa_relu_bf16"
    path = str(folder / "config.json")
    reader = loading.open_checkpoint(folder)
    text = describe(reader, huggingface_config.read(path), path)
    # The encoder's parameters by hand: embeddings (97 + 40 + 2) 48 + 96; in
    # each of 3 layers 4 (48 48 + 48) + 2 96 + 2 48 64 + 64 + 48; the head's
    # 2 48 + 2.
    encoder = 139 * 48 + 96 + 3 * (4 * 49 * 48 + 192 + 2 * 48 * 64 + 112)
    assert text == (
        "format: Hugging Face safetensors, BF16\n"
        f"path: {folder / 'model.safetensors'}\n"
        "step: none\n"
        "sizes: layers 3, hidden size 48, intermediate size 64, vocabulary 97, "
        "positions 40, segments 2\n"
        f"configuration: {path}: 4 attention heads, activation 'relu'\n"
        "heads: SQuAD\n"
        f"parameters: {encoder + 98:,}, of them the encoder's {encoder:,}\n"
        "optimizer slots and steps: 0\n"
    )


def test_without_a_configuration_it_says_what_is_unknown(golden):
    reader = loading.open_checkpoint(golden / "model" / "gelu")
    assert "configuration: none beside it; the num" in describe(reader)


def test_a_configuration_that_does_not_fit_is_told(golden):
    reader = loading.open_checkpoint(golden / "model" / "gelu")
    path = str(golden / "model" / "relu_types16" / "bert_config.json")
    text = describe(reader, BertConfig.from_json_file(path), path)
    assert "it does not fit: `" in text
    assert "other variables" not in text


def test_variables_that_no_bert_has_are_named(golden):
    folder = golden / "model" / "gelu"
    path = str(folder / "bert_config.json")
    reader = loading.open_checkpoint(folder)
    reader.stored["my_head/kernel"] = reader.stored["bert/pooler/dense/kernel"]
    text = describe(reader, BertConfig.from_json_file(path), path)
    assert "other variables: my_head/kernel\n" in text
