"""Documents to instances to records: by hand, and mistakes."""

import dataclasses
import logging
import os
import random
import types

import pytest

from bert_tf.data import documents, instances, masking, pretraining_data
from bert_tf.errors import UserError

_PIECE_IDS = masking.PieceIds(
    cls_id=1,
    sep_id=2,
    mask_id=3,
    distinct=tuple(range(40)),
    continuing=frozenset(range(25, 40)),
)


def _texts(*all_documents):
    """Returns Documents of lists of sentences."""
    texts = documents.Documents()
    for sentences in all_documents:
        for sentence in sentences:
            texts.add_sentence(sentence)
        texts.end_document()
    return texts


def _create(texts, *, seed=5, **changes):
    options = pretraining_data.InstanceOptions(**changes)
    rng = random.Random(seed)
    made = pretraining_data.create_instances(texts, _PIECE_IDS, options, rng)
    return made, rng


# Parts of it by hand.


class _Coins:
    """Stands for random.Random: `random()` gives what a test wrote down."""

    def __init__(self, *floats):
        self.floats = list(floats)

    def random(self):
        return self.floats.pop(0)


def test_truncate_worked_example():
    """A is 10..16 (7 pieces), B is 20..25 (6); 9 may stay, so 4 must go.

    7 and 6: A, at the front (0.49).  -> 11..16
    6 and 6: on a tie B, at the back (0.5).  -> 20..24
    6 and 5: A, at the back (0.9).  -> 11..15
    5 and 5: B, at the front (0.0).  -> 21..24
    """
    coins = _Coins(0.49, 0.5, 0.9, 0.0)
    pair = instances.Pair(10, 17, 20, 26, True)
    truncated = pretraining_data._truncate(pair, 9, coins)
    assert truncated == instances.Pair(11, 16, 21, 25, True)
    assert coins.floats == []


def test_truncate_leaves_what_fits_and_draws_nothing():
    pair = instances.Pair(10, 14, 20, 25, False)
    assert pretraining_data._truncate(pair, 9, _Coins()) == pair


@pytest.mark.parametrize(
    ("first", "wanted", "expected"),
    [
        (0, 1, 1),
        (0, 4, 1),
        (0, 5, 2),
        (1, 8, 4),  # 3 + 5 pieces, with the one of no length between
        (0, 99, 4),  # the document ends
        (1, 0, 2),  # one sentence at least
        (3, -7, 4),
    ],
)
def test_end_of_run_is_the_first_with_enough_pieces(first, wanted, expected):
    # Sentences of 4, 3, 1, 4 and 6 pieces; the last is another document's.
    starts = [0, 4, 7, 8, 12, 18]
    end = pretraining_data._end_of_run(starts, first, 4, wanted)
    assert end == expected


# Documents, seeds and counts.


def test_create_instances_counts_what_it_makes():
    texts = _texts([[4, 5, 6], [7, 8]], [[9] * 30])
    made, _ = _create(texts, max_seq_length=12, dupe_factor=3)
    all_made = list(made)
    assert len(made) == len(all_made) >= 6
    assert made.num_pieces == sum(len(one.input_ids) for one in all_made)
    assert made.num_masked == sum(len(one.masked_lm_ids) for one in all_made)
    assert made.num_random_next == sum(one.is_random_next for one in all_made)
    # The sentence of 30 pieces fits nowhere; the others always fit.
    assert made.num_truncated == sum(9 in one.input_ids for one in all_made)


def test_create_instances_differs_by_seed():
    texts = _texts([[4, 5, 6], [7, 8]], [[9, 10], [11]])
    first, again, other = (_create(texts, seed=s)[0] for s in (1, 1, 2))
    assert list(first) == list(again)
    assert list(first) != list(other)


def test_create_instances_warns_once_of_a_single_document(caplog):
    with caplog.at_level(logging.WARNING):
        made, _ = _create(_texts([[4, 5], [6, 7, 8], [9]]), dupe_factor=4)
    assert len(made) >= 4
    (record,) = caplog.records
    assert "only one document" in record.getMessage()


