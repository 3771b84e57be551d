"""Tests of reading files in SQuAD's layout."""

import copy
import json

import pytest

from bert_tf.errors import UserError
from bert_tf.squad import examples

CONTEXT = "The  cat sat\ton (the) mat."
FILE = {
    "data": [
        {
            "paragraphs": [
                {
                    "context": CONTEXT,
                    "qas": [
                        {
                            "id": "q1",
                            "question": "Who sat?",
                            "answers": [{"text": "cat", "answer_start": 5}],
                        },
                        {
                            "id": "q2",
                            "question": "Where?",
                            "is_impossible": False,
                            "answers": [{"text": "mat", "answer_start": 22}],
                        },
                    ],
                }
            ]
        }
    ]
}


@pytest.fixture
def write(tmp_path):
    """Writes FILE, changed by a function of its questions and itself."""

    def write(change=None):
        content = copy.deepcopy(FILE)
        if change:
            qas = content["data"][0]["paragraphs"][0]["qas"]
            content = change(qas, content) or content
        path = tmp_path / "squad.json"
        path.write_text(json.dumps(content))
        return str(path)

    return write


def test_words_answers_and_places(write):
    # cat is the second word; mat begins within the last one, "mat.".
    cat, mat = examples.read_squad_examples(write(), is_training=True)
    assert cat.doc_tokens == ["The", "cat", "sat", "on", "(the)", "mat."]
    assert cat.context.word_starts == [0, 5, 9, 13, 16, 22]
    assert (cat.start_position, cat.end_position) == (1, 1)
    assert (mat.start_position, mat.end_position) == (5, 5)
    assert mat.orig_answer_text == "mat"
    # One paragraph is split once.
    assert cat.context is mat.context


@pytest.mark.parametrize("space", ["\u3000", "\u00a0", "\u2009", "\u2028"])
def test_other_spaces_do_not_split_words(space):
    assert examples.Context(f"the cat{space}sat").words == [
        "the",
        f"cat{space}sat",
    ]


def test_what_splits_words():
    context = examples.Context("a b\tc\rd\ne\u202ff")
    assert context.words == list("abcdef")


def test_answers_are_not_looked_at_for_prediction(write):
    def change(qas, _):
        del qas[0]["answers"]

    read = examples.read_squad_examples(write(change), is_training=False)
    assert [e.qas_id for e in read] == ["q1", "q2"]
    assert read[0].start_position is None


@pytest.mark.parametrize(
    ("text", "start", "reason"),
    [
        ("cat", 500, "`answer_start` is 500 for an answer of 3 characters"),
        ("cat", -1, "`answer_start` is -1"),
        ("mat. ", 22, "`answer_start` is 22 for an answer of 5 characters"),
        ("dog", 5, "its answer 'dog' is not there, but 'cat'"),
        (" ", 4, "its answer is empty"),
    ],
)
def test_an_answer_out_of_place_is_left_out_and_told(
    write, caplog, text, start, reason
):
    def change(qas, _):
        qas[0]["answers"] = [{"text": text, "answer_start": start}]

    read = examples.read_squad_examples(write(change), is_training=True)
    assert [example.qas_id for example in read] == ["q2"]
    assert "1 of 2 questions are left out" in caplog.text
    assert f"q1: {reason}" in caplog.text


def test_no_usable_question_is_an_error(write):
    def change(qas, _):
        del qas[1]
        qas[0]["answers"][0]["answer_start"] = 500

    with pytest.raises(UserError, match="holds no question that can be used"):
        examples.read_squad_examples(write(change), is_training=True)


def test_no_question_is_an_error(write):
    path = write(lambda qas, content: {"data": []})
    with pytest.raises(UserError, match="holds no question"):
        examples.read_squad_examples(path, is_training=False)


def test_several_answers_are_no_training_data(write):
    def change(qas, _):
        qas[1]["answers"] *= 2

    with pytest.raises(
        UserError,
        match=r"data\[0\].paragraphs\[0\].qas\[1\] \(id q2\) has 2 answers",
    ):
        examples.read_squad_examples(write(change), is_training=True)


def test_no_answer_needs_the_flag_of_version_2(write):
    def change(qas, _):
        qas[1].update(answers=[], is_impossible=True)
        qas[0]["is_impossible"] = False

    path = write(change)
    with pytest.raises(UserError, match="needs --version_2_with_negative"):
        examples.read_squad_examples(path, is_training=True)
    _, none = examples.read_squad_examples(
        path, is_training=True, version_2_with_negative=True
    )
    assert none.is_impossible
    assert (none.start_position, none.orig_answer_text) == (-1, "")


def test_a_file_of_version_1_with_the_flag_of_version_2(write):
    with pytest.raises(
        UserError, match=r"qas\[0\] \(id q1\) has no `is_impossible`"
    ):
        examples.read_squad_examples(
            write(), is_training=True, version_2_with_negative=True
        )


def test_an_id_that_stands_twice_is_told(write, caplog):
    def change(qas, _):
        qas[1]["id"] = "q1"

    examples.read_squad_examples(write(change), is_training=False)
    assert "1 ids stand at several questions (q1)" in caplog.text


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda qas, c: [1], "its outermost value must be an object"),
        (lambda qas, c: {"dat": []}, "data is missing; there is dat"),
        (lambda qas, c: {"data": {}}, "data must be a list, but is dict"),
        (lambda qas, c: {"data": [1]}, r"data\[0\] must be an object"),
        (lambda qas, c: {"data": [{}]}, r"data\[0\].paragraphs is missing"),
        (
            lambda qas, c: {"data": [{"paragraphs": [{"qas": []}]}]},
            r"data\[0\].paragraphs\[0\].context is missing",
        ),
        (lambda qas, c: qas[1].pop("question") and None, r"qas\[1\].question"),
        (
            lambda qas, c: qas[1].update(id=3),
            r"qas\[1\].id must be a text, but is int 3",
        ),
        (lambda qas, c: qas[1].pop("answers") and None, r"qas\[1\].answers"),
        (
            lambda qas, c: qas[1]["answers"][0].update(answer_start="22"),
            r"qas\[1\].answers\[0\].answer_start must be a whole number",
        ),
    ],
)
def test_what_is_not_in_the_layout_is_named(write, change, place):
    with pytest.raises(UserError, match=place):
        examples.read_squad_examples(write(change), is_training=True)


def test_a_file_that_is_no_json(tmp_path):
    path = tmp_path / "squad.json"
    path.write_text("{")
    with pytest.raises(UserError, match="squad.json: not JSON"):
        examples.read_dataset(str(path))


def test_golden_files_hold_what_2018_read(golden):
    # One answer has a no-break space, at which only the comparison splits.
    squad = golden / "tasks" / "squad"
    read = examples.read_squad_examples(
        str(squad / "train-v1.json"), is_training=True
    )
    assert len(read) == 20
