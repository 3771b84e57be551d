"""The job of answering questions: S=48, D=32, the golden weights."""

import numpy as np
import pytest
import tensorflow as tf

from bert_tf.config import BertConfig
from bert_tf.errors import UserError
from bert_tf.squad.converter import FIRST_UNIQUE_ID, Conversion, write_records
from bert_tf.squad.examples import read_squad_examples
from bert_tf.training import distribution, question_answering, training_loop


@pytest.fixture
def make_job(golden, tmp_path):
    def make(**changes):
        path = golden / "tasks" / "bert_config.json"
        values = {
            "config": BertConfig.from_json_file(str(path)),
            "max_seq_length": 48,
            "output_dir": str(tmp_path / "out"),
            "strategy": distribution.build_strategy(),
            "init_checkpoint": str(golden / "tasks" / "squad" / "squad.ckpt"),
            "seed": 3,
            **changes,
        }
        (tmp_path / "out").mkdir(exist_ok=True)
        return question_answering.SquadJob(**values)

    return make


@pytest.fixture
def records(golden, tmp_path):
    """Writes the golden records of a file; gives the path and their number."""

    def write(name="dev-v1", **padding):
        examples = read_squad_examples(
            str(golden / "tasks" / "squad" / f"{name}.json"),
            is_training=name.startswith("train"),
        )
        converter = Conversion(
            vocab_file=str(golden / "tasks" / "vocab.txt"),
            do_lower_case=True,
            max_seq_length=48,
            max_query_length=12,
            doc_stride=16,
        ).new_converter()
        make = (
            converter.training_records
            if name.startswith("train")
            else converter.prediction_records
        )
        if padding:
            padding["padding"] = converter.padding_record()
        path = str(tmp_path / f"{name}.tf_record")
        return path, write_records(path, make(examples), **padding)

    return write


def logits_of(job, path, batch_size):
    return [np.concatenate(part) for part in zip(*job.logits(path, batch_size))]


def test_logits_do_not_depend_on_batches_and_padding(make_job, records):
    # 79 windows: 16 and a last 15; or 20, the last filled up with one.
    path, num_records = records()
    ids, starts, ends = logits_of(make_job(), path, 16)
    assert ids.tolist() == [FIRST_UNIQUE_ID + i for i in range(num_records)]
    assert starts.shape == ends.shape == (79, 48)
    path, _ = records(batch_size=20)
    fixed = make_job(use_one_hot_embeddings=True)
    filled = logits_of(fixed, path, 20)
    np.testing.assert_array_equal(filled[0], ids)
    # Sums of float32 in another order.
    np.testing.assert_allclose(filled[1], starts, atol=1e-5)
    np.testing.assert_allclose(filled[2], ends, atol=1e-5)


def test_several_devices_give_the_same_logits(make_job, records):
    path, _ = records()
    devices = ["CPU:0", "CPU:1"]
    several = make_job(strategy=tf.distribute.MirroredStrategy(devices))
    one = logits_of(make_job(), path, 16)
    for made, expected in zip(logits_of(several, path, 16), one):
        np.testing.assert_allclose(made, expected, atol=1e-5)


def test_the_loss_of_training_falls(make_job, records, tmp_path):
    path, _ = records("train-v1")
    job = make_job(init_checkpoint=None)
    job.check_head(to_train=True)
    losses = []
    compute = job.compute_losses

    def noted(model, batch):
        loss = compute(model, batch)
        tf.py_function(lambda x: losses.append(float(x)), [loss["loss"]], [])
        return loss

    job.compute_losses = noted
    settings = training_loop.LoopSettings(
        num_train_steps=30, train_batch_size=8
    )
    job.train(
        job.records(path, is_training=True),
        settings,
        training_loop.Schedule(5e-3, 3),
    )
    assert (tmp_path / "out" / "model.ckpt-30.index").exists()
    # At chance it is log 48 = 3.87.
    assert losses[0] == pytest.approx(np.log(48), abs=0.2)
    assert np.mean(losses[-5:]) < 0.8 * losses[0]


def test_a_checkpoint_without_the_head_is_for_training_only(golden, make_job):
    path = golden / "tasks" / "classifier" / "two_labels.ckpt"
    job = make_job(init_checkpoint=str(path))
    job.check_head(to_train=True)
    with pytest.raises(UserError, match="two_labels.ckpt holds no head that"):
        job.check_head(to_train=False)


def test_without_a_checkpoint_nothing_can_be_answered(make_job):
    with pytest.raises(UserError, match="there is no trained model"):
        make_job(init_checkpoint=None).check_head(to_train=False)


def test_a_position_beyond_the_sequence_is_found(make_job, records):
    path, _ = records("train-v1")
    made = list(tf.data.TFRecordDataset(path))
    example = tf.train.Example.FromString(made[2].numpy())
    example.features.feature["end_positions"].int64_list.value[:] = [48]
    with tf.io.TFRecordWriter(path) as writer:
        for record in [*made[:2], example.SerializeToString()]:
            writer.write(record.numpy() if tf.is_tensor(record) else record)
    job = make_job()
    settings = training_loop.LoopSettings(num_train_steps=2, train_batch_size=3)
    with pytest.raises(UserError, match="record 3: `end_positions` holds 48"):
        job.train(
            job.records(path, is_training=True),
            settings,
            training_loop.Schedule(1e-3, 0),
        )
