import pytest
import tensorflow as tf

from bert_tf.errors import UserError
from bert_tf.training import distribution


def test_without_a_tpu_address_one_device_is_used():
    strategy = distribution.build_strategy()
    assert isinstance(strategy, tf.distribute.OneDeviceStrategy)
    assert strategy.num_replicas_in_sync == 1


@pytest.mark.parametrize("name", [None, "local"])
def test_a_missing_tpu_is_told_in_one_line(name):
    address = distribution.TpuAddress(tpu_name=name)
    message = f"--use_tpu: no TPU answers at --tpu_name={name} "
    with pytest.raises(UserError, match=message) as caught:
        distribution.build_strategy(address)
    assert "\n" not in str(caught.value)


class FakeTpu:
    """Stands in for a strategy over a TPU's cores."""

    num_replicas_in_sync = 8


def test_another_number_of_cores_is_told(monkeypatch):
    cluster = tf.distribute.cluster_resolver
    monkeypatch.setattr(cluster, "TPUClusterResolver", lambda **kwargs: None)
    tpu = tf.tpu.experimental
    monkeypatch.setattr(tpu, "initialize_tpu_system", lambda resolver: None)
    monkeypatch.setattr(
        tf.distribute, "TPUStrategy", lambda resolver: FakeTpu()
    )
    good = distribution.TpuAddress("local", num_tpu_cores=8)
    assert isinstance(distribution.tpu_strategy(good), FakeTpu)
    bad = distribution.TpuAddress("local", num_tpu_cores=4)
    with pytest.raises(UserError, match="--num_tpu_cores=4, .* local has 8"):
        distribution.tpu_strategy(bad)


def test_a_batch_must_divide_among_the_devices():
    distribution.require_even_batch(24, FakeTpu(), "train_batch_size")
    with pytest.raises(UserError, match="--train_batch_size=12 .* 8 devices"):
        distribution.require_even_batch(12, FakeTpu(), "train_batch_size")
