import dataclasses

import pytest
import tensorflow as tf

from bert_tf import features
from bert_tf.data import input_pipeline
from bert_tf.data.record_writer import ExampleSerializer
from bert_tf.errors import UserError

S, P, V = 7, 3, 61


def serialize_example(kind, values):
    small = {
        name: bytes(values[name])
        for name in ("input_mask", "segment_ids")
        if name in values
    }
    return ExampleSerializer(kind).serialize({**values, **small})


def record(number, **changes):
    """A pre-training record whose `masked_lm_ids` begin with `number`."""
    values = {
        "input_ids": [2, 5, 6, 3, 7, 3, 0],
        "input_mask": [1, 1, 1, 1, 1, 1, 0],
        "segment_ids": [0, 0, 0, 0, 1, 1, 0],
        "masked_lm_positions": [2, 4, 0],
        "masked_lm_ids": [number, 8, 0],
        "masked_lm_weights": [1.0, 1.0, 0.0],
        "next_sentence_labels": [1],
        **changes,
    }
    return serialize_example(features.pretraining_features(S, P), values)


def write(path, records):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for serialized in records:
            writer.write(serialized)
    return str(path)


def record_files(paths):
    return input_pipeline.RecordFiles(
        paths=paths,
        features=features.pretraining_features(S, P),
        limits={"input_ids": V, "next_sentence_labels": 2},
    )


@pytest.fixture
def three_files(tmp_path):
    """Records 0 to 29, ten in each of three files."""
    return record_files(
        [
            write(tmp_path / f"{i}.tfrecord", map(record, range(i, i + 10)))
            for i in (0, 10, 20)
        ]
    )


def numbers(dataset, batches):
    """Returns the numbers of the records in the first batches."""
    return [
        int(number)
        for batch in dataset.take(batches)
        for number in batch["masked_lm_ids"][:, 0]
    ]


def test_a_batch_has_the_shapes_and_dtypes_of_the_records(three_files):
    dataset = input_pipeline.training_dataset(three_files, batch_size=4, seed=1)
    assert {
        name: (spec.shape.as_list(), spec.dtype)
        for name, spec in dataset.element_spec.items()
    } == {
        "input_ids": ([4, S], tf.int32),
        "input_mask": ([4, S], tf.int32),
        "segment_ids": ([4, S], tf.int32),
        "masked_lm_positions": ([4, P], tf.int32),
        "masked_lm_ids": ([4, P], tf.int32),
        "masked_lm_weights": ([4, P], tf.float32),
        "next_sentence_labels": ([4, 1], tf.int32),
    }


def test_training_reads_all_records_shuffled_and_for_ever(three_files):
    dataset = input_pipeline.training_dataset(
        three_files, batch_size=10, seed=1
    )
    # The buffer mixes passes, so that not every thirty records are all of
    # them; in ten passes all occur.
    seen = numbers(dataset, 30)
    assert set(seen) == set(range(30))
    assert seen[:30] != sorted(seen[:30])


def test_the_order_depends_on_the_seed_alone(three_files):
    def first(seed, global_seed=7):
        tf.random.set_seed(global_seed)
        return numbers(
            input_pipeline.training_dataset(
                three_files, batch_size=5, seed=seed
            ),
            20,
        )

    assert first(1) == first(1, global_seed=8)
    assert first(1) != first(2)


def test_reading_goes_on_where_it_stopped(three_files):
    def read(batches, **kwargs):
        dataset = input_pipeline.training_dataset(
            three_files, batch_size=4, seed=1, **kwargs
        )
        return numbers(dataset, batches)

    assert read(5) + read(6, examples_read=20) == read(11)


def test_evaluation_reads_in_order_and_from_the_start_again(three_files):
    dataset = input_pipeline.evaluation_dataset(
        three_files, batch_size=8, num_batches=5
    )
    # 30 records, 40 wanted.
    assert numbers(dataset, -1) == [*range(30), *range(10)]


