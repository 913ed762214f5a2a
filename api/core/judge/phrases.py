"""Pure: how much of a phrase stands in an output, in whatever words the output says it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

from api.core.judge.claims import clean
from api.core.judge.compare import compatible, same_number
from api.core.judge.facts import EXACT, Parsed
from api.core.judge.lazy import lazy
from api.core.judge.lexicon import CRITERION_VERBS, TITLES
from api.core.judge.normalise import fold, squeeze, stands_in
from api.core.judge.parse import parse
from api.core.judge.reasons import quote
from api.core.judge.stem import stem
from api.core.judge.words import tokenise

#: A phrase is met when this share of its weight stands in the output.
MET_FROM: Final = 0.6
#: Weights: numbers and names count double; a word that the task already says counts half.
_HEAVY: Final = 2.0
_GIVEN: Final = 0.5
#: Credit for a word one letter off, or one that shares all but its ending.
_NEARLY: Final = 0.8
#: Credit for a full name of which the output has the surname alone.
_SURNAME: Final = 0.7
#: A phrase that the output contradicts gets no more than this.
_CONTRADICTED: Final = 0.4
_SHORTEST_NEARLY: Final = 5
#: Only words with the same first letters are compared, and of those no more than this: a bound on the work.
_SAME_START: Final = 2
_MOST_NEARLY: Final = 200


@dataclass(frozen=True)
class Output:
    """The output as the criteria read it. `task` is what the agent was asked: repeating it proves little."""

    text: str
    task: str = ""

    @lazy
    def squeezed(self) -> str:
        """Folded, white space squeezed."""
        return squeeze(self.text)

    @lazy
    def parsed(self) -> Parsed:
        """The facts of the whole text."""
        return parse(clean(self.text))

    @lazy
    def stems(self) -> frozenset[str]:
        """Its content stems."""
        return frozenset(self.parsed.content)

    @lazy
    def _alphabetical(self) -> list[str]:
        return sorted(self.stems)

    def presence(self, word: str) -> float:
        """1 when the text has the stem, less when it has one that is spelt nearly the same, else 0."""
        if word in self.stems:
            return 1.0
        if len(word) < _SHORTEST_NEARLY or word[0] in "#@":
            return 0.0
        start = word[:_SAME_START]
        words = self._alphabetical
        at = bisect_left(words, start)
        for other in words[at : at + _MOST_NEARLY]:
            if not other.startswith(start):
                break
            if one_edit(word, other) or same_root(word, other):
                return _NEARLY
        return 0.0

    @lazy
    def given(self) -> frozenset[str]:
        """The content stems of the task."""
        return frozenset(parse(self.task).content)

    @lazy
    def denied(self) -> frozenset[str]:
        """Stems that stand in the text only right behind a negation."""
        content = self.parsed.content
        governed: dict[str, int] = {}
        for place in self.parsed.negated:
            if place < len(content):
                governed[content[place]] = governed.get(content[place], 0) + 1
        return frozenset(stem for stem, count in governed.items() if count == content.count(stem))


def recall(phrase: str, output: Output) -> float:
    """Weighted share of the phrase's stems that the output has, 0..1."""
    plain = squeeze(phrase).strip(" .\"'")
    if plain and stands_in(plain, output.squeezed):
        return 1.0
    asked = without_verbs(phrase)
    parsed = parse(asked)
    if not parsed.content:
        return 1.0 if plain in output.squeezed else 0.0
    weights = _weights(parsed, output, capital_counts=asked != phrase)
    present = _numbers_present(parsed, output)
    hit = sum(weight * max(present.get(word, 0.0), output.presence(word)) for word, weight in weights.items())
    share = hit / sum(weights.values())
    if _has_surname(parsed, output):
        share = max(share, _SURNAME)
    return min(share, _CONTRADICTED) if _contradicts(parsed, output) else share


