"""Pure: many dates, searched without comparing each with each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from api.core.judge.compare import compatible, swap
from api.core.judge.lazy import lazy
from api.core.judge.numerals import Numeral

_PARTS: Final = 3
#: So few dates are compared one by one.
_FEW: Final = 4
#: A text keeps no more different dates than this.
_MOST: Final = 1000
_ALL: Final = (1 << _PARTS) - 1

#: Which parts a date states, which of them are compared, and their values.
_Key = tuple[int, int, tuple[int | None, ...]]


class Datebook:
    """The different dates of a text, up to a bound: which is the first that can be the same as a given one?

    Two dates can be the same when they agree in every part that both state (see `compare.compatible`). Each date is
    filed under each choice of its own parts, so that one question is answered by at most 28 look-ups.
    """

    def __init__(self, dates: Iterable[Numeral]) -> None:
        self._dates = list(dict.fromkeys(dates))[:_MOST]

    @lazy
    def _places(self) -> dict[_Key, int]:
        places: dict[_Key, int] = {}
        for place, date in enumerate(self._dates):
            for reading in _readings(date):
                states = _states(reading)
                for compared in range(1, _ALL + 1):
                    if compared & states == compared:
                        places.setdefault((states, compared, _values(reading, compared)), place)
        return places

    def __len__(self) -> int:
        return len(self._dates)

    def match(self, date: Numeral) -> Numeral | None:
        """The first date of the text that `date` can be, None when there is none."""
        if len(self._dates) <= _FEW:
            return next((other for other in self._dates if compatible(date, other)), None)
        found: list[int] = []
        for reading in _readings(date):
            mine = _states(reading)
            for states in range(1, _ALL + 1):
                shared = mine & states
                place = self._places.get((states, shared, _values(reading, shared))) if shared else None
                if place is not None:
                    found.append(place)
        return self._dates[min(found)] if found else None


def _readings(date: Numeral) -> tuple[Numeral, ...]:
    return (date, swap(date)) if date.swapped else (date,)


def _states(date: Numeral) -> int:
    """One bit for each part that the date states."""
    return sum(1 << bit for bit, part in enumerate((date.year, date.month, date.day)) if part is not None)


def _values(date: Numeral, compared: int) -> tuple[int | None, ...]:
    return tuple(part for bit, part in enumerate((date.year, date.month, date.day)) if compared >> bit & 1)
