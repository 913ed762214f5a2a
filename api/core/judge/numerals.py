"""Pure: what a run of digits says: a number, a date, a range, a clock time, or a literal such as a version.

Digits of any script count (`int` reads them all). A numeral may have two readings ("1.250" is 1.25 or 1250); it
equals another numeral when any reading of the one is a reading of the other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

#: One numeral in running text. Each separator must be followed by a digit, so the match is linear.
NUMERAL: Final = r"\d+(?:[.,:/٫٬'’\-–—](?=\d)\d+|[\u00a0\u202f\u2009]\d{3}(?!\d)| 000(?!\d))*"
_SEPARATOR: Final = re.compile(r"[^\d]")
_PLAIN: Final = {
    ord("٫"): ".",
    ord("٬"): ",",
    ord("’"): "'",
    0xA0: " ",
    0x202F: " ",
    0x2009: " ",
    ord("–"): "-",
    ord("—"): "-",
}
FIRST_YEAR: Final = 1000
LAST_YEAR: Final = 2100


@dataclass(frozen=True, slots=True)
class Numeral:
    """`readings`: the values it can have, the likelier first. `parts`: the numerals of a range or of a date.

    `kind` is "number", "range", "date", "time" or "literal". `year`, `month`, `day` are set for a date; a date
    written d/m or m/d keeps the reading with the day first when both are possible and lists the other in `swapped`.
    A time's reading is in minutes after midnight. `decimals` is how many digits follow the decimal sign.
    """

    kind: str
    readings: tuple[float, ...] = ()
    parts: tuple[Numeral, ...] = ()
    decimals: int = 0
    year: int | None = None
    month: int | None = None
    day: int | None = None
    swapped: bool = False


def tidy(value: float) -> float:
    """`value` to 12 significant digits, so that 1.1 million and 1,100,000 are one number."""
    return float(f"{value:.12g}")


def is_year(value: float) -> bool:
    """Whether a bare number can be read as a year."""
    return FIRST_YEAR <= value <= LAST_YEAR and value == int(value)


def read_numeral(text: str) -> Numeral:
    """Reads one match of NUMERAL."""
    text = text.translate(_PLAIN)
    if text.isdecimal():
        return _integer(text)
    signs = set(_SEPARATOR.findall(text))
    if len(signs) == 1:
        sign = signs.pop()
        pieces = text.split(sign)
        if sign == "-":
            return _dashed(pieces)
        if sign == "/":
            return _slashed(pieces)
        if sign == ":":
            return _clock(pieces)
        if sign in "' ":
            return _grouped(pieces) if all(len(piece) == 3 for piece in pieces[1:]) else Numeral("literal")
        return _pointed(sign, pieces)
    if "-" in signs:
        halves = text.split("-")
        if len(halves) == 2:
            return _range(read_numeral(halves[0]), read_numeral(halves[1]))
        return Numeral("literal")
    if signs <= {".", ",", "'", " "}:
        return _mixed(text)
    return Numeral("literal")


def _clock(pieces: list[str]) -> Numeral:
    """h:mm or h:mm:ss, in minutes after midnight; other colons (3:1) are a literal."""
    hour, minute = (int(piece) for piece in pieces[:2])
    if len(pieces) > 3 or len(pieces[0]) > 2 or len(pieces[1]) != 2 or hour > 24 or minute > 59:
        return Numeral("literal")
    return Numeral("time", (hour * 60.0 + minute,))


def _integer(digits: str) -> Numeral:
    return Numeral("literal") if len(digits) > 15 else Numeral("number", (float(int(digits)),))


def _grouped(pieces: list[str]) -> Numeral:
    return _integer("".join(pieces))


def _decimal(whole: str, fraction: str) -> float:
    return tidy(float(f"{int(whole)}.{''.join(str(int(digit)) for digit in fraction)}"))


def _pointed(sign: str, pieces: list[str]) -> Numeral:
    """Digits with one kind of sign between them: 1,250 / 3.14 / 1.250.000 / 2.1.3."""
    if len("".join(pieces)) > 15:
        return Numeral("literal")
    thousands = len(pieces[0]) <= 3 and int(pieces[0]) > 0 and all(len(piece) == 3 for piece in pieces[1:])
    if len(pieces) > 2:
        if thousands:
            return _grouped(pieces)
        return _dotted_date(pieces) if sign == "." else Numeral("literal")
    whole = float(int("".join(pieces)))
    if not thousands:
        return Numeral("number", (_decimal(*pieces),), decimals=len(pieces[1]))
    if sign == ",":
        return Numeral("number", (whole,))
    return Numeral("number", (_decimal(*pieces), whole), decimals=3)


def _mixed(text: str) -> Numeral:
    """Two kinds of sign: the last one is the decimal sign, the others group thousands."""
    cut = max(text.rfind("."), text.rfind(","))
    sign = text[cut]
    head, fraction = text[:cut], text[cut + 1 :]
    pieces = _SEPARATOR.split(head)
    if sign in head or not fraction.isdecimal() or any(len(piece) != 3 for piece in pieces[1:]) or len(text) > 18:
        return Numeral("literal")
    return Numeral("number", (_decimal("".join(pieces), fraction),), decimals=len(fraction))


def date(year: int | None, month: int | None, day: int | None, swapped: bool = False) -> Numeral:
    """A date of the parts that are known."""
    return Numeral("date", year=year, month=month, day=day, swapped=swapped)


def _is_month_day(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= 31


def _dashed(pieces: list[str]) -> Numeral:
    if len(pieces) == 3:
        numbers = [int(piece) for piece in pieces] if all(len(piece) <= 4 for piece in pieces) else []
        if numbers and len(pieces[0]) == 4 and _is_month_day(numbers[1], numbers[2]):
            return date(numbers[0], numbers[1], numbers[2])
        if numbers and len(pieces[2]) == 4 and _is_month_day(numbers[1], numbers[0]):
            return date(numbers[2], numbers[1], numbers[0], numbers[0] <= 12)
        return Numeral("literal")
    if len(pieces) == 2:
        first, last = pieces
        if len(first) == 4 and len(last) == 2 and int(first) <= LAST_YEAR and int(last) <= int(first[2:]):
            return date(int(first), int(last), None) if 1 <= int(last) <= 12 else Numeral("literal")
        if len(first) == 4 and len(last) == 2:
            last = first[:2] + last
        return _range(_integer(first), _integer(last))
    return Numeral("literal")


def _range(first: Numeral, last: Numeral) -> Numeral:
    if first.kind == last.kind == "number":
        return Numeral("range", parts=(first, last))
    return Numeral("literal")


def _slashed(pieces: list[str]) -> Numeral:
    if any(len(piece) > 4 for piece in pieces):
        return Numeral("literal")
    numbers = [int(piece) for piece in pieces]
    if len(pieces) == 3:
        first, second, third = numbers
        if len(pieces[0]) == 4 and _is_month_day(second, third):
            return date(first, second, third)
        year = third if len(pieces[2]) == 4 else 2000 + third if len(pieces[2]) == 2 else None
        if year is None:
            return Numeral("literal")
        if _is_month_day(second, first):
            return date(year, second, first, first <= 12)
        return date(year, first, second) if _is_month_day(first, second) else Numeral("literal")
    if len(pieces) == 2 and numbers[1]:
        return Numeral("number", (tidy(numbers[0] / numbers[1]),), decimals=2)
    return Numeral("literal")


def _dotted_date(pieces: list[str]) -> Numeral:
    """31.12.2024, as German and Russian write it; everything else with two points is a version."""
    if len(pieces) == 3 and len(pieces[2]) == 4 and all(len(piece) <= 2 for piece in pieces[:2]):
        day, month, year = (int(piece) for piece in pieces)
        if _is_month_day(month, day):
            return date(year, month, day)
    return Numeral("literal")
