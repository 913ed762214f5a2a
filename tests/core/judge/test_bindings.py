"""The same words bound otherwise: conflicts, and what only looks like one."""

import pytest

from api.core.judge import judge
from api.core.judge.bindings import quantified, turned_round
from api.core.judge.cjk import counted
from api.core.judge.parse import parse

REFUNDS = "Refunds are accepted within 30 days. Exchanges are accepted within 60 days."
QUARTERS = "Q1 revenue was $1.2 million. Q2 revenue was $1.5 million."


def table(*rows: str) -> str:
    return "\n".join(("| Quarter | Revenue |", "|---|---|", *rows))


@pytest.mark.parametrize(
    ("output", "evidence", "conflict"),
    [
        ("Refunds are accepted within 60 days.", REFUNDS, "60 is not 30"),
        ("Exchanges are accepted within 30 days.", REFUNDS, "30 is not 60"),
        (table("| Q1 | $1.5M |", "| Q2 | $1.2M |"), QUARTERS, "$1.5 M is not $1.2 million"),
        ("Q1 revenue was $1.5 million.", QUARTERS, "$1.5 million is not $1.2 million"),
        ("Sales grew from 15 to 10 units.", "Sales grew from 10 to 15 units.", "from 15 to 10 is the other way round"),
        ("Sales fell from ten to 15.", "Sales fell from 15 to 10.", "from ten to 15 is the other way round"),
        ("Acme acquired Globex.", "Globex acquired Acme.", '"Acme acquired Globex" is the other way round'),
        ("Alice manages Bob.", "Bob manages Alice.", '"Alice manages Bob" is the other way round'),
        ("Only some users were affected.", "All users were affected.", 'only some is not all of "users"'),
        ("All of the users were affected.", "Only a few users were affected.", 'all is not only some of "users"'),
        ("乘员人数是五。", "乘员人数是四。", "五 is not 四"),
        ("乘员人数是5。", "乘员人数是四。", "5 is not 四"),
        ("船上有十二人。", "船上有十五人。", "十二 is not 十五"),
        ("Численность экипажа составляла пять человек.", "Численность экипажа составляла четыре человека.",
         "пять is not четыре"),
        ("Die Mannschaft hatte fünf Mitglieder.", "Die Mannschaft hatte vier Mitglieder.", "fünf is not vier"),
        ("La tripulación tenía cinco miembros.", "La tripulación tenía 4 miembros.", "cinco is not 4"),
        ("L'équipage comptait douze membres.", "L'équipage comptait 14 membres.", "douze is not 14"),
    ],
)  # fmt: skip
def test_a_conflict(output: str, evidence: str, conflict: str) -> None:
    judgement = judge("", output, [evidence])
    assert judgement.verdict == "fail"
    assert any(conflict in claim.conflicts for claim in judgement.claims), judgement.reasons


def test_the_reason_quotes_the_sentence_about_the_same_subject() -> None:
    judgement = judge("", "Refunds are accepted within 60 days.", [REFUNDS])
    assert judgement.reasons[0] == (
        'Claim "Refunds are accepted within 60 days." conflicts with evidence[0] '
        '"Refunds are accepted within 30 days.": 60 is not 30.'
    )


@pytest.mark.parametrize(
    ("output", "evidence"),
    [
        ("Refunds are accepted within 30 days.", REFUNDS),
        ("Refunds: 30 days. Exchanges: 60 days.", REFUNDS),
        (table("| Q1 | $1.2M |", "| Q2 | $1.5M |"), QUARTERS),
        ("Sales grew from 10 to 15 units.", "Sales grew from 10 units to 15 units."),
        ("Acme met Globex.", "Globex met Acme."),
        ("Acme acquired Globex.", "Acme acquired Globex in 2019."),
        ("Some users were affected.", "All users were affected."),
        ("乘员人数是四。", "乘员人数是四。"),
        ("乘员人数是4。", "乘员人数是四。"),
        ("四人出发。", "4人出发。"),
        ("Die Mannschaft hatte vier Mitglieder.", "Die Mannschaft hatte 4 Mitglieder."),
        ("В экипаже четыре человека.", "В экипаже 4 человека."),
        ("Der Vertrag läuft zwölf Monate.", "Der Vertrag läuft 12 Monate."),
    ],
)
def test_no_conflict(output: str, evidence: str) -> None:
    assert judge("", output, [evidence]).verdict == "pass"


@pytest.mark.parametrize(
    ("output", "evidence"),
    [
        ("The crew flew for 60 days.", "The crew flew for 10 days in 1999. They flew for 60 days in 2001."),
        ("Refunds are accepted within 60 days.", REFUNDS + " Refunds for members are accepted within 60 days."),
        ("Globex was acquired by Acme.", "Acme acquired Globex."),
        ("Not all users were affected.", "Only some users were affected."),
        ("The shop opens at 9.", "The shop opens at 9 am."),
        ("The shop opens at 3.", "The shop opens at 15:00."),
        ("The pro plan costs $20.", "The basic plan costs $10. Pro costs $20."),
        (
            "Revenue was 5 million in 2020 and 6 million in 2021.",
            "Revenue was 5 million in 2020. Revenue was 6 million in 2021.",
        ),
        ("Prices rose from 10 to 15 and fell from 15 to 10.", "Prices rose from 10 to 15 and fell from 15 to 10."),
        ("Bob met Alice, and Alice manages Carol.", "Alice manages Bob and Carol."),
    ],
)
def test_what_could_be_said_of_either_is_no_conflict(output: str, evidence: str) -> None:
    assert not judge("", output, [evidence]).hard_conflict


def test_ranges_are_compared_as_numbers() -> None:
    assert turned_round("from 15 to 10", "It went from 10 up to 15.") == "from 15 to 10 is the other way round"
    assert turned_round("from 15 to ten", "from 10 to fifteen") == "from 15 to ten is the other way round"
    assert turned_round("from Oslo to Bergen", "from Bergen to Oslo") == ""


def test_quantifiers_of_other_words_say_nothing() -> None:
    assert quantified("Only some users paid.", "All users and all admins paid.") == 'only some is not all of "users"'
    assert quantified("Only some users paid.", "All admins paid.") == ""


@pytest.mark.parametrize(
    ("run", "numbers"),
    [
        ("乘员人数是四", [(5, 6, 4)]),
        ("十二人", [(0, 2, 12)]),
        ("二十五个", [(0, 3, 25)]),
        ("三百二十件", [(0, 4, 320)]),
        ("二〇二四年", [(0, 4, 2024)]),
        ("一个", []),
        ("三明治", []),
        ("十百人", []),
        ("万五", []),
    ],
)
def test_chinese_numerals(run: str, numbers: list[tuple[int, int, int]]) -> None:
    assert counted(run) == numbers


def test_a_chinese_numeral_is_the_same_stem_as_its_digits() -> None:
    assert parse("船上有四人").content == ["船上", "上有", "#4", "人"]
    assert parse("船上有4人").content == ["船上", "上有", "#4", "人"]
