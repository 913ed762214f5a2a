import re

import pytest

from api.core.judge.numerals import NUMERAL, read_numeral, tidy


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("4", (4.0,)),
        ("٤", (4.0,)),
        ("４２", (42.0,)),
        ("1,000", (1000.0,)),
        ("1.250.000", (1250000.0,)),
        ("1,234.5", (1234.5,)),
        ("1.234,5", (1234.5,)),
        ("3,5", (3.5,)),
        ("3.14", (3.14,)),
        ("0.125", (0.125,)),
        ("1.250", (1.25, 1250.0)),
        ("1'000", (1000.0,)),
        ("10 000", (10000.0,)),
        ("12\u202f500", (12500.0,)),
        ("٣٫٥", (3.5,)),
        ("1/2", (0.5,)),
    ],
)
def test_numbers(text: str, readings: tuple[float, ...]) -> None:
    numeral = read_numeral(text)
    assert (numeral.kind, numeral.readings) == ("number", readings)


@pytest.mark.parametrize(
    ("text", "year", "month", "day", "swapped"),
    [
        ("2024-03-01", 2024, 3, 1, False),
        ("2024/03/01", 2024, 3, 1, False),
        ("31.12.2024", 2024, 12, 31, False),
        ("25/12/2024", 2024, 12, 25, False),
        ("12/25/2024", 2024, 12, 25, False),
        ("03/01/2024", 2024, 1, 3, True),
        ("2024-03", 2024, 3, None, False),
    ],
)
def test_dates(text: str, year: int, month: int, day: int | None, swapped: bool) -> None:
    numeral = read_numeral(text)
    assert (numeral.kind, numeral.year, numeral.month, numeral.day, numeral.swapped) == (
        "date",
        year,
        month,
        day,
        swapped,
    )


def test_a_range_has_two_parts() -> None:
    numeral = read_numeral("1990–1995")
    assert numeral.kind == "range"
    assert [part.readings for part in numeral.parts] == [(1990.0,), (1995.0,)]
    assert [part.readings for part in read_numeral("1914-18").parts] == [(1914.0,), (1918.0,)]


@pytest.mark.parametrize(("text", "minutes"), [("15:30", 930.0), ("0:05", 5.0), ("12:30:15", 750.0)])
def test_clock_times_are_minutes_after_midnight(text: str, minutes: float) -> None:
    assert read_numeral(text).kind == "time"
    assert read_numeral(text).readings == (minutes,)


@pytest.mark.parametrize("text", ["2.1.3", "3:1", "12345678901234567", "192.168.0.1", "2024-13-45", "1/2/3/4"])
def test_everything_else_is_a_literal(text: str) -> None:
    assert read_numeral(text).kind == "literal"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("4, 5", ["4", "5"]),
        ("in 2024.", ["2024"]),
        ("10 000 and 10 001", ["10 000", "10", "001"]),
        ("1,000,000;", ["1,000,000"]),
    ],
)
def test_numeral_pattern(text: str, found: list[str]) -> None:
    assert re.findall(NUMERAL, text) == found


def test_tidy_removes_the_noise_of_binary_fractions() -> None:
    assert 0.1 + 0.2 != 0.3
    assert tidy(0.1 + 0.2) == 0.3