def test_create_instances_is_silent_with_two_documents(caplog):
    with caplog.at_level(logging.WARNING):
        _create(_texts([[4, 5]], [[6]]))
    assert not caplog.records


def test_create_instances_of_least_length():
    # [CLS] a [SEP] b [SEP]: five pieces, the least there can be.
    texts = _texts([[4, 5, 6], [7, 8]], [[9] * 7])
    made, _ = _create(texts, max_seq_length=5, short_seq_prob=1.0)
    assert {len(one.input_ids) for one in made} == {5}


def test_instances_take_a_quarter_of_a_kilobyte():
    texts = _texts(*[[[4 + i % 9] * 25] * 4 for i in range(30)])
    made, _ = _create(texts)
    held = (made._rows, made._row_starts, made.order)
    num_bytes = sum(len(array) * array.itemsize for array in held)
    # 5 ends and flags, 20 positions and 20 replacements of 4 bytes; 16 more.
    assert num_bytes <= len(made) * (45 * 4 + 16) + 8


@pytest.mark.parametrize(
    ("flag", "value", "rule"),
    [
        ("max_seq_length", 4, "the minimum is 5"),
        ("max_seq_length", -1, "the minimum is 5"),
        ("max_predictions_per_seq", 0, "the minimum is 1"),
        ("dupe_factor", 0, "the minimum is 1"),
        ("masked_lm_prob", -0.1, "between 0 and 1"),
        ("masked_lm_prob", 15.0, "between 0 and 1"),
        ("short_seq_prob", 1.01, "between 0 and 1"),
        ("short_seq_prob", float("nan"), "between 0 and 1"),
    ],
)
def test_options_refuse_values_out_of_range(flag, value, rule):
    with pytest.raises(UserError, match=f"--{flag}={value}.*{rule}.*default"):
        pretraining_data.InstanceOptions(**{flag: value})


def test_options_default_to_those_of_2018():
    assert dataclasses.astuple(pretraining_data.InstanceOptions()) == (
        128,
        20,
        10,
        0.15,
        0.1,
        False,
    )


# Output files.


def test_prepare_output_files_makes_folders_with_parents(tmp_path):
    value = f"{tmp_path}/new/a/x.tfrecord,{tmp_path}/b/y.tfrecord"
    assert pretraining_data.prepare_output_files(value, []) == value.split(",")
    assert (tmp_path / "new" / "a").is_dir()
    assert (tmp_path / "b").is_dir()


@pytest.mark.parametrize("value", [None, "", "a,,b", "a,"])
def test_prepare_output_files_refuses_no_path(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="--output_file=.*'' is no path"):
        pretraining_data.prepare_output_files(value, [])


def test_prepare_output_files_refuses_a_path_twice(tmp_path):
    value = f"{tmp_path}/x,{tmp_path}/./x"
    with pytest.raises(UserError, match="also another output file"):
        pretraining_data.prepare_output_files(value, [])


def test_prepare_output_files_refuses_an_input(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("Hello.\n")
    (tmp_path / "link").symlink_to(text)
    with pytest.raises(UserError, match="link' is also an input file"):
        pretraining_data.prepare_output_files(f"{tmp_path}/link", [str(text)])


@pytest.mark.parametrize("name", ["folder", "pipe"])
def test_prepare_output_files_refuses_what_is_no_plain_file(tmp_path, name):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match=f"{name}' is there and no plain file"):
        pretraining_data.prepare_output_files(str(tmp_path / name), [])


def test_prepare_output_files_refuses_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="--output_file.*cannot be made"):
        pretraining_data.prepare_output_files(f"{tmp_path}/file/x", [])


