"""Pure: which number or name of a sentence stands in the place of one of the claim's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, TypeVar

from api.core.judge.facts import Name

#: How far around a place its neighbours are looked at.
_REACH: Final = 2


T = TypeVar("T", bound="Placed")


class Placed(Protocol):
    """Something with a place among the content stems."""

    @property
    def at(self) -> int: ...


def neighbours(content: Sequence[str], at: int) -> frozenset[str]:
    """The stems around a place."""
    return frozenset(content[max(0, at - _REACH) : at]).union(content[at + 1 : at + 1 + _REACH])


def shared(claim: Sequence[str], at: int, other: Sequence[str], there: int) -> int:
    """How many neighbours two places share."""
    return len(neighbours(claim, at) & neighbours(other, there))


def best_rival(claim: Sequence[str], at: int, other: Sequence[str], rivals: Sequence[T]) -> tuple[T, int]:
    """The rival whose neighbours are most like those of the claim's place, the first of equals, and how many they
    share. `rivals` is not empty."""
    best, most = rivals[0], -1
    for rival in rivals:
        count = shared(claim, at, other, rival.at)
        if count > most:
            best, most = rival, count
    return best, most


def full_name(names: Sequence[Name], name: Name) -> str:
    """The whole name that `name` is a word of, as written: Cape Canaveral for Cape."""
    by_place = {one.nth: one for one in names}
    first = last = name.nth
    while first - 1 in by_place:
        first -= 1
    while last + 1 in by_place:
        last += 1
    return " ".join(by_place[place].shown for place in range(first, last + 1))