def test_evaluation_fills_a_batch_that_is_larger_than_the_files(three_files):
    dataset = input_pipeline.evaluation_dataset(
        three_files, batch_size=64, num_batches=1
    )
    assert numbers(dataset, -1) == [*range(30), *range(30), *range(4)]


def test_count_records_ends_at_the_most(three_files):
    assert input_pipeline.count_records(three_files, 100) == 30
    assert input_pipeline.count_records(three_files, 12) == 12


@pytest.mark.parametrize("path", ["gone.tfrecord", "."])
def test_records_that_cannot_be_opened_are_named(tmp_path, path):
    files = record_files([str(tmp_path / path)])
    with pytest.raises(UserError, match="cannot be read|damaged"):
        input_pipeline.check_first_records(files)


def test_good_records_pass(three_files):
    input_pipeline.check_first_records(three_files)


@pytest.mark.parametrize(
    ("made_with", "message"),
    [
        ((9, P), "`input_ids` has 9 entries, but --max_seq_length is 7"),
        ((S, 2), "has 2 entries, but --max_predictions_per_seq is 3"),
    ],
)
def test_records_of_other_lengths_are_refused(tmp_path, made_with, message):
    kind = features.pretraining_features(*made_with)
    other = serialize_example(
        kind, {feature.name: [0] * feature.shape[0] for feature in kind}
    )
    path = write(tmp_path / "other.tfrecord", [other])
    with pytest.raises(
        UserError, match=f"other.tfrecord, record 1: .*{message}"
    ):
        input_pipeline.check_first_records(record_files([path]))


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        (
            "input_ids",
            [2, 5, 61, 3, 7, 3, 0],
            "holds 61, .* 0 up and below 61",
        ),
        ("input_ids", [2, 5, -1, 3, 7, 3, 0], "holds -1, but must be from 0"),
        (
            "next_sentence_labels",
            [2],
            "holds 2, .* below 2",
        ),
        ("next_sentence_labels", [], "has 0 entries, but it must have 1"),
    ],
)
def test_values_beyond_their_table_are_refused(tmp_path, name, values, message):
    path = write(tmp_path / "a.tfrecord", [record(1, **{name: values})])
    with pytest.raises(UserError, match=f"record 1: `{name}` {message}"):
        input_pipeline.check_first_records(record_files([path]))


def test_records_of_another_job_are_refused(tmp_path):
    other = serialize_example(
        [features.Feature("label_ids", (1,))], {"label_ids": [1]}
    )
    path = write(tmp_path / "other.tfrecord", [other])
    with pytest.raises(UserError, match="lacks input_ids, .* has label_ids"):
        input_pipeline.check_first_records(record_files([path]))


def test_a_record_that_is_no_example_is_refused(tmp_path):
    path = write(tmp_path / "a.tfrecord", [b"\xff\xff\xff"])
    with pytest.raises(UserError, match="record 1: not a tf.train.Example"):
        input_pipeline.check_first_records(record_files([path]))


def test_an_empty_file_is_refused(tmp_path):
    path = write(tmp_path / "empty.tfrecord", [])
    with pytest.raises(UserError, match="empty.tfrecord holds no records"):
        input_pipeline.check_first_records(record_files([path]))


