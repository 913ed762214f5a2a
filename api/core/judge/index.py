"""Pure: the evidence, cut into sentences and indexed by stem.

Nothing depends on the order of the evidence items except the item numbers that findings name: weights come from
counts, and ties are broken by the text of the sentences.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from itertools import pairwise
from typing import Final

from api.core.judge.claims import clean
from api.core.judge.facts import Dated, Parsed
from api.core.judge.figures import Figures
from api.core.judge.parse import parse
from api.core.judge.sentences import split_sentences

#: A stem that stands in more sentences than this brings only this many of them up as candidates: a bound on the work
#: for the largest input, far above what real evidence has.
POSTINGS_LIMIT: Final = 100
#: How many sentences are looked at for one pair of neighbours.
_MOST_NEIGHBOURS: Final = 50
_MOST_DATES: Final = 1000
_SHORTEST_ALIKE: Final = 5
_MOST_ALIKE: Final = 40


@dataclass
class Sentence:
    """One evidence sentence: where it stands, its text as the caller sent it, and its facts."""

    item: int
    start: int
    end: int
    text: str
    parsed: Parsed
    stems: frozenset[str]

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Pairs of content stems that stand next to each other, or with one between them."""
        content = self.parsed.content
        return frozenset(pairwise(content)).union(zip(content, content[2:], strict=False))


class Evidence:
    """The indexed evidence."""

    def __init__(self, items: Sequence[str]) -> None:
        self.items = items
        self.sentences: list[Sentence] = []
        self.postings: dict[str, list[int]] = {}
        postings = self.postings
        for number, item in enumerate(items):
            for start, end in split_sentences(item):
                text = item[start:end]
                parsed = parse(clean(text))
                stems = frozenset(parsed.content)
                place = len(self.sentences)
                for stem in stems:
                    known = postings.get(stem)
                    if known is None:
                        postings[stem] = [place]
                    else:
                        known.append(place)
                self.sentences.append(Sentence(number, start, end, text, parsed, stems))
        self.common: dict[str, int] = {}
        if len(self.sentences) > POSTINGS_LIMIT:
            self._cut_postings()
        self._weights: dict[str, float] = {}

    def _cut_postings(self) -> None:
        for stem, places in self.postings.items():
            if len(places) > POSTINGS_LIMIT:
                self.common[stem] = len(places)
                places.sort(key=self.rank)
                del places[POSTINGS_LIMIT:]

    @cached_property
    def by_content(self) -> dict[tuple[str, ...], list[int]]:
        """Sentences by their content, the first few by text, for claims all of whose stems are common."""
        places: dict[tuple[str, ...], list[int]] = {}
        for place, sentence in enumerate(self.sentences):
            places.setdefault(tuple(sentence.parsed.content), []).append(place)
        return {content: nsmallest(_MOST_ALIKE, found, key=self.rank) for content, found in places.items()}

    def rank(self, place: int) -> tuple[str, int]:
        """The order of sentences that ties are broken by: text first, so that the order of items does not matter."""
        return self.sentences[place].text, place

    def weight(self, stem: str) -> float:
        """Inverse sentence frequency, smoothed; a stem that the evidence does not have weighs most."""
        known = self._weights.get(stem)
        if known is None:
            count = self.common.get(stem) or len(self.postings.get(stem, ()))
            known = self._weights[stem] = math.log(1 + (len(self.sentences) + 1) / (count + 0.5))
        return known

    def neighbours(self, one: str, other: str) -> bool:
        """Whether two stems stand next to each other, or with one stem between them, in a sentence."""
        first, second = self.postings.get(one), self.postings.get(other)
        if first is None or second is None:
            return False
        rarer = first if len(first) <= len(second) else second
        return any((one, other) in self.sentences[place].pairs for place in rarer[:_MOST_NEIGHBOURS])

    @cached_property
    def _alphabetical(self) -> list[str]:
        return sorted(stem for stem in self.postings if len(stem) >= _SHORTEST_ALIKE and stem[0] not in "#@")

    def alike(self, stem: str) -> str | None:
        """A stem of the evidence that shares all but the last two letters ("translat" for "translation"), or None."""
        if len(stem) < _SHORTEST_ALIKE or stem[0] in "#@":
            return None
        prefix = stem[: max(4, len(stem) - 2)]
        words = self._alphabetical
        at = bisect_left(words, prefix)
        best: str | None = None
        last = min(len(words), at + _MOST_ALIKE)
        while at < last and words[at].startswith(prefix):
            gap = abs(len(words[at]) - len(stem))
            if gap <= 4 and (best is None or gap < abs(len(best) - len(stem))):
                best = words[at]
            at += 1
        return best

    @cached_property
    def figures(self) -> Figures:
        """The numbers of the evidence, whichever sentence they stand in."""
        return Figures(number for sentence in self.sentences for number in sentence.parsed.numbers)

    @cached_property
    def dates(self) -> list[Dated]:
        """The different dates of the evidence, up to a bound."""
        found = {dated.date: dated for sentence in self.sentences for dated in sentence.parsed.dates}
        return list(found.values())[:_MOST_DATES]
