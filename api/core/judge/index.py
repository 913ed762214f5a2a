"""Pure: the evidence, cut into sentences and indexed by stem.

Nothing depends on the order of the evidence items except the item numbers that findings name: weights come from
counts, and ties are broken by the text of the sentences.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import pairwise
from typing import Final

from api.core.judge.claims import clean
from api.core.judge.datebook import Datebook
from api.core.judge.facts import Parsed
from api.core.judge.figures import Figures
from api.core.judge.lazy import lazy
from api.core.judge.parse import parse
from api.core.judge.sentences import split_sentences

#: A stem that stands in more sentences than this brings only this many of them up as candidates: a bound on the work
#: for the largest input, far above what real evidence has.
POSTINGS_LIMIT: Final = 100
#: How many sentences are looked at for one pair of neighbours.
_MOST_NEIGHBOURS: Final = 50
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

    @lazy
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Pairs of content stems that stand next to each other, or with one between them."""
        content = self.parsed.content
        return frozenset(pairwise(content)).union(zip(content, content[2:], strict=False))

    @lazy
    def dates(self) -> Datebook:
        """Its dates."""
        return Datebook(dated.date for dated in self.parsed.dates)


class Evidence:
    """The indexed evidence.

    Sentences of the same text are read once, and only the first of them is indexed; all of them count as sentences.
    """

    def __init__(self, items: Sequence[str]) -> None:
        self.items = items
        self.sentences: list[Sentence] = []
        self.postings: dict[str, list[int]] = {}
        self._repeated: dict[str, int] = {}
        postings, repeated = self.postings, self._repeated
        known_texts: dict[str, Sentence] = {}
        for number, item in enumerate(items):
            for start, end in split_sentences(item):
                text = item[start:end]
                place = len(self.sentences)
                same = known_texts.get(text)
                if same is not None:
                    self.sentences.append(Sentence(number, start, end, text, same.parsed, same.stems))
                    for stem in same.stems:
                        repeated[stem] = repeated.get(stem, 0) + 1
                    continue
                parsed = parse(clean(text))
                stems = frozenset(parsed.content)
                for stem in stems:
                    known = postings.get(stem)
                    if known is None:
                        postings[stem] = [place]
                    else:
                        known.append(place)
                sentence = known_texts[text] = Sentence(number, start, end, text, parsed, stems)
                self.sentences.append(sentence)
        self.distinct = tuple(known_texts.values())
        self.common: dict[str, int] = {}
        if len(self.sentences) > POSTINGS_LIMIT:
            self._cut_postings()
        self._weights: dict[str, float] = {}
        self._reached: dict[tuple[str, int], list[int]] = {}

    def places(self, stem: str, reach: int) -> Sequence[int]:
        """The sentences that have a stem, as far as they are indexed; of more than `reach`, the first by text."""
        places = self.postings.get(stem, ())
        if len(places) <= reach:
            return places
        known = self._reached.get((stem, reach))
        if known is None:
            known = self._reached[stem, reach] = nsmallest(reach, places, key=self.order.__getitem__)
        return known

    def _cut_postings(self) -> None:
        for stem, places in self.postings.items():
            if len(places) > POSTINGS_LIMIT:
                self.common[stem] = len(places)
                places.sort(key=self.order.__getitem__)
                del places[POSTINGS_LIMIT:]

    @lazy
    def by_content(self) -> dict[tuple[str, ...], list[int]]:
        """Sentences by their content, the first few by text, for claims all of whose stems are common."""
        places: dict[tuple[str, ...], list[int]] = {}
        seen: set[str] = set()
        for place, sentence in enumerate(self.sentences):
            if sentence.text not in seen:
                seen.add(sentence.text)
                places.setdefault(tuple(sentence.parsed.content), []).append(place)
        order = self.order
        return {content: nsmallest(_MOST_ALIKE, found, key=order.__getitem__) for content, found in places.items()}

    @lazy
    def order(self) -> list[int]:
        """For each sentence its place in the order that ties are broken by: text first, so that the order of items
        does not matter."""
        sentences = self.sentences
        order = [0] * len(sentences)
        for nth, place in enumerate(sorted(range(len(sentences)), key=lambda place: (sentences[place].text, place))):
            order[place] = nth
        return order

    def weight(self, stem: str) -> float:
        """Inverse sentence frequency, smoothed; a stem that the evidence does not have weighs most."""
        known = self._weights.get(stem)
        if known is None:
            count = self.common.get(stem) or len(self.postings.get(stem, ()))
            count += self._repeated.get(stem, 0)
            known = self._weights[stem] = math.log(1 + (len(self.sentences) + 1) / (count + 0.5))
        return known

    def neighbours(self, one: str, other: str) -> bool:
        """Whether two stems stand next to each other, or with one stem between them, in a sentence."""
        first, second = self.postings.get(one), self.postings.get(other)
        if first is None or second is None:
            return False
        rarer = first if len(first) <= len(second) else second
        return any((one, other) in self.sentences[place].pairs for place in rarer[:_MOST_NEIGHBOURS])

    @lazy
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

    @lazy
    def figures(self) -> Figures:
        """The numbers of the evidence, whichever sentence they stand in."""
        return Figures(number for sentence in self.distinct for number in sentence.parsed.numbers)

    @lazy
    def dates(self) -> Datebook:
        """The dates of the evidence, whichever sentence they stand in."""
        return Datebook(dated.date for sentence in self.distinct for dated in sentence.parsed.dates)
