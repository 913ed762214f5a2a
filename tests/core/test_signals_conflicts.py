"""Members of one cluster that contradict each other, and what dissents differ in. Expected results by hand."""

from typing import Any

import pytest

from api.core.consensus import Answer, consensus
from api.core.signals import consensus_signals


def signals(*outputs: str, task: str = "") -> dict[str, Any]:
    answers = [Answer(output, agent_id) for output, agent_id in zip(outputs, "abcdefgh", strict=False)]
    return consensus_signals(consensus(answers), task)


def found(*outputs: str) -> list[tuple[str, list[str], str]]:
    return [(one["kind"], one["values"], "".join(one["agent_ids"])) for one in signals(*outputs)["conflicts"]]


def test_the_same_tokens_and_another_number() -> None:
    assert signals("The crew size was 4.", "The crew size was 5.")["conflicts"] == [
        {"cluster": 0, "kind": "number", "values": ["4", "5"], "agent_ids": ["a", "b"]}
    ]


def test_every_member_that_speaks_on_the_point_is_named_with_what_it_says() -> None:
    assert found(
        "The crew size was 4.", "The crew size was four.", "The crew size was 5.", "The crew size was big."
    ) == [("number", ["4", "four", "5"], "abc")]


@pytest.mark.parametrize(
    ("first", "second", "kind", "values"),
    [
        ("It launched from Rome on 1 March 2024.", "It launched from Rome on 2 March 2024.", "date",
         ["1 March 2024", "2 March 2024"]),
        ("The treaty was signed in Rome in 1957.", "The treaty was signed in Rome in 1958.", "date", ["1957", "1958"]),
        ("The capital city of Kenya is Nairobi.", "The capital city of Kenya is Mombasa.", "name",
         ["Nairobi", "Mombasa"]),
        ("Nairobi is the capital city of Kenya.", "Mombasa is the capital city of Kenya.", "name",
         ["Nairobi", "Mombasa"]),
        ("The new drug is safe for adults.", "The new drug is not safe for adults.", "negation", ["safe", "not safe"]),
        ("The main valve of the tank is open.", "The main valve of the tank is closed.", "negation",
         ["open", "closed"]),
        ("We sold 12 adult and 5 child tickets.", "We sold 5 adult and 12 child tickets.", "number", ["12", "5"]),
        ('{"crew": 4, "site": "cape"}', '{"crew": 5, "site": "cape"}', "number", ["4", "5"]),
        ("승무원 수는 4 명 이었다.", "승무원 수는 5 명 이었다.", "number", ["4", "5"]),
        ("Экипаж состоял из 4 человек.", "Экипаж состоял из 5 человек.", "number", ["4", "5"]),
    ],
)  # fmt: skip
def test_each_kind(first: str, second: str, kind: str, values: list[str]) -> None:
    conflicts = found(first, second)
    assert conflicts[0] == (kind, values, "ab")
    assert {one[0] for one in conflicts} == {kind}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The crew size was 4.", "The crew size was four."),
        ("He won 3 gold medals and 2 silver medals.", "He won 2 silver medals and 3 gold medals."),
        ("The distance walked was 1.5 km.", "The distance walked was 1,500 m."),
        ("It launched from Rome in March 2024.", "It launched from Rome on 1 March 2024."),
        ("The film was made by Ann Lee Smith.", "The film was made by Smith."),
        ("The size was 4. The mass was 9.", "The mass was 9. The size was 4."),
        ("The drug is not safe for adults.", "The drug isn't safe for adults."),
        ("The crew size was 4.", "The crew size was 4."),
    ],
)
def test_what_is_no_conflict(first: str, second: str) -> None:
    assert found(first, second) == []


def test_conflicts_are_looked_for_inside_clusters_only() -> None:
    other = "Mars has 5 small rovers, two moons, dust storms and thin air"
    result = signals("The crew size was 4.", other, "The crew size was 4.", other.replace("5", "6"))
    assert [(one["cluster"], one["values"]) for one in result["conflicts"]] == [(1, ["5", "6"])]


def test_a_dissent_says_what_differs_and_which_cluster_opposes_most() -> None:
    result = signals(
        "The crew size was 4.",
        "The crew size was 4.",
        "The crew size was 4.",
        "People in Houston counted six guests at the launch in 1999",
        "Mars is dry",
        "Mars is dry",
    )
    assert [
        (d["answer"], d["agent_id"], d["cluster"], d["largest_opposing"], d["similarity"]) for d in result["dissents"]
    ] == [
        (3, "d", 1, False, 0),
        (4, "e", 2, True, 0),
        (5, "f", 2, True, 0),
    ]
    assert result["dissents"][0]["differs"] == [
        {"kind": "key", "values": ["Houston"], "against": ["4"]},
        {"kind": "number", "values": ["six"], "against": ["4"]},
        {"kind": "date", "values": ["1999"], "against": []},
        {"kind": "name", "values": ["Houston"], "against": []},
    ]


def test_a_dissent_in_wording_only_differs_in_nothing() -> None:
    result = signals("42", "42", "After all the sums the answer is 42")
    assert [dissent["differs"] for dissent in result["dissents"]] == [[]]


def test_a_dissent_that_denies() -> None:
    result = signals(
        "The drug is safe.",
        "The drug is safe.",
        "Doctors warn that this drug is not safe with strong alcohol or grapefruit",
    )
    assert result["dissents"][0]["differs"][-1] == {"kind": "negation", "values": ["not safe"], "against": ["safe"]}
