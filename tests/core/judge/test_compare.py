import pytest

from api.core.judge.compare import compatible, same_number
from api.core.judge.facts import Number
from api.core.judge.figures import Figures
from api.core.judge.parse import parse


def number(text: str) -> Number:
    return parse(text).numbers[0]


@pytest.mark.parametrize(
    ("claim", "other"),
    [
        ("4", "four"),
        ("1,000", "1000"),
        ("1k", "one thousand"),
        ("1.250", "1,250"),
        ("3.2 million", "3,214,000"),
        ("12.5", "12.48"),
        ("13 km", "12.6 km"),
        ("about 50", "48"),
        ("at least 3", "4"),
        ("over 1,000", "1,214"),
        ("up to 10", "9"),
        ("5 km", "5000 metres"),
        ("2 years", "24 months"),
        ("20%", "20 percent"),
        ("$5", "5"),
    ],
)
def test_the_evidence_bears_out_the_claim(claim: str, other: str) -> None:
    assert same_number(number(claim), number(other))


@pytest.mark.parametrize(
    ("claim", "other"),
    [
        ("5", "4"),
        ("640", "641"),
        ("1904", "1905"),
        ("about 1904", "1905"),
        ("4,214", "4,200"),
        ("3.3 million", "3,214,000"),
        ("12.48", "12.5"),
        ("about 50", "40"),
        ("about 50", "about 51"),
        ("at least 5", "4"),
        ("at least 3", "at least 4"),
        ("5 km", "5 miles"),
        ("$5", "€5"),
        ("5 km", "5 kg"),
        ("20%", "20 km"),
        ("15:30", "930"),
        ("exactly 50", "49"),
    ],
)
def test_the_evidence_does_not_bear_out_the_claim(claim: str, other: str) -> None:
    assert not same_number(number(claim), number(other))


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("March 2024", "2024-03-01", True),
        ("1 March", "2024-03-01", True),
        ("March 2, 2024", "2024-03-01", False),
        ("March 2023", "March 2024", False),
        ("01/03/2024", "March 1, 2024", True),
        ("03/01/2024", "March 1, 2024", True),
        ("March 1, 2024", "03/01/2024", True),
        ("05/03/2024", "March 1, 2024", False),
        ("in March", "the 5th of May", False),
    ],
)
def test_dates_agree_in_what_both_state(one: str, other: str, agree: bool) -> None:
    assert compatible(parse(one).dates[0].date, parse(other).dates[0].date) is agree


@pytest.mark.parametrize(
    ("claim", "match"),
    [("4", "4"), ("about 980", "1,000"), ("5 km", "5000"), ("at least 900", "1,000"), ("7", None), ("about 700", None)],
)
def test_figures_finds_what_bears_out_a_number(claim: str, match: str | None) -> None:
    figures = Figures(parse("4 people, 1,000 trees and 5000 metres").numbers)
    found = figures.match(number(claim))
    assert (found.shown if found else None) == match
