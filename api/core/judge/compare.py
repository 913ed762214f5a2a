"""Pure: whether two numbers or dates can be the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from api.core.judge.facts import AT_LEAST, AT_MOST, EXACT, NEAR, Number
from api.core.judge.lexicon import MONEY, UNITS
from api.core.judge.numerals import Numeral, is_year, tidy

#: "about 4.2 million" may be this far off.
_NEAR: Final = 0.05


def dimension(unit: str) -> str:
    """What a unit measures, "" for a bare number."""
    return UNITS[unit][0] if unit in UNITS else unit


def same_number(claim: Number, other: Number) -> bool:
    """Whether `other` in the evidence bears out `claim`. Exact unless the claim is hedged or rounds `other`."""
    one, two = dimension(claim.unit), dimension(other.unit)
    if one and two and one != two:
        return False
    if "clock" in (claim.unit, other.unit) and claim.unit != other.unit:
        return False
    if one and one == two and claim.unit != other.unit:
        if one == MONEY:
            return False
        known = tidy(other.value * UNITS[other.unit][1] / UNITS[claim.unit][1])
        return _same_value(claim.value, known, claim, other)
    return any(_same_value(value, known, claim, other) for value in claim.readings for known in other.readings)


def _same_value(value: float, known: float, claim: Number, other: Number) -> bool:
    if value == known:
        return True
    if dimension(claim.unit) != dimension(other.unit):
        return False
    if claim.bound == other.bound != EXACT:
        return False
    if claim.bound == NEAR and not _dated(claim):
        return abs(value - known) <= _NEAR * max(abs(value), abs(known)) or _rounds(value, known, claim)
    if claim.bound == AT_LEAST:
        return known > value and known <= 1.5 * value + 1
    if claim.bound == AT_MOST:
        return known < value and 1.5 * known + 1 >= value
    if other.bound == NEAR and claim.bound != other.bound:
        return False
    return _rounds(value, known, claim)


def _dated(number: Number) -> bool:
    return number.dated or (not number.unit and not number.scaled and is_year(number.value))


def _rounds(value: float, known: float, claim: Number) -> bool:
    """Whether the claim states `known` with fewer digits: 3.2 million for 3,214,000, or 12.5 for 12.48."""
    if known == int(known) and abs(known) < 10_000:
        return False
    if claim.scaled:
        step = _scaled_step(claim)
        return step > 0 and abs(value - known) <= step / 2 * 1.0000001
    if known != int(known) and value != int(value):
        step = 10.0**-claim.decimals
        return claim.decimals < _decimals(known) and abs(value - known) <= step / 2 * 1.0000001
    if known != int(known) and value == int(value) and abs(known) >= 10:
        return round(known) == value
    return False


def _decimals(value: float) -> int:
    text = f"{value:.12g}"
    return len(text.partition(".")[2])


def _scaled_step(claim: Number) -> float:
    """The unit of the last digit of a number written with a scale word: 0.1 million for 3.2 million."""
    scale = 1e3
    for candidate in (1e12, 1e9, 1e6, 1e3):
        if abs(claim.value) >= candidate:
            scale = candidate
            break
    return float(scale * 10.0**-claim.decimals)


def found_in(claim: Number, numbers: Iterable[Number]) -> bool:
    """Whether any of `numbers` bears out `claim`."""
    return any(same_number(claim, number) for number in numbers)


def compatible(one: Numeral, other: Numeral) -> bool:
    """Whether two dates agree in every part that both state (and share at least one)."""
    if _agree(one, other):
        return True
    if one.swapped and _agree(swap(one), other):
        return True
    return other.swapped and _agree(one, swap(other))


def _agree(one: Numeral, other: Numeral) -> bool:
    shared = False
    for a, b in ((one.year, other.year), (one.month, other.month), (one.day, other.day)):
        if a is not None and b is not None:
            if a != b:
                return False
            shared = True
    return shared


def swap(date: Numeral) -> Numeral:
    """The date with day and month read the other way round."""
    return Numeral("date", year=date.year, month=date.day, day=date.month)
