"""Pure: opposite words and negations of two sentences that otherwise say the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from api.core.judge.antonyms import OPPOSITES
from api.core.judge.facts import Parsed

#: Prefixes that turn a word round: safe, unsafe.
_TURNING: Final = ("un", "in", "im", "il", "ir", "dis", "non")
_SHORTEST_TURNED: Final = 4


def opposites(claim: Parsed, other: Parsed) -> list[str]:
    """Words of the claim whose opposite stands in the other sentence instead."""
    mine, theirs = [*claim.content, *claim.polar], [*other.content, *other.polar]
    found: list[str] = []
    for word in dict.fromkeys(mine):
        surplus = mine.count(word) > theirs.count(word)
        for opposite in OPPOSITES.get(word, ()) if surplus else ():
            if theirs.count(opposite) > mine.count(opposite):
                found.append(f"{word} is the opposite of {opposite}")
                break
        else:
            if surplus and (turned_word := _prefixed(word, theirs, mine)):
                found.append(f"{word} is the opposite of {turned_word}")
    return found


def _prefixed(word: str, theirs: Sequence[str], mine: Sequence[str]) -> str:
    """The word of `theirs` that is `word` with a turning prefix, or without it; "" for none."""
    for prefix in _TURNING:
        rest = word[len(prefix) :]
        if word.startswith(prefix) and len(rest) >= _SHORTEST_TURNED and rest in theirs and rest not in mine:
            return rest
        if len(word) >= _SHORTEST_TURNED and prefix + word in theirs and prefix + word not in mine:
            return prefix + word
    return ""


def turned(content: Sequence[str], negated: Sequence[int], other: Parsed) -> list[str]:
    """Negations that only one of two sentences has, compared by the word that they govern.

    A negation in the other sentence over something that the claim leaves out is no difference.
    """
    mine, theirs = governed(content, negated), governed(other.content, other.negated)
    found: list[str] = []
    for word, count in mine.items():
        if count % 2 and not theirs.get(word, 0) % 2 and (word in other.content or not theirs):
            found.append(f"the claim negates {_shown(word)}, the evidence does not")
    for word, count in theirs.items():
        if count % 2 and not mine.get(word, 0) % 2 and word in content and len(mine) < len(theirs):
            found.append(f"the evidence negates {_shown(word)}, the claim does not")
    return found


def _shown(stem: str) -> str:
    return f'"{stem.lstrip("#@")}"'


def governed(content: Sequence[str], negated: Sequence[int]) -> dict[str, int]:
    """How many negations govern each stem: the one right behind the negation, or the last one before it."""
    counts: dict[str, int] = {}
    for place in negated:
        if content:
            word = content[min(place, len(content) - 1)]
            counts[word] = counts.get(word, 0) + 1
    return counts
