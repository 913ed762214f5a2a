"""Answer keys: which answers give the same final answer. Expected groups are worked out by hand."""

import pytest

from api.core.signals.answer_keys import AnswerKey, answer_keys, entropy
from api.core.signals.reading import read_answers


def keys(task: str, *outputs: str) -> list[tuple[str | None, str, tuple[int, ...]]]:
    return [(key.key, key.kind, key.members) for key in answer_keys(task, read_answers(outputs))]


@pytest.mark.parametrize(
    "output",
    [
        "42",
        "forty-two",
        "A: 42",
        "#### 42",
        "First add 20 and 22.\n#### 42",
        "the answer is 42",
        "The final answer is: 42.",
        "**Answer:** 42",
        "Answer:\n\n42",
        "We get \\boxed{42}.",
        '{"steps": 3, "answer": 42}',
        "She has 40 + 2 = 42 pens, so she has 42 pens left.",
        "There are 6 boxes of 7 = 42 pens.",
        "La respuesta es 42.",
        "Réponse : 42",
        "Ответ: 42",
        "答案是42",
        "٤٢",
        "４２",
        "42.00",
    ],
)
def test_one_number_however_it_is_announced(output: str) -> None:
    assert keys("How many pens does she have?", "42", output) == [("42", "number", (0, 1))]


def test_numbers_are_compared_by_value_and_unit() -> None:
    assert keys("How long?", "90 minutes", "1.5 hours", "1,5 hours") == [("1.5 hours", "number", (0, 1, 2))]
    assert keys("How much?", "$1,000", "1000", "1k", "one thousand dollars") == [("1000", "number", (0, 1, 2, 3))]
    assert keys("How far?", "5 km", "5 kg") == [("5 km", "number", (0,)), ("5 kg", "number", (1,))]
    assert keys("How much?", "50%", "50 percent", "51%") == [("50 %", "number", (0, 1)), ("51 %", "number", (2,))]


def test_the_last_number_of_worked_arithmetic_decides() -> None:
    found = keys("How many?", "3 + 4 = 7 in all. Then 7 - 2 = 5.", "3 * 4 = 12. Then 12 - 2 = 10.", "5")
    assert found == [("5", "number", (0, 2)), ("10", "number", (1,))]


def test_dates_in_several_forms_are_one_key() -> None:
    found = keys("When did it launch?", "2024-03-01", "March 1, 2024", "It launched on 1 March 2024.", "2 March 2024")
    assert found == [("2024-03-01", "date", (0, 1, 2)), ("2024-03-02", "date", (3,))]


def test_a_vague_date_does_not_unite_dates_that_contradict_each_other() -> None:
    found = keys(
        "When?", "September 1968", "It came out in December 1968.", "It was December 1968, I think.", "1968", "1968"
    )
    assert [members for _, _, members in found] == [(1, 2, 3, 4), (0,)]


def test_yes_and_no() -> None:
    found = keys("Is it safe?", "Yes.", "Yes, it is safe for all.", "No", "true", "Nein, nie.", "non-partisan")
    assert found == [
        ("yes", "boolean", (0, 1, 3)),
        ("no", "boolean", (2, 4)),
        ("non-partisan", "text", (5,)),
    ]


def test_multiple_choice() -> None:
    task = "Pick one: A) London B) Paris C) Rome"
    found = keys(task, "B", "(b)", "Paris", "The answer is B) Paris.", "Option C", "I think it is Rome.", "D")
    assert found[:2] == [("B", "choice", (0, 1, 2, 3)), ("C", "choice", (4, 5))]
    assert keys("Pick one.", "C", "(c)", "a") == [("C", "choice", (0, 1)), (None, "none", (2,))]


def test_a_short_answer_joins_the_sentence_that_holds_it() -> None:
    found = keys(
        "Who played the major?",
        "Howard Caine",
        "The major was played by Howard Caine, an actor from Nashville.",
        "Werner Klemperer played the major in all 168 episodes of the series.",
    )
    assert found == [("Howard Caine", "text", (0, 1)), ("Werner Klemperer", "text", (2,))]


def test_answers_that_deny_and_answers_that_affirm_are_two_keys() -> None:
    assert [m for _, _, m in keys("", "The drug is safe.", "The drug is not safe.", "safe drug")] == [(0, 2), (1,)]
    assert [m for _, _, m in keys("", "The valve is open.", "The valve is closed.")] == [(0,), (1,)]


def test_texts_without_blanks() -> None:
    found = keys("首都是哪里?", "北京", "答案是北京", "首都是北京。", "上海")
    assert found == [("北京", "text", (0, 1, 2)), ("上海", "text", (3,))]


def test_answers_that_decline_come_last_under_no_key() -> None:
    found = keys(
        "Who won?",
        "I don't know.",
        "I cannot answer that.",
        "???",
        "Ann Lee",
        "As an AI model, I am not sure. Ann Lee won.",
    )
    assert found == [("Ann Lee", "text", (3, 4)), (None, "none", (0, 1, 2))]


def test_the_question_tells_a_date_from_a_name() -> None:
    found = keys("When was the song released?", "1999", '"Imagine" by MercyMe was released by INO Records in 1999.')
    assert found == [("1999", "number", (0, 1))]


def test_the_larger_group_comes_first_and_the_earlier_on_a_tie() -> None:
    assert keys("", "7", "8", "8", "7", "9") == [
        ("7", "number", (0, 3)),
        ("8", "number", (1, 2)),
        ("9", "number", (4,)),
    ]


@pytest.mark.parametrize(
    ("sizes", "bits"), [((4,), 0), ((2, 2), 1), ((1, 1, 1, 1), 2), ((3, 1), 0.811), ((2, 1), 0.918), ((16,) * 1, 0)]
)
def test_entropy_in_bits(sizes: tuple[int, ...], bits: float) -> None:
    assert entropy([AnswerKey("x", "text", tuple(range(size))) for size in sizes]) == bits