def test_write_instances_deals_them_out_in_turn(tmp_path, read_records):
    made, _ = _create(_texts([[4, 5]], [[6]]), dupe_factor=5, max_seq_length=9)
    paths = [str(tmp_path / name) for name in ("x", "y", "z")]
    assert pretraining_data.write_instances(made, paths) == [4, 3, 3]
    for first, path in enumerate(paths):
        ids = [record["input_ids"] for record in read_records(path)]
        expected = [list(made)[i].input_ids for i in range(first, 10, 3)]
        assert ids == [one + [0] * (9 - len(one)) for one in expected]
    # Nothing else is left there.
    assert sorted(os.listdir(tmp_path)) == ["x", "y", "z"]


def test_write_instances_pads_one_without_a_masked_position(
    tmp_path, read_records
):
    # Words of 8 pieces where 2 may be masked: weights 0, but written.
    word = [4, *[30] * 7]
    made, _ = _create(
        _texts([word], [word]),
        max_predictions_per_seq=2,
        do_whole_word_mask=True,
        max_seq_length=20,
        dupe_factor=1,
    )
    pretraining_data.write_instances(made, [str(tmp_path / "x")])
    records = read_records(tmp_path / "x")
    assert len(records) == 2
    for record in records:
        assert record["input_mask"] == [1] * 19 + [0]
        assert record["masked_lm_positions"] == [0, 0]
        assert record["masked_lm_ids"] == [0, 0]
        assert record["masked_lm_weights"] == [0.0, 0.0]
        assert record["next_sentence_labels"] == [1]


def test_remote_paths_are_read_and_written(read_records):
    # TensorFlow's in-memory file system stands for gs://.
    import tensorflow as tf

    text, output = "ram://in/text.txt", "ram://out/a/x.tfrecord"
    tf.io.gfile.makedirs("ram://in")
    with tf.io.gfile.GFile(text, "wb") as stream:
        stream.write("a b\u2028c\n\nd e f\n".encode())
    tokenizer = types.SimpleNamespace(
        tokenize_to_ids=lambda line: [ord(word) - 90 for word in line.split()]
    )
    paths = pretraining_data.prepare_output_files(output, [text])
    texts = documents.read_documents([text], tokenizer)
    assert texts.pieces.tolist() == [7, 8, 9, 10, 11, 12]
    assert len(texts) == 2
    made, _ = _create(texts, dupe_factor=4)
    assert pretraining_data.write_instances(made, paths) == [8]
    assert len(read_records(output)) == 8
    assert tf.io.gfile.listdir("ram://out/a") == ["x.tfrecord"]
    with pytest.raises(UserError, match="also an input file"):
        pretraining_data.prepare_output_files(text, [text])


def test_write_instances_refuses_files_that_would_be_empty(tmp_path):
    made, _ = _create(_texts([[4, 5]], [[6]]), dupe_factor=1)
    paths = [str(tmp_path / name) for name in ("x", "y", "z")]
    with pytest.raises(UserError, match="names 3 files for 2 instances"):
        pretraining_data.write_instances(made, paths)
    assert os.listdir(tmp_path) == []


def test_write_instances_leaves_no_half_written_file(tmp_path, monkeypatch):
    made, _ = _create(_texts([[4, 5]], [[6]]), dupe_factor=5)
    (tmp_path / "x").write_bytes(b"from an earlier run")
    serialized = iter([b"record"])
    # The second record fails: StopIteration, which no one expects.
    broken = types.SimpleNamespace(serialize=lambda values: next(serialized))
    monkeypatch.setattr(
        pretraining_data, "ExampleSerializer", lambda kind: broken
    )
    paths = [str(tmp_path / "x"), str(tmp_path / "y")]
    with pytest.raises(StopIteration):
        pretraining_data.write_instances(made, paths)
    assert os.listdir(tmp_path) == ["x"]
    assert (tmp_path / "x").read_bytes() == b"from an earlier run"


def test_write_instances_names_the_file_it_cannot_write(tmp_path):
    made, _ = _create(_texts([[4, 5]], [[6]]))
    path = str(tmp_path / "gone" / "x")
    with pytest.raises(UserError, match="Writing .*gone/x failed: .*gone"):
        pretraining_data.write_instances(made, [path])
