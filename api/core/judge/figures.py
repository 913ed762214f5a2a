"""Pure: many numbers, searched in bounded time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Final

from api.core.judge.compare import same_number
from api.core.judge.facts import Number
from api.core.judge.lexicon import UNITS
from api.core.judge.numerals import tidy

#: Numbers near the wanted one that are compared one by one.
_MOST_COMPARED: Final = 100


class Figures:
    """The numbers of a text: can one of them bear out a claim's number?"""

    def __init__(self, numbers: Iterable[Number]) -> None:
        different = {(n.readings, n.unit, n.bound, n.dated): n for n in numbers}
        self._numbers = sorted(different.values(), key=lambda n: (n.value, n.unit, n.bound))
        self._values = [number.value for number in self._numbers]
        self._exact: dict[float, list[Number]] = {}
        self._measures = {_measure(number) for number in self._numbers if number.unit in UNITS}
        for number in self._numbers:
            for reading in number.readings:
                self._exact.setdefault(reading, []).append(number)

    def bear_out(self, claim: Number) -> bool:
        """Whether any number is the claim's, exactly, by hedge, by rounding, or in another unit."""
        for reading in claim.readings:
            if any(same_number(claim, number) for number in self._exact.get(reading, ())[:_MOST_COMPARED]):
                return True
        if claim.unit in UNITS and _measure(claim) in self._measures:
            return True
        reach = 0.6 * abs(claim.value) + 1
        first = bisect_left(self._values, claim.value - reach)
        last = bisect_right(self._values, claim.value + reach)
        middle = bisect_left(self._values, claim.value)
        nearest = self._numbers[max(first, middle - _MOST_COMPARED) : min(last, middle + _MOST_COMPARED)]
        return any(same_number(claim, number) for number in nearest)


def _measure(number: Number) -> tuple[str, float]:
    dimension, factor = UNITS[number.unit]
    return dimension, tidy(number.value * factor)
