"""Pure: many numbers, searched in bounded time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Final

from api.core.judge.compare import dimension, same_number
from api.core.judge.facts import Number
from api.core.judge.lexicon import UNITS

#: Numbers near the wanted one that are compared one by one.
_MOST_COMPARED: Final = 100


class Figures:
    """The numbers of a text: which of them bears out a claim's number?"""

    def __init__(self, numbers: Iterable[Number]) -> None:
        different = {(n.readings, n.unit, n.bound, n.dated): n for n in numbers}
        self._numbers = sorted(different.values(), key=lambda n: (n.value, n.unit, n.bound))
        self._values = [number.value for number in self._numbers]
        self._exact: dict[float, list[Number]] = {}
        self._measures: dict[str, list[Number]] = {}
        for number in self._numbers:
            if number.unit in UNITS:
                self._measures.setdefault(dimension(number.unit), []).append(number)
        for number in self._numbers:
            for reading in number.readings:
                self._exact.setdefault(reading, []).append(number)

    def match(self, claim: Number) -> Number | None:
        """A number that is the claim's: exactly, in another unit, by hedge, or by rounding; None when there is none."""
        for reading in claim.readings:
            for number in self._exact.get(reading, ())[:_MOST_COMPARED]:
                if same_number(claim, number):
                    return number
        if claim.unit in UNITS:
            for number in self._measures.get(dimension(claim.unit), ())[:_MOST_COMPARED]:
                if same_number(claim, number):
                    return number
        reach = 0.6 * abs(claim.value) + 1
        first = bisect_left(self._values, claim.value - reach)
        last = bisect_right(self._values, claim.value + reach)
        middle = bisect_left(self._values, claim.value)
        nearest = self._numbers[max(first, middle - _MOST_COMPARED) : min(last, middle + _MOST_COMPARED)]
        fitting = [number for number in nearest if same_number(claim, number)]
        return min(fitting, key=lambda number: abs(number.value - claim.value), default=None)
