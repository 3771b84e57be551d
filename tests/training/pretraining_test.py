"""The pre-training job, on the golden records: B=5, S=20, P=4, V=99."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.model import models
from bert_tf.training import distribution, pretraining, training_loop
from bert_tf.weights.loading import load_checkpoint


@pytest.fixture
def folder(golden):
    return golden / "run_pretraining"


@pytest.fixture
def make_job(folder, tmp_path):
    """Makes a Job in a folder of `tmp_path`, with dropout."""

    def make(name, **changes):
        config = BertConfig.from_json_file(str(folder / "bert_config.json"))
        values = {
            "config": dataclasses.replace(
                config, hidden_dropout_prob=0.3, num_hidden_layers=1
            ),
            "paths": [str(folder / "all_instances.tfrecord")],
            "output_dir": str(tmp_path / name),
            "max_seq_length": 20,
            "max_predictions_per_seq": 4,
            "strategy": distribution.build_strategy(),
            "seed": 5,
            **changes,
        }
        return pretraining.PretrainingJob(**values)

    return make


def settings(num_train_steps, **changes):
    return training_loop.LoopSettings(
        num_train_steps=num_train_steps, train_batch_size=3, **changes
    )


def train(job, settings, learning_rate, num_warmup_steps):
    schedule = training_loop.Schedule(learning_rate, num_warmup_steps)
    job.train(job.records, settings, schedule)


def stored(job, step):
    reader = tf.train.load_checkpoint(f"{job.output_dir}/model.ckpt-{step}")
    names = reader.get_variable_to_shape_map()
    return {name: reader.get_tensor(name) for name in names}


@pytest.mark.slow
def test_a_resumed_run_ends_where_an_uninterrupted_one_does(make_job, caplog):
    whole = make_job("whole")
    train(whole, settings(6, save_checkpoints_steps=2), 1e-3, 2)
    first = make_job("parts")
    train(first, settings(6, save_checkpoints_steps=2), 1e-3, 2)
    # As if it had been killed after step 4, to be started with another seed.
    state_file = f"{first.output_dir}/checkpoint"
    with open(state_file, "w") as stream:
        stream.write('model_checkpoint_path: "model.ckpt-4"\n')
    second = make_job("parts", seed=6)
    with caplog.at_level("INFO", "absl"):
        train(second, settings(6), 1e-3, 2)
    assert "after the 12 that were read, in the order of seed 5" in caplog.text
    # The same program on the same machine: every bit.
    expected, ended = stored(whole, 6), stored(second, 6)
    assert ended.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(ended[name], value, err_msg=name)


def test_evaluation_after_training_uses_the_trained_weights(make_job):
    job = make_job("run")
    train(job, settings(2), 1e-3, 0)
    results = job.evaluate(5, 100)
    assert results["global_step"] == 2
    again = make_job("run").evaluate(5, 100)
    assert again == results


def test_the_config_is_kept_beside_the_checkpoints(make_job):
    job = make_job("run")
    train(job, settings(1), 1e-3, 0)
    path = f"{job.output_dir}/bert_config.json"
    assert BertConfig.from_json_file(path) == job.config


def test_a_batch_that_does_not_divide_is_refused(make_job):
    class FourDevices:
        num_replicas_in_sync = 4

    job = make_job("run", strategy=FourDevices())
    with pytest.raises(UserError, match="--train_batch_size=3 .* 4 devices"):
        train(job, settings(1), 1e-3, 0)
    with pytest.raises(UserError, match="--eval_batch_size=5 .* 4 devices"):
        job.evaluate(5, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_seq_length": 19}, "20 entries, but --max_seq_length is 19"),
        ({"max_predictions_per_seq": 5}, "4 .*--max_predictions_per_seq is 5"),
        (
            {"config": BertConfig(vocab_size=9, type_vocab_size=2)},
            "`input_ids` holds .* 0 up and below 9",
        ),
        (
            {"config": BertConfig(vocab_size=99, type_vocab_size=1)},
            "`segment_ids` holds 1, .* below 1",
        ),
    ],
)
def test_records_that_do_not_fit_are_refused(make_job, changes, message):
    with pytest.raises(UserError, match=message):
        make_job("run", **changes).check_records()


# Evaluation by hand: a stand-in model whose logits are its inputs.
# B=2, P=3, V=4; the uniform logits give a cross entropy of ln 4 or ln 2.
LN2, LN4 = np.log(2.0), np.log(4.0)
SURE = 100.0


class Oracle:
    """A model whose outputs are its inputs."""

    input_names = ("masked_lm_logits", "next_sentence_logits")

    def __call__(self, inputs, training):
        assert not training
        return inputs


def evaluate(batches):
    return pretraining.Evaluator(Oracle()).evaluate(batches)


def batch(weights, masked_lm_logits):
    return {
        "masked_lm_logits": tf.constant(masked_lm_logits, tf.float32),
        "next_sentence_logits": tf.zeros([2, 2]),
        "masked_lm_ids": tf.constant([[1, 2, 0], [3, 0, 0]]),
        "masked_lm_weights": tf.constant(weights, tf.float32),
        "next_sentence_labels": tf.constant([[0], [1]]),
    }


def test_measures_by_hand():
    uniform = np.zeros([2, 3, 4])
    sure = uniform.copy()
    sure[0, 0, 1] = sure[0, 1, 2] = sure[1, 0, 3] = SURE  # all three right
    weights = [[1, 1, 0], [1, 0, 0]]
    results = evaluate([batch(weights, sure), batch(weights, uniform)])
    # Three of six positions with loss 0, three with ln 4. Uniform logits
    # choose piece 0, which is wrong for all three.
    assert results["masked_lm_loss"] == pytest.approx(LN4 / 2, rel=1e-6)
    assert results["masked_lm_accuracy"] == 0.5
    # A tie counts as label 0: right for one example of two.
    assert results["next_sentence_loss"] == pytest.approx(LN2, rel=1e-6)
    assert results["next_sentence_accuracy"] == 0.5
    # The mean over batches of 0 + ln 2 and (3 ln 4) / (3 + 1e-5) + ln 2.
    assert results["loss"] == pytest.approx(LN4 / 2 + LN2, rel=1e-5)


def test_without_a_masked_piece_all_is_finite():
    # Whole-word masking leaves an instance without one now and then (F29).
    results = evaluate([batch(np.zeros([2, 3]), np.zeros([2, 3, 4]))])
    assert results["masked_lm_loss"] == 0.0
    assert results["masked_lm_accuracy"] == 0.0
    assert results["loss"] == pytest.approx(LN2, rel=1e-6)


def test_training_losses_are_those_of_2018(golden):
    folder = golden / "model" / "gelu"
    config = BertConfig.from_json_file(str(folder / "bert_config.json"))
    model = models.pretraining_model(config)
    load_checkpoint(model, str(folder / "bert_model.ckpt"))
    arrays = np.load(folder / "forward.npz")
    batch = {
        name: tf.constant(arrays[name])
        for name in (
            *model.input_names,
            "masked_lm_ids",
            "masked_lm_weights",
            "next_sentence_labels",
        )
    }
    losses = pretraining.compute_losses(model, batch)
    # 1e-5: float32 sums in another order.
    for name in ("masked_lm_loss", "next_sentence_loss"):
        assert float(losses[name]) == pytest.approx(
            float(arrays[name]), abs=1e-5
        )
    assert float(losses["loss"]) == pytest.approx(
        float(arrays["masked_lm_loss"] + arrays["next_sentence_loss"]), abs=1e-5
    )
