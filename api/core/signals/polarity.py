"""Pure: what a statement denies, and whether two statements are opposed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from api.core.judge.antonyms import OPPOSITES
from api.core.judge.facts import Parsed

#: Prefixes that turn a word round: safe, unsafe.
_TURNING: Final = ("un", "in", "im", "il", "ir", "dis", "non")
_SHORTEST_TURNED: Final = 3


def denied(parsed: Parsed) -> frozenset[str]:
    """The stems under an odd number of negations: the one right behind each, or the last one before it."""
    content, odd = parsed.content, set[str]()
    if content:
        for place in parsed.negated:
            odd ^= {content[min(place, len(content) - 1)]}
    return frozenset(odd)


def opposite(one: str, other: str) -> bool:
    """Whether two stems are opposites: open and close, saf(e) and unsaf(e)."""
    if other in OPPOSITES.get(one, ()):
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= _SHORTEST_TURNED and any(long == prefix + short for prefix in _TURNING)


def opposed(one: Parsed, other: Parsed) -> bool:
    """Whether one statement denies what the other states, or has a word's opposite where the other has the word."""
    if denied(one) != denied(other):
        return True
    mine, theirs = set(one.content), set(other.content)
    return any(_stands_against(word, theirs - mine) for word in sorted(mine - theirs))


def _stands_against(word: str, others: Iterable[str]) -> bool:
    return any(opposite(word, other) for other in others)