def test_a_file_that_is_no_tfrecord_is_refused(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("One sentence a line, and long enough for a header.\n")
    with pytest.raises(UserError, match="not a TFRecord file: after 0 good"):
        input_pipeline.check_first_records(record_files([str(path)]))


def damage(path, change):
    content = bytearray(path.read_bytes())
    path.write_bytes(change(content))


@pytest.mark.parametrize(
    ("change", "good"),
    [
        # The last 7 bytes gone; a bit of the last record's checksum flipped.
        (lambda content: content[:-7], 9),
        (lambda content: content[:-1] + bytes([content[-1] ^ 1]), 9),
        # Cut inside a record. (Of a cut inside the 12 bytes before one
        # TensorFlow says nothing: the file just ends there.)
        (lambda content: content[: len(content) // 2 + 15], 5),
    ],
)
def test_a_damaged_file_is_named_with_its_good_records(
    three_files, tmp_path, change, good
):
    damage(tmp_path / "10.tfrecord", change)
    dataset = input_pipeline.training_dataset(
        three_files, batch_size=10, seed=1
    )
    message = f"10.tfrecord is damaged.* after {good} good records"
    with (
        pytest.raises(UserError, match=message),
        input_pipeline.naming_bad_records(three_files),
    ):
        numbers(dataset, 30)


def test_a_bad_record_further_on_is_named(three_files, tmp_path):
    records = [record(10), record(11), record(12, input_ids=[99] * S)]
    write(tmp_path / "10.tfrecord", records)
    input_pipeline.check_first_records(three_files)
    dataset = input_pipeline.training_dataset(
        three_files, batch_size=10, seed=1
    )
    message = "10.tfrecord, record 3: `input_ids` holds 99"
    with (
        pytest.raises(UserError, match=message),
        input_pipeline.naming_bad_records(three_files),
    ):
        numbers(dataset, 30)


@pytest.mark.parametrize("content", [None, b"", b"no record at all"])
def test_who_reads_records_says_what_to_do_about_bad_ones(tmp_path, content):
    path = tmp_path / "a.tfrecord"
    if content is not None:
        path.write_bytes(content)
    usual = record_files([str(path)])
    with pytest.raises(UserError, match="leave it out of --input_file"):
        input_pipeline.check_first_records(usual)
    own = dataclasses.replace(usual, remedy="Ask for it again.")
    with pytest.raises(UserError, match=r"Ask for it again\.$"):
        input_pipeline.check_first_records(own)


def test_errors_that_are_not_about_records_stay_as_they_are(three_files):
    error = tf.errors.InvalidArgumentError(None, None, "of the model")
    with (
        pytest.raises(tf.errors.InvalidArgumentError, match="of the model"),
        input_pipeline.naming_bad_records(three_files),
    ):
        raise error


# Reading once, in order.


def classifier_records(path, lengths):
    """Writes records of S=20 whose rows have so many pieces."""
    kind = features.classifier_features(20)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for index, length in enumerate(lengths):
            writer.write(
                serialize_example(
                    kind,
                    {
                        "input_ids": [index] * length + [0] * (20 - length),
                        "input_mask": [1] * length + [0] * (20 - length),
                        "segment_ids": [0] * 20,
                        "label_ids": [index],
                        "is_real_example": [1],
                    },
                )
            )
    return kind


@pytest.mark.parametrize(
    ("fixed_shapes", "shapes"),
    # 9 pieces are rounded up to 16, 17 to all of the 20.
    [(False, [(2, 16), (2, 20), (1, 8)]), (True, [(2, 20), (2, 20)])],
)
def test_ordered_batches_are_cut_to_their_longest_row(
    tmp_path, fixed_shapes, shapes
):
    path = tmp_path / "r.tfrecord"
    kind = classifier_records(path, [3, 9, 17, 20, 1])
    files = input_pipeline.RecordFiles(
        [str(path)], kind, {"input_ids": 99}, fixed_shapes=fixed_shapes
    )
    batches = list(input_pipeline.ordered_dataset(files, batch_size=2))
    assert [tuple(b["input_ids"].shape) for b in batches] == shapes
    labels = [n for b in batches for n in b["label_ids"].numpy().ravel()]
    assert labels == list(range(len(labels)))
    for batch in batches:
        assert batch["input_mask"].shape == batch["input_ids"].shape
        assert batch["segment_ids"].shape == batch["input_ids"].shape
        for row, label in zip(batch["input_ids"], batch["label_ids"]):
            assert set(row.numpy()) <= {int(label[0]), 0}
