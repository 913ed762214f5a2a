"""Pure: many numbers, searched in bounded time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Final

from api.core.judge.compare import dimension, same_number
from api.core.judge.facts import EXACT, Number
from api.core.judge.lazy import lazy
from api.core.judge.lexicon import UNITS

#: Numbers near the wanted one that are compared one by one, and how many of a text that has very many.
_MOST_COMPARED: Final = 100
_MOST_OF_MANY: Final = 20
_MANY: Final = 2000
#: A number of fewer digits has the digits of another one by chance.
_FEWEST_DIGITS: Final = 5


class Figures:
    """The numbers of a text: which of them bears out a claim's number?"""

    def __init__(self, numbers: Iterable[Number]) -> None:
        different = {(n.readings, n.unit, n.bound, n.dated): n for n in numbers}
        ordered = sorted(different.values(), key=lambda n: (_size(n), n.unit, n.bound))
        #: How many numbers one question is compared with at most, on each way of finding them.
        self.most = _MOST_COMPARED if len(ordered) <= _MANY else _MOST_OF_MANY
        self._asked: dict[tuple[object, ...], Number | None] = {}
        self._exact: dict[float, list[Number]] = {}
        self._measures: dict[str, tuple[list[float], list[Number]]] = {}
        for number in ordered:
            sizes, alike = self._measures.setdefault(dimension(number.unit), ([], []))
            sizes.append(_size(number))
            alike.append(number)
            for reading in number.readings:
                self._exact.setdefault(reading, []).append(number)

    def match(self, claim: Number) -> Number | None:
        """A number that is the claim's: exactly, in another unit, by hedge, or by rounding; None when there is none."""
        key = (claim.readings, claim.unit, claim.decimals, claim.bound, claim.dated, claim.scaled)
        if key not in self._asked:
            self._asked[key] = self._match(claim)
        return self._asked[key]

    def transposed(self, claim: Number) -> Number | None:
        """The only number that has the claim's digits in another order, for a claim's number of some digits that
        stands nowhere; else None."""
        key = _digits(claim)
        if len(key[1]) < _FEWEST_DIGITS or self.match(claim) is not None:
            return None
        slips = self._by_digits.get(key, [])
        return slips[0] if len({number.value for number in slips}) == 1 else None

    @lazy
    def _by_digits(self) -> dict[tuple[int, str], list[Number]]:
        found: dict[tuple[int, str], list[Number]] = {}
        for alike in self._measures.values():
            for number in alike[1]:
                found.setdefault(_digits(number), []).append(number)
        return found

    def _match(self, claim: Number) -> Number | None:
        for reading in claim.readings:
            for number in self._exact.get(reading, ())[: self.most]:
                if same_number(claim, number):
                    return number
        return self._nearest(claim)

    def _nearest(self, claim: Number) -> Number | None:
        """The number nearest in size that bears out the claim by unit, hedge or rounding, the smaller of two as near.
        Only numbers of the claim's dimension can."""
        sizes, alike = self._measures.get(dimension(claim.unit), ([], []))
        size = _size(claim)
        reach = (1.0 if claim.bound == EXACT and not claim.scaled else 0.6 * abs(claim.value) + 1) * _factor(claim.unit)
        first, last = bisect_left(sizes, size - reach), bisect_right(sizes, size + reach)
        middle = bisect_left(sizes, size)
        places = list(range(max(first, middle - self.most), min(last, middle + self.most)))
        places.sort(key=lambda place: abs(sizes[place] - size))
        return next((alike[place] for place in places if same_number(claim, alike[place])), None)


def _digits(number: Number) -> tuple[int, str]:
    """How many decimals a number has, and its digits in ascending order; none for what is no plain exact number."""
    if number.dated or number.bound != EXACT:
        return 0, ""
    return number.decimals, "".join(sorted(f"{abs(number.value):.{number.decimals}f}".replace(".", "")))


def _factor(unit: str) -> float:
    return UNITS[unit][1] if unit in UNITS else 1.0


def _size(number: Number) -> float:
    """The value in the base unit of its dimension."""
    return number.value * _factor(number.unit)