def _weights(parsed: Parsed, output: Output, *, capital_counts: bool) -> dict[str, float]:
    names = {name.stem for name in parsed.names if not name.opening or capital_counts or len(parsed.names) > 1}
    given = output.given
    some_new = any(stem not in given for stem in parsed.content)
    weights: dict[str, float] = {}
    for word in parsed.content:
        weight = _HEAVY if word[0] in "#@" or word in names else 1.0
        if (some_new and word in given) or (word in _TITLE_STEMS and len(parsed.content) > 1):
            weight *= _GIVEN
        weights[word] = weight
    return weights


def without_verbs(text: str) -> str:
    """The phrase without the instruction in front of it ("mentions the price" asks for the price)."""
    words = text.split()
    start = 0
    while start < len(words) - 1 and fold(words[start]).strip(":") in _INSTRUCTION:
        start += 1
    return " ".join(words[start:])


_TITLE_STEMS: Final = frozenset(stem(title) for title in TITLES)
_INSTRUCTION: Final = CRITERION_VERBS | {"the", "that", "a"}


def _numbers_present(parsed: Parsed, output: Output) -> dict[str, float]:
    """Numbers of the phrase that the output bears out by rounding, hedge or another unit."""
    present: dict[str, float] = {}
    for number in parsed.numbers:
        if not number.loose and any(
            same_number(stated, number) or (number.bound != EXACT and same_number(number, stated._replace(bound=EXACT)))
            for stated in output.parsed.numbers
        ):
            present[parsed.content[number.at]] = 1.0
    return present


def one_edit(one: str, other: str) -> bool:
    """Whether two different words are one letter inserted, dropped or replaced apart."""
    if abs(len(one) - len(other)) > 1 or len(other) < _SHORTEST_NEARLY - 1 or other[0] in "#@":
        return False
    at = 0
    shortest = min(len(one), len(other))
    while at < shortest and one[at] == other[at]:
        at += 1
    return one[at:] == other[at + 1 :] or one[at + 1 :] == other[at:] or one[at + 1 :] == other[at + 1 :]


def same_root(one: str, other: str) -> bool:
    """Whether two words differ in their endings only: environment, environmental."""
    if other[0] != one[0] or other[1:2] != one[1:2]:
        return False
    shorter = min(len(one), len(other))
    return (
        shorter >= _SHORTEST_NEARLY
        and abs(len(one) - len(other)) <= 4
        and (one.startswith(other[: max(_SHORTEST_NEARLY, shorter - 2)]))
    )


def _has_surname(parsed: Parsed, output: Output) -> bool:
    """Whether the phrase is a full name and the output has its last word as a name of its own.

    A different first name in front of it makes it another person, unless it has the same initial (Bob, Bobbie)."""
    content, names = parsed.content, parsed.names
    if len(content) < 2 or len(names) != len(content) or content[-1][0] in "#@":
        return False
    first = next((name.shown[0] for name in names if name.stem not in _TITLE_STEMS), "")
    theirs = output.parsed.names
    for index, name in enumerate(theirs):
        if name.stem != content[-1]:
            continue
        before = theirs[index - 1] if index else None
        if before is None or before.at != name.at - 1 or before.stem in _TITLE_STEMS or before.shown[0] == first:
            return True
    return False


def _contradicts(parsed: Parsed, output: Output) -> bool:
    """Whether the output has other dates in place of the phrase's, or negates one of its words."""
    for dated in parsed.dates:
        date = dated.date
        full = [other.date for other in output.parsed.dates if other.date.month and (other.date.day or other.date.year)]
        if date.month and (date.day or date.year) and full and not any(compatible(date, other) for other in full):
            return True
    if not output.parsed.negated or parsed.negated:
        return False
    return any(stem in output.denied for stem in parsed.content)


def contradicted(phrase: str, output: Output) -> bool:
    """Whether the output says otherwise than the phrase."""
    return _contradicts(parse(without_verbs(phrase)), output)


def lacking(phrase: str, output: Output) -> str:
    """The words of the phrase that the output does not have, quoted; the phrase itself when it has them all."""
    absent = [
        token
        for token in tokenise(without_verbs(phrase))
        if (content := parse(token).content) and not any(output.presence(word) for word in content)
    ]
    return ", ".join(quote(token) for token in dict.fromkeys(absent)) or quote(phrase)
