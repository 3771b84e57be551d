"""Instances: held short, spelled out when asked for."""

import types

import pytest

from bert_tf.data import documents, instances, masking

_INV_VOCAB = {1: "[CLS]", 2: "[SEP]", 3: "[MASK]", 4: "the", 5: "cat", 7: "on"}


@pytest.fixture
def made():
    """Two instances over the pieces `the cat sat on the`."""
    texts = documents.Documents()
    texts.add_sentence([4, 5, 6])
    texts.add_sentence([7, 4])
    texts.end_document()
    piece_ids = masking.PieceIds(
        cls_id=1, sep_id=2, mask_id=3, distinct=(), continuing=frozenset()
    )
    options = types.SimpleNamespace(max_seq_length=11)
    made = instances.Instances(texts, piece_ids, options)
    made.append(instances.Pair(0, 2, 3, 5, False), [(2, 3), (4, 7)])
    made.append(instances.Pair(2, 3, 0, 1, True), [(1, 5)])
    return made


def test_instances_spell_out_what_was_appended(made):
    # [CLS] the cat [SEP] on the [SEP], with cat masked and on left as it is.
    assert made[0] == instances.Instance(
        input_ids=[1, 4, 3, 2, 7, 4, 2],
        segment_ids=[0, 0, 0, 0, 1, 1, 1],
        masked_lm_positions=[2, 4],
        masked_lm_ids=[5, 7],
        is_random_next=False,
    )
    # [CLS] sat [SEP] the [SEP], with cat in the place of sat.
    assert made[1] == instances.Instance(
        input_ids=[1, 5, 2, 4, 2],
        segment_ids=[0, 0, 0, 1, 1],
        masked_lm_positions=[1],
        masked_lm_ids=[6],
        is_random_next=True,
    )
    assert len(made) == 2
    assert len(list(made)) == 2


def test_instances_follow_their_order(made):
    first, second = made
    made.order[0], made.order[1] = 1, 0
    assert list(made) == [second, first]


def test_summarize_gives_counts_and_means(made):
    made.num_truncated = 1
    assert instances.summarize(made) == (
        "2 instances: on average 6.0 pieces, 1.5 of them masked; 50% have a "
        "random next part; 1 lost pieces to fit in 11"
    )


def test_spell_shows_masked_and_replacing_pieces(made):
    assert instances.spell(made[0], _INV_VOCAB) == (
        "[CLS] the (cat>[MASK]) [SEP] (on>on) the [SEP]"
    )
