"""Pure: the numbers and dates that answers state, as values that can be compared and shown in one form.

Unlike the judge, which asks whether evidence bears a claim out, agents are compared as equals here: no hedge and no
rounding makes two different numbers one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from api.core.judge.compare import compatible, dimension
from api.core.judge.facts import Dated, Number, Parsed
from api.core.judge.lexicon import UNITS
from api.core.judge.numerals import Numeral, is_year, tidy

#: Whole numbers below this are shown with all their digits.
_LONGEST_PLAIN: Final = 1e15


@dataclass(frozen=True, slots=True)
class Value:
    """A number or a date (one of the two is None). `shown`: how the answer wrote it. Two values that agree have a
    mark in common; most that do not have none."""

    shown: str
    number: Number | None = None
    date: Numeral | None = None
    marks: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """ "date" or "number"."""
        return "number" if self.date is None else "date"

    @property
    def year(self) -> int | None:
        """The year of a date, or of a bare number that can be read as one."""
        if self.date is not None:
            return self.date.year
        number = self.number
        bare = number is not None and not number.unit and not number.scaled and is_year(number.value)
        return int(number.value) if number is not None and bare else None

    @property
    def detail(self) -> int:
        """How much it pins down: a full date 3, a year or a bare number 1, a number with a unit 2."""
        if self.date is not None:
            return sum(part is not None for part in (self.date.year, self.date.month, self.date.day))
        return 2 if self.number is not None and self.number.unit else 1


def values_of(parsed: Parsed, *, loose: bool = False) -> list[Value]:
    """The dates of a sentence, then its numbers, each in the order of the text. `loose`: the word "one" too."""
    dates = [of_date(dated) for dated in parsed.dates]
    return dates + [of_number(one) for one in parsed.numbers if not one.dated and (loose or not one.loose)]


def of_number(number: Number) -> Value:
    """The number as a value."""
    marks = [f"={reading:.12g}" for reading in number.readings]
    if number.unit in UNITS:
        measured, factor = UNITS[number.unit]
        marks.append(f"{measured}={tidy(number.value * factor):.12g}")
    return Value(number.shown, number=number, marks=tuple(marks))


def of_date(dated: Dated) -> Value:
    """The date as a value."""
    date = dated.date
    marks = [] if date.year is None else [f"={date.year}"]
    marks += [f"month={month}" for month in (date.month, date.day if date.swapped else None) if month is not None]
    marks += [f"day={day}" for day in (date.day, date.month if date.swapped else None) if day is not None]
    return Value(dated.shown, date=date, marks=tuple(marks))


def agree(one: Value, other: Value) -> bool:
    """Whether the two can be the same: 90 min and 1.5 hours, 42 and $42, 2000 and 31 August 2000.

    A bare number agrees with the same number of any unit; a date with any date that has no other year, month or day.
    """
    if set(one.marks).isdisjoint(other.marks):
        return False
    if one.date is not None and other.date is not None:
        return compatible(one.date, other.date)
    if one.number is not None and other.number is not None:
        return _same_number(one.number, other.number)
    return one.year is not None and one.year == other.year


def _same_number(one: Number, other: Number) -> bool:
    mine, theirs = dimension(one.unit), dimension(other.unit)
    if "clock" in (mine, theirs) and mine != theirs:
        return False
    if mine and theirs and mine != theirs:
        return False
    if one.unit in UNITS and other.unit in UNITS and one.unit != other.unit:
        return tidy(one.value * UNITS[one.unit][1]) == tidy(other.value * UNITS[other.unit][1])
    return not set(one.readings).isdisjoint(other.readings)


class Values:
    """Distinct values in the order of the text, with a table by mark."""

    def __init__(self, values: Iterable[Value]) -> None:
        self.all = tuple(dict.fromkeys(values))
        self._marked: dict[str, list[Value]] = {}
        for value in self.all:
            for mark in value.marks:
                self._marked.setdefault(mark, []).append(value)

    def agreeing(self, value: Value) -> list[Value]:
        """Those that can be the same as `value`."""
        near = dict.fromkeys(one for mark in value.marks for one in self._marked.get(mark, ()))
        return [one for one in near if agree(value, one)]


def written(value: Value) -> str:
    """The value in one form, whoever wrote it: "1000", "4.5 km", "2024-03-01", "2024-03", "--03-01", "12:30".

    A date without a year begins with two dashes, as in vCard (RFC 6350 section 4.3.1).
    """
    if value.date is not None:
        return _date(value.date)
    number = value.number
    if number is None:
        return value.shown
    if number.unit == "clock":
        return f"{int(number.value) // 60:02}:{int(number.value) % 60:02}"
    amount = number.value
    plain = amount == int(amount) and abs(amount) < _LONGEST_PLAIN
    digits = str(int(amount)) if plain else f"{amount:.12g}"
    return f"{digits} {number.unit}" if number.unit else digits


def _date(date: Numeral) -> str:
    head = "--" if date.year is None else f"{date.year:04}"
    if date.month is None and date.day is None:
        return head
    if date.month is None:
        return f"---{date.day:02}" if date.year is None else f"{head}---{date.day:02}"
    joint = "" if date.year is None else "-"
    month = f"{head}{joint}{date.month:02}"
    return month if date.day is None else f"{month}-{date.day:02}"
