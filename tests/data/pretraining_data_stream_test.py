"""Instance making, draw for draw, against 2018 and a plain way to do it.

The plain way calls the methods of random.Random and works on lists. It agrees
with 2018 on the golden cases, and stands in for 2018 where there is none.
"""

import gzip
import json
import random

import pytest

from bert_tf.data import documents, instances, masking, pretraining_data
from bert_tf.text import tokenization

_CASES = (
    "plain",
    "many_files",
    "whole_word",
    "cased_short",
    "one_document",
    "two_outputs",
)
_PIECE_IDS = masking.PieceIds(
    cls_id=1,
    sep_id=2,
    mask_id=3,
    distinct=tuple(range(40)),
    continuing=frozenset(range(25, 40)),
)


@pytest.mark.parametrize("case", _CASES)
def test_records_equal_those_of_2018(
    case, golden, shared_file, tmp_path, read_records
):
    vocab_file = str(shared_file("data/vocab/uncased_30522.txt"))
    folder = golden / "pretraining_data"
    cases = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    flags = cases[case]["flags"]
    rng = random.Random(flags.pop("random_seed"))
    tokenizer = tokenization.FullTokenizer(
        vocab_file, do_lower_case=flags.pop("do_lower_case", True)
    )
    made = pretraining_data.create_instances(
        documents.read_documents(
            [str(folder / name) for name in cases[case]["inputs"]], tokenizer
        ),
        masking.PieceIds.from_vocab(tokenizer.vocab, vocab_file),
        pretraining_data.InstanceOptions(**flags),
        rng,
    )
    paths = [str(tmp_path / f"{i}") for i in range(cases[case]["outputs"])]
    counts = pretraining_data.write_instances(made, paths)

    expected = [[] for _ in paths]
    with gzip.open(folder / f"{case}.jsonl.gz", "rt") as lines:
        for line in lines:
            record = json.loads(line)
            expected[record.pop("shard")].append(record)
    assert [read_records(path) for path in paths] == expected
    assert counts == [len(records) for records in expected]
    assert sum(counts) == cases[case]["instances"]


def _plain_instances(all_documents, piece_ids, options, rng):
    rng.shuffle(all_documents)
    made = []
    for _ in range(options.dupe_factor):
        for index in range(len(all_documents)):
            for a, b, is_random in _plain_pairs(
                all_documents, index, options, rng
            ):
                made.append(_plain_mask(a, b, piece_ids, options, rng))
                made[-1] = made[-1]._replace(is_random_next=is_random)
    rng.shuffle(made)
    return made


def _plain_pairs(all_documents, index, options, rng):
    document = all_documents[index]
    room = wanted = options.max_seq_length - 3
    if rng.random() < options.short_seq_prob:
        wanted = rng.randint(2, room)
    first = 0
    while first < len(document):
        chunk = _plain_run(document[first:], wanted)
        cut = rng.randint(1, len(chunk) - 1) if len(chunk) > 1 else 1
        a, b = sum(chunk[:cut], []), sum(chunk[cut:], [])
        is_random = len(chunk) == 1 or rng.random() < 0.5
        if is_random:
            for _ in range(10):
                other = rng.randint(0, len(all_documents) - 1)
                if other != index:
                    break
            start = rng.randint(0, len(all_documents[other]) - 1)
            b = _plain_run(all_documents[other][start:], wanted - len(a))
            b = sum(b, [])
        first += cut if is_random else len(chunk)
        _plain_truncate(a, b, room, rng)
        yield a, b, is_random


def _plain_truncate(a, b, room, rng):
    while len(a) + len(b) > room:
        longer = a if len(a) > len(b) else b
        longer.pop(0 if rng.random() < 0.5 else -1)


def _plain_run(sentences, wanted):
    run = []
    for sentence in sentences:
        run.append(sentence)
        if sum(map(len, run)) >= wanted:
            break
    return run


def _plain_mask(a, b, piece_ids, options, rng):
    ids = [piece_ids.cls_id, *a, piece_ids.sep_id, *b, piece_ids.sep_id]
    words = []
    for position in [*range(1, len(a) + 1), *range(len(a) + 2, len(ids) - 1)]:
        joins = words and ids[position] in piece_ids.continuing
        if options.do_whole_word_mask and joins:
            words[-1].append(position)
        else:
            words.append([position])
    rng.shuffle(words)
    wanted = max(1, round(len(ids) * options.masked_lm_prob))
    wanted = min(options.max_predictions_per_seq, wanted)
    shown = {}
    for word in words:
        if len(shown) + len(word) > wanted:
            continue
        for position in word:
            shown[position] = piece_ids.mask_id
            if rng.random() >= 0.8:
                shown[position] = ids[position]
                if rng.random() >= 0.5:
                    shown[position] = rng.choice(piece_ids.distinct)
    return instances.Instance(
        input_ids=[shown.get(i, piece) for i, piece in enumerate(ids)],
        segment_ids=[0] * (len(a) + 2) + [1] * (len(b) + 1),
        masked_lm_positions=sorted(shown),
        masked_lm_ids=[ids[position] for position in sorted(shown)],
        is_random_next=None,
    )


@pytest.mark.parametrize("seed", range(60))
def test_create_instances_equals_the_plain_way(seed):
    chooser = random.Random(1000 + seed)
    all_documents = [
        [
            [chooser.randint(4, 39) for _ in range(chooser.randint(1, 12))]
            for _ in range(chooser.choice([1, 2, 9, 30]))
        ]
        for _ in range(chooser.choice([1, 2, 3, 17]))
    ]
    options = pretraining_data.InstanceOptions(
        max_seq_length=chooser.choice([5, 6, 11, 37, 128]),
        max_predictions_per_seq=chooser.choice([1, 3, 20, 200]),
        dupe_factor=chooser.choice([1, 2, 5]),
        masked_lm_prob=chooser.choice([0.0, 0.15, 0.5, 1.0]),
        short_seq_prob=chooser.choice([0.0, 0.1, 1.0]),
        do_whole_word_mask=chooser.random() < 0.5,
    )
    texts = documents.Documents()
    for sentences in all_documents:
        for sentence in sentences:
            texts.add_sentence(sentence)
        texts.end_document()
    rng, plain_rng = random.Random(seed), random.Random(seed)
    made = pretraining_data.create_instances(texts, _PIECE_IDS, options, rng)
    expected = _plain_instances(all_documents, _PIECE_IDS, options, plain_rng)
    assert list(made) == expected
    assert rng.getstate() == plain_rng.getstate()
