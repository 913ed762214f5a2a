"""Numbers and dates as comparable values."""

import pytest

from api.core.judge.parse import parse
from api.core.signals.values import Value, Values, agree, values_of, written


def one(text: str) -> Value:
    return values_of(parse(text))[0]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("1,000 km", "1000 km"),
        ("3.2 million", "3200000"),
        ("0.5", "0.5"),
        ("on 1 March 2024", "2024-03-01"),
        ("in March 2024", "2024-03"),
        ("on 3/1/2024", "2024-01-03"),
        ("on May 5", "--05-05"),
        ("at 9:05", "09:05"),
        ("$42", "42 usd"),
    ],
)
def test_one_form(text: str, form: str) -> None:
    assert written(one(text)) == form


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("90 minutes", "1.5 hours", True),
        ("42", "$42", True),
        ("5 km", "5 kg", False),
        ("1.250", "1250", True),
        ("4", "about 4", True),
        ("3.2 million", "3,214,000", False),
        ("in 2000", "on 31 August 2000", True),
        ("on 3/1/2024", "on March 1, 2024", True),
        ("on May 5", "on 5 May 2020", True),
        ("on May 5", "on May 6", False),
        ("at 9:05", "545", False),
    ],
)
def test_what_agrees(first: str, second: str, same: bool) -> None:
    assert agree(one(first), one(second)) is same
    assert agree(one(second), one(first)) is same
    assert bool(Values([one(first)]).agreeing(one(second))) is same


def test_the_word_one_counts_only_when_asked_for() -> None:
    assert values_of(parse("one of them")) == []
    assert [written(value) for value in values_of(parse("one of them"), loose=True)] == ["1"]
