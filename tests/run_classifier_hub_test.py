"""Tests of run_classifier.py --bert_hub_module_handle, with modules made here.

B=3, S=7; numbers to 1e-5: the same model, written by another program.
"""

import json

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_hub as hub
from official.legacy.bert import configs
from official.nlp.tools import export_tfhub_lib

from bert_tf.config import BertConfig
from bert_tf.features import INPUT_KEYS
from bert_tf.model.encoder import BertEncoder
from bert_tf.serving import export
from bert_tf.serving.hub_encoder import HUB_INPUTS, HubEncoder
from bert_tf.weights import loading

TABLE = "text\tlabel\n" + "the cat\tyes\na dog\tno\n" * 4


@pytest.fixture
def tasks(golden):
    return golden / "tasks"


@pytest.fixture
def config(tasks):
    return BertConfig.from_json_file(str(tasks / "bert_config.json"))


@pytest.fixture
def ours(config, tasks, tmp_path):
    """The folder (str) of a module of this project, of a cased model."""
    served = HubEncoder(
        BertEncoder(config),
        config,
        vocab_file=str(tasks / "vocab.txt"),
        do_lower_case=False,
    )
    return export.export(served, str(tmp_path / "ours"), verify=False)


@pytest.fixture
def model_gardens(tasks, tmp_path):
    """The folder (str) of a module of Model Garden's, of a cased model."""
    config_file = str(tasks / "bert_config.json")
    config = configs.BertConfig.from_json_file(config_file)
    encoder = export_tfhub_lib.get_bert_encoder(config)
    saver = tf.train.Checkpoint(model=encoder, encoder=encoder)
    folder = str(tmp_path / "model_gardens")
    export_tfhub_lib.export_model(
        folder,
        bert_config=config,
        model_checkpoint_path=saver.save(str(tmp_path / "ckpt")),
        with_mlm=False,
        vocab_file=str(tasks / "vocab.txt"),
        do_lower_case=False,
    )
    return folder


@pytest.fixture
def run(run_script, tmp_path):
    def run(*words, **options):
        data = tmp_path / "data"
        data.mkdir(exist_ok=True)
        for name in ("train", "dev"):
            (data / f"{name}.tsv").write_text(TABLE)
        return run_script(
            "run_classifier.py",
            "--task_name=tsv",
            f"--data_dir={data}",
            "--text_a_column=text",
            "--label_column=label",
            f"--output_dir={tmp_path / 'out'}",
            "--do_train",
            "--train_batch_size=2",
            "--max_seq_length=16",
            "--num_train_epochs=1",
            *words,
            **options,
        )

    return run


def _require_same(folder, config):
    """Checks that a module's weights, read, give what the module gives."""
    encoder = BertEncoder(config)
    assert not loading.load_checkpoint(encoder, folder).new
    ids = np.arange(21, dtype=np.int32).reshape(3, 7)
    values = ids, np.where(ids % 7 < 5, 1, 0).astype(np.int32), ids % 2
    actual = encoder(dict(zip(INPUT_KEYS, values)))
    expected = hub.load(folder)(dict(zip(HUB_INPUTS, values)))
    for name in ("pooled_output", "sequence_output"):
        np.testing.assert_allclose(actual[name], expected[name], atol=1e-5)


def _require_trained(result, folder, format_name, tasks, tmp_path):
    assert result.returncode == 0, result.stderr
    prefix = f"{folder}/variables/variables"
    assert f"Loaded 39 variables from {prefix} ({format_name})" in result.stderr
    assert (tmp_path / "out" / "model.ckpt-4.index").exists()
    # The module's vocabulary and letter case go along.
    kept = (tmp_path / "out" / "vocab.txt").read_bytes()
    assert kept == (tasks / "vocab.txt").read_bytes()
    said = (tmp_path / "out" / "tokenizer_config.json").read_text()
    assert json.loads(said)["do_lower_case"] is False


@pytest.mark.slow
def test_an_encoder_of_this_project(run, ours, config, tasks, tmp_path):
    """It brings all that goes with it."""
    _require_same(ours, config)
    result = run(f"--bert_hub_module_handle={ours}")
    _require_trained(result, ours, "SavedModel", tasks, tmp_path)


@pytest.mark.slow
def test_an_encoder_of_model_garden(
    run, model_gardens, config, tasks, tmp_path
):
    """It brings all but the configuration."""
    _require_same(model_gardens, config)
    handle = f"--bert_hub_module_handle={model_gardens}"
    config_file = tasks / "bert_config.json"
    result = run(handle, f"--bert_config_file={config_file}")
    _require_trained(
        result, model_gardens, "Model Garden checkpoint", tasks, tmp_path
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--init_checkpoint=x"], "give one of them"),
        ([], "is no SavedModel of an encoder"),
    ],
)
def test_wrong_flags_are_told_without_tensorflow(run, tmp_path, words, told):
    handle = f"--bert_hub_module_handle={tmp_path}"
    result = run(handle, *words, with_tensorflow=False)
    assert result.returncode == 1
    assert result.stderr.startswith("error: --bert_hub_module_handle")
    assert told in result.stderr
