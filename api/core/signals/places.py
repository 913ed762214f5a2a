"""Pure: facts of an answer with the words around them, so that two answers can be compared at the same place.

A place is known by two words: the two before it, the two behind it, or the one on either side (sentence ends count
as words, but not alone). Numbers and dates next to it stand for any number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from api.core.judge.antonyms import OPPOSITES
from api.core.judge.facts import Parsed
from api.core.signals.polarity import denied, opposite
from api.core.signals.proposals import spelled
from api.core.signals.reading import Reading
from api.core.signals.values import Value, agree, of_date, of_number, written

#: An answer brings no more facts of one kind than this.
MOST_FACTS: Final = 400
_START: Final = "^"
_END: Final = "$"
_NUMBER: Final = "#"
_EDGES: Final = frozenset((_START, _END, _NUMBER))

Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that an answer states. `kind`: number, date, name or negation; `shown`: as written; `places`: where,
    one to three of them. `value` for a number or a date; `stems` for a name; `word` and `affirmed` for a negation."""

    kind: str
    shown: str
    places: tuple[Place, ...]
    value: Value | None = None
    stems: frozenset[str] = frozenset()
    word: str = ""
    affirmed: bool = True

    @property
    def token(self) -> str:
        """Equal only for facts that say the same."""
        if self.value is not None:
            return written(self.value)
        return " ".join(sorted(self.stems)) or f"{'+' if self.affirmed else '-'}{self.word}"

    def same(self, other: Fact) -> bool:
        """Whether the two facts, of one kind, say the same thing."""
        if self.value is not None and other.value is not None:
            return agree(self.value, other.value)
        if self.stems:
            return self.stems <= other.stems or other.stems <= self.stems
        return self.word == other.word and self.affirmed == other.affirmed

    def contradicts(self, other: Fact) -> bool:
        """Whether the two facts, of one kind and place, cannot both hold. Different words do not, but for opposites
        that are both affirmed, or both denied."""
        if self.value is not None or self.stems:
            return not self.same(other)
        if self.word == other.word:
            return self.affirmed != other.affirmed
        return self.affirmed == other.affirmed and opposite(self.word, other.word)


def numbers_and_dates(reading: Reading) -> list[Fact]:
    """The numbers and dates. A bare year counts as a date."""
    facts = []
    for sentence in reading.distinct:
        parsed = sentence.parsed
        masked = _masked(parsed.content)
        for number in parsed.numbers:
            if number.dated or number.loose:
                continue
            value = of_number(number)
            kind = "number" if value.year is None else "date"
            facts.append(Fact(kind, number.shown, _places(masked, number.at, number.at + 1), value))
        for start, end, value in _dates(parsed):
            facts.append(Fact("date", value.shown, _places(masked, start, end), value))
    return facts[:MOST_FACTS]


def names(reading: Reading) -> list[Fact]:
    """The whole names. A single capitalised word that opens a sentence needs the whole rest of it as its place."""
    facts = []
    for sentence in reading.distinct:
        masked = _masked(sentence.parsed.content)
        for name in sentence.names:
            end = name.at + len(name.stems)
            if name.opening:
                rest = tuple(masked[end:])
                places: tuple[Place, ...] = ((_START, *rest, _END),) if len(rest) > 1 else ()
            else:
                places = _places(masked, name.at, end)
            if places:
                facts.append(Fact("name", name.shown, places, stems=frozenset(name.stems)))
    return facts[:MOST_FACTS]


def turned_words(readings: Sequence[Reading]) -> frozenset[str]:
    """The words that some of the answers negate."""
    return frozenset().union(
        *(denied(one.parsed) for reading in readings for one in reading.distinct if one.parsed.negated)
    )


def polarities(reading: Reading, watched: frozenset[str]) -> list[Fact]:
    """For each mention of a watched word, or of a word that has an opposite, whether the answer affirms it."""
    facts = []
    for sentence in reading.distinct:
        content = sentence.parsed.content
        masked = _masked(content)
        turned = denied(sentence.parsed)
        for at, word in enumerate(content):
            if word not in watched and word not in OPPOSITES:
                continue
            affirmed = word not in turned
            places = _places(masked, at, at + 1)
            if places:
                shown = spelled(word, sentence)
                facts.append(
                    Fact("negation", shown if affirmed else f"not {shown}", places, word=word, affirmed=affirmed)
                )
        if len(facts) >= MOST_FACTS:
            break
    return facts[:MOST_FACTS]


def _masked(content: Sequence[str]) -> list[str]:
    return [_NUMBER if stem[0] in "#@" else stem for stem in content]


def _places(masked: Sequence[str], start: int, end: int) -> tuple[Place, ...]:
    """The places of masked[start:end]: only those that hold at least one real word, besides a sentence end."""
    before = [masked[at] if at >= 0 else _START for at in (start - 2, start - 1)]
    behind = [masked[at] if at < len(masked) else _END for at in (end, end + 1)]
    return tuple(
        (side, *words)
        for side, words in (("before", before), ("behind", behind), ("around", (before[1], behind[0])))
        if not _EDGES.issuperset(words)
    )


def _dates(parsed: Parsed) -> Iterator[tuple[int, int, Value]]:
    """(start, end, date) of the dates: their place among the content stems, year, month and day side by side."""
    cursor = 0
    for dated in parsed.dates:
        date = dated.date
        parts = [part for part in (date.year, date.month, date.day) if part is not None]
        size = len(parts)
        first = f"#{parts[0]}" if date.year is not None or date.month is None else f"@{parts[0]}"
        try:
            start = parsed.content.index(first, cursor)
        except ValueError:
            continue
        cursor = start + size
        yield start, cursor, of_date(dated)
