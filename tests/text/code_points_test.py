"""Tests of bert_tf.text.code_points."""

import numpy as np
import pytest

from bert_tf.text import code_points
from bert_tf.text.code_points import EDGE, FIRST_ROW, SPACE


@pytest.fixture(scope="module")
def lowered():
    return code_points.characters(do_lower_case=True)


@pytest.fixture(scope="module")
def cased():
    return code_points.characters(do_lower_case=False)


def _look_up(paged, char):
    page, place = divmod(ord(char), code_points.PAGE_SIZE)
    return paged.entries[paged.pages[page] * code_points.PAGE_SIZE + place]


def _symbols(table, char):
    entry = _look_up(table.entries, char)
    if entry >= FIRST_ROW:
        return table.rows[entry - FIRST_ROW]
    return (2 * ord(char) + entry,)


def _word(*chars):
    return tuple(2 * ord(char) for char in chars)


def _alone(char):
    return (2 * ord(char) + 1,)


@pytest.mark.parametrize(
    ("char", "expected"),
    [
        ("A", _word("a")),
        ("z", _word("z")),
        ("é", _word("e")),
        ("İ", _word("i")),
        ("\u0301", ()),  # an accent
        ("\u200b", ()),  # zero width
        ("\x85", ()),
        ("\t", (SPACE,)),
        ("\u2028", (SPACE,)),
        ("$", _alone("$")),
        ("≠", _alone("=")),
        ("中", _alone("中")),
        ("\uf900", _alone("\u8c48")),
        ("안", _word("\u110b", "\u1161", "\u11ab")),
        ("\u0378", _word("\u0378")),  # unassigned
        ("\ue000", _word("\ue000")),  # private use
        ("\U0010ffff", _word("\U0010ffff")),
    ],
)
def test_characters_lower_case(lowered, char, expected):
    assert _symbols(lowered, char) == expected


@pytest.mark.parametrize(
    ("char", "expected"),
    [
        ("A", _word("A")),
        ("é", _word("é")),
        ("\u0301", _word("\u0301")),
        ("\u200b", ()),
        ("中", _alone("中")),
        ("안", _word("안")),
    ],
)
def test_characters_cased(cased, char, expected):
    assert _symbols(cased, char) == expected


def test_characters_tells_the_contextual_ones_from_all_others(lowered, cased):
    """Sigma, and the marks that canonical order moves and nothing drops."""
    entries = {
        chr(code_point): _look_up(lowered.entries, chr(code_point))
        for code_point in range(0x20000)
        if not 0xD800 <= code_point < 0xE000
    }
    last = FIRST_ROW + lowered.num_contextual
    contextual = [
        c for c, entry in entries.items() if FIRST_ROW <= entry < last
    ]
    assert len(contextual) == lowered.num_contextual
    assert {"Σ", "\u302e", "\U0001d165"} <= set(contextual)
    assert "σ" not in contextual
    assert cased.num_contextual == 0


def test_context_says_what_a_sigma_sees():
    table = code_points.context()
    flags = code_points.IS_CASED, code_points.IS_SKIPPED, code_points.IS_REMOVED
    expected = {
        "a": (True, False, False),
        "Σ": (True, False, False),
        "1": (False, False, False),
        "中": (False, False, False),
        "'": (False, True, False),
        "\u02b0": (False, True, False),  # cased, but ignorable all the same
        "\u0301": (False, True, False),
        "\x00": (False, True, True),
    }
    for char, wanted in expected.items():
        value = _look_up(table, char)
        assert tuple(bool(value & flag) for flag in flags) == wanted, char


@pytest.mark.parametrize(
    ("char", "combining_class"),
    [("a", 0), ("\u0301", 230), ("\u0323", 220), ("\U0001d165", 216)],
)
def test_context_holds_the_combining_class(char, combining_class):
    value = _look_up(code_points.context(), char)
    assert value % code_points.NUM_CLASSES == combining_class


def test_paged_stores_like_pages_once():
    values = np.zeros([code_points.NUM_CODE_POINTS], np.int32)
    values[1000] = 7
    paged = code_points.Paged.of(values)
    assert len(paged.entries) == 2 * code_points.PAGE_SIZE
    assert _look_up(paged, chr(1000)) == 7
    assert _look_up(paged, chr(1001)) == 0


def test_pieces_makes_a_trie():
    """Nodes: 0 begins, 1 goes on, then in the order in which they are made."""
    made = code_points.pieces({"[X]": 0, "ab": 1, "a": 2, "##a": 3})
    edges = dict(zip(made.edges.tolist(), made.targets.tolist()))
    a = edges[0 * EDGE + ord("a")]
    ab = edges[a * EDGE + ord("b")]
    goes_on = edges[1 * EDGE + ord("a")]
    assert made.piece_ids[[a, ab, goes_on]].tolist() == [2, 1, 3]
    assert made.piece_ids[[0, 1]].tolist() == [-1, -1]


def test_pieces_leaves_out_what_no_word_can_be():
    made = code_points.pieces({"##": 0, "": 1})
    assert made.piece_ids.tolist() == [-1, -1]
    assert made.edges.size == 0
