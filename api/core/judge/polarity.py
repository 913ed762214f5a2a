"""Pure: opposite words and negations of two sentences that otherwise say the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from api.core.judge.antonyms import OPPOSITES
from api.core.judge.facts import Parsed
from api.core.judge.lexicon import UNITS
from api.core.judge.normalise import fold
from api.core.judge.words import look_up, tokenise

#: Prefixes that turn a word round: safe, unsafe.
_TURNING: Final = ("un", "in", "im", "il", "ir", "dis", "non")
_SHORTEST_TURNED: Final = 4


def opposites(claim: Parsed, other: Parsed, text: str, other_text: str) -> list[str]:
    """Words of the claim whose opposite stands in the other sentence instead; both quoted as their texts write them.

    An opposite under a negation ("not open" for "closed") says the same thing. Units behind numbers are no opposites,
    although "monthly" and "yearly" are, which have their stems: 24 months are two years.
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
            one, two = written(word, text), written(opposite, other_text)
            if not (_measures(one, claim) and _measures(two, other)):
                found.append(f"{one} is the opposite of {two}")
    return found


def _measures(word: str, parsed: Parsed) -> bool:
    """Whether a word is the unit of a number, which is compared with its number."""
    folded = fold(word)
    return folded in UNITS and any(number.unit == folded for number in parsed.numbers)


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


#: How many stems after a negated verb its object may stand.
_OBJECT_WITHIN: Final = 3
_DETERMINERS: Final = frozenset(
    "no zero kein keine keinen keinem keiner aucun aucune ningun ninguna nessun nessuna nenhum nenhuma geen".split()
)


def same_denial(content: Sequence[str], negated: Sequence[int], text: str, other: Parsed, other_text: str) -> bool:
    """Whether one sentence denies the verb and the other its object: "does not contain nuts", "contains no nuts"."""
    mine, theirs = _denials(content, negated).denied, _denials(other.content, other.negated).denied
    if len(mine) != 1 or len(theirs) != 1 or mine == theirs:
        return False
    return any(
        noun in _determined(noun_text) and all(_object_of(verb, noun, stems) for stems in (content, other.content))
        for verb, noun, noun_text in ((mine[0], theirs[0], other_text), (theirs[0], mine[0], text))
    )


def _determined(text: str) -> frozenset[str]:
    """The content stems right behind a "no", an adjective between them included."""
    words = [look_up(token) for token in tokenise(text)]
    places = [place for place, word in enumerate(words) if word.folded in _DETERMINERS]
    return frozenset(word.stem for place in places for word in words[place + 1 : place + 3] if word.stem)


def _object_of(verb: str, noun: str, content: Sequence[str]) -> bool:
    return any(noun in content[at + 1 : at + 1 + _OBJECT_WITHIN] for at, word in enumerate(content) if word == verb)


def turned(content: Sequence[str], negated: Sequence[int], other: Parsed, text: str, other_text: str) -> list[str]:
    """Negations that only one of two sentences has, compared by the word that they govern.

    A negation in the other sentence over something that the claim leaves out is no difference.
    """
    if not negated and not other.negated:
        return []
    if same_denial(content, negated, text, other, other_text):
        return []
    mine, theirs = _denials(content, negated), _denials(other.content, other.negated)
    found: list[str] = []
    for word in mine.denied:
        if _said_otherwise(word, content, other.content):
            continue
        if word not in theirs.denied and (word in theirs.stated or not theirs.denied):
            found.append(f'the claim negates "{written(word, text)}", the evidence does not')
    for word in theirs.denied:
        if any(_object_of(verb, word, content) for verb in mine.denied) and word in _determined(other_text):
            continue
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
