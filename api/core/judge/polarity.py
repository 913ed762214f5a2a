"""Pure: opposite words and negations of two sentences that otherwise say the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from api.core.judge.antonyms import OPPOSITES
from api.core.judge.facts import Parsed
from api.core.judge.words import look_up, tokenise

#: Prefixes that turn a word round: safe, unsafe.
_TURNING: Final = ("un", "in", "im", "il", "ir", "dis", "non")
_SHORTEST_TURNED: Final = 4


def opposites(claim: Parsed, other: Parsed, text: str, other_text: str) -> list[str]:
    """Words of the claim whose opposite stands in the other sentence instead; both quoted as their texts write them.

    An opposite under a negation ("not open" for "closed") says the same thing.
    """
    mine, theirs = [*claim.content, *claim.polar], [*other.content, *other.polar]
    my_words, their_words = set(mine), set(theirs)
    found: list[str] = []
    for word in dict.fromkeys(mine):
        against = OPPOSITES.get(word)
        if against is None:
            opposite = "" if word in their_words else _prefixed(word, their_words, my_words)
        else:
            opposite = _instead(word, against, mine, theirs, their_words)
        if opposite and (word in odd(claim.content, claim.negated)) == (opposite in odd(other.content, other.negated)):
            found.append(f"{written(word, text)} is the opposite of {written(opposite, other_text)}")
    return found


def _instead(word: str, against: Sequence[str], mine: list[str], theirs: list[str], their_words: set[str]) -> str:
    """The opposite that the other sentence has more often than the claim, which has `word` more often; "" for none."""
    present = [opposite for opposite in against if opposite in their_words]
    if not present or mine.count(word) <= theirs.count(word):
        return ""
    return next((opposite for opposite in present if theirs.count(opposite) > mine.count(opposite)), "")


def _prefixed(word: str, theirs: set[str], mine: set[str]) -> str:
    """The word of `theirs` that is `word` with a turning prefix, or without it; "" for none."""
    if len(word) < _SHORTEST_TURNED:
        return ""
    for prefix in _TURNING:
        longer = prefix + word
        if longer in theirs and longer not in mine:
            return longer
        rest = word[len(prefix) :]
        if len(rest) >= _SHORTEST_TURNED and word.startswith(prefix) and rest in theirs and rest not in mine:
            return rest
    return ""


def written(stem: str, text: str) -> str:
    """How `text` writes a stem or function word; the stem itself when it does not."""
    for token in tokenise(text):
        word = look_up(token)
        if stem in (word.stem, word.folded):
            return token
    return stem.lstrip("#@")


def turned(content: Sequence[str], negated: Sequence[int], other: Parsed, text: str) -> list[str]:
    """Negations that only one of two sentences has, compared by the word that they govern.

    A negation in the other sentence over something that the claim leaves out is no difference.
    """
    if not negated and not other.negated:
        return []
    mine, theirs = _denials(content, negated), _denials(other.content, other.negated)
    found: list[str] = []
    for word in mine.denied:
        if _said_otherwise(word, content, other.content):
            continue
        if word not in theirs.denied and (word in theirs.stated or not theirs.denied):
            found.append(f'the claim negates "{written(word, text)}", the evidence does not')
    for word in theirs.denied:
        if word not in theirs.stated and word in mine.stated:
            found.append(f'the evidence negates "{written(word, text)}", the claim does not')
    return found


def _said_otherwise(word: str, mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether the other sentence has an opposite of the negated word in its place: "not closed", "open"."""
    return word not in theirs and any(o in theirs and o not in mine for o in OPPOSITES.get(word, ()))


class _Denials(NamedTuple):
    """Stems that a sentence has under a negation, and stems that it has without one; a stem can be in both."""

    denied: list[str]
    stated: frozenset[str]


def _denials(content: Sequence[str], negated: Sequence[int]) -> _Denials:
    counts: dict[int, int] = {}
    for place in negated:
        counts[min(place, len(content) - 1)] = counts.get(min(place, len(content) - 1), 0) + 1
    places = {place for place, count in counts.items() if count % 2}
    denied = list(dict.fromkeys(content[place] for place in sorted(places)))
    return _Denials(denied, frozenset(word for place, word in enumerate(content) if place not in places))


def odd(content: Sequence[str], negated: Sequence[int]) -> frozenset[str]:
    """The stems that an odd number of negations governs."""
    return frozenset(word for word, count in governed(content, negated).items() if count % 2)


def governed(content: Sequence[str], negated: Sequence[int]) -> dict[str, int]:
    """How many negations govern each stem: the one right behind the negation, or the last one before it."""
    counts: dict[str, int] = {}
    for place in negated:
        if content:
            word = content[min(place, len(content) - 1)]
            counts[word] = counts.get(word, 0) + 1
    return counts
