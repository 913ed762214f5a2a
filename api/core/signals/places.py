"""Pure: facts of an answer with the words around them, so that two answers can be compared at the same place.

A place is known by two words: the two before it, the two behind it, or the one on either side (sentence ends count
as words, but not alone). Numbers and dates next to it stand for any number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from api.core.judge.antonyms import OPPOSITES
from api.core.judge.facts import Parsed
from api.core.signals.polarity import denied, opposite
from api.core.signals.reading import Reading, spelled
from api.core.signals.values import Value, agree, of_date, of_number, written

#: An answer is compared on no more facts of one kind than this.
MOST_FACTS: Final = 200
_START: Final = "^"
_END: Final = "$"
_NUMBER: Final = "#"
_EDGES: Final = frozenset((_START, _END, _NUMBER))

Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that an answer states. `kind`: number, date, name or negation; `text`: as written, for a negation the
    sentence; `places`: where, one to three of them. `value` for a number or a date; `stems` for a name; `word` and
    `affirmed` for a negation."""

    kind: str
    text: str
    places: tuple[Place, ...]
    value: Value | None = None
    stems: frozenset[str] = frozenset()
    word: str = ""
    affirmed: bool = True

    @property
    def shown(self) -> str:
        """What the answer says: "4", "1 March 2024", "Cape Canaveral", "safe", "not safe"."""
        if not self.word:
            return self.text
        word = spelled(self.word, self.text)
        return word if self.affirmed else f"not {word}"

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
    return list(islice(_numbers_and_dates(reading), MOST_FACTS))


def _numbers_and_dates(reading: Reading) -> Iterator[Fact]:
    for sentence in reading.distinct:
        parsed = sentence.parsed
        if not parsed.numbers and not parsed.dates:
            continue
        masked = _masked(parsed.content)
        for number in parsed.numbers:
            if not number.dated and not number.loose:
                value = of_number(number)
                kind = "number" if value.year is None else "date"
                yield Fact(kind, number.shown, _places(masked, number.at, number.at + 1), value)
        for start, end, value in _dates(parsed):
            yield Fact("date", value.shown, _places(masked, start, end), value)


def names(reading: Reading) -> list[Fact]:
    """The whole names. A single capitalised word that opens a sentence needs the whole rest of it as its place."""
    return list(islice(_names(reading), MOST_FACTS))


def _names(reading: Reading) -> Iterator[Fact]:
    for sentence in reading.distinct:
        masked = _masked(sentence.parsed.content) if sentence.names else []
        for name in sentence.names:
            end = name.at + len(name.stems)
            places = _places(masked, name.at, end)
            if name.opening:
                rest = tuple(masked[end:])
                places = ((_START, *rest, _END),) if len(rest) > 1 else ()
            if places:
                yield Fact("name", name.shown, places, stems=frozenset(name.stems))


def turned_words(readings: Sequence[Reading]) -> frozenset[str]:
    """The words that some of the answers negate."""
    return frozenset().union(
        *(denied(one.parsed) for reading in readings for one in reading.distinct if one.parsed.negated)
    )


def polarities(reading: Reading, watched: frozenset[str]) -> list[Fact]:
    """For each mention of a watched word, or of a word that has an opposite, whether the answer affirms it."""
    return list(islice(_polarities(reading, watched), MOST_FACTS))


def _polarities(reading: Reading, watched: frozenset[str]) -> Iterator[Fact]:
    for sentence in reading.distinct:
        content = sentence.parsed.content
        masked = _masked(content)
        turned = denied(sentence.parsed)
        for at, word in enumerate(content):
            if word in watched or word in OPPOSITES:
                places = _places(masked, at, at + 1)
                if places:
                    yield Fact("negation", sentence.text, places, word=word, affirmed=word not in turned)


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
