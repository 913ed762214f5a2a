"""Pure: how much of a claim the evidence has, and in which sentences."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from api.core.judge.facts import Parsed
from api.core.judge.index import POSTINGS_LIMIT, Evidence, Sentence
from api.core.judge.respell import respelled

#: At most this many sentences may support one claim together.
_MOST_SENTENCES: Final = 3
#: A further sentence must bring at least this share of the claim's weight.
_LEAST_GAIN: Final = 0.08
#: Weights that differ by less are the same.
_SAME: Final = 1e-9
#: How many candidates are weighed again when common stems are among the claim's.
_MOST_WEIGHED: Final = 20
#: How many times all stems of an output together may bring up a sentence, and the least for one stem.
_MOST_BROUGHT_UP: Final = 250_000
_SHORTEST_REACH: Final = 12


@dataclass(slots=True)
class Alignment:
    """`best`: share of the claim's weight in the best single sentence; `cover`: in up to three sentences together;
    `pairs`: share of its neighbouring pairs that are neighbours in the evidence. All 0..1.

    `content`: the claim's stems, near spellings replaced by those of the evidence. `used`: the sentences, best first.
    `absent`: stems that the sentences in `used` do not have, in claim order. `weights`: stem -> weight.
    """

    content: list[str]
    best: float
    cover: float
    pairs: float
    used: list[Sentence]
    absent: list[str]
    weights: dict[str, float]

    def best_without(self, stem: str) -> float:
        """What `best` would be if the claim did not have this stem."""
        total = sum(self.weights.values())
        rest = total - self.weights.get(stem, 0.0)
        return self.best * total / rest if rest > 0 else 0.0

    @property
    def sentence(self) -> Sentence | None:
        """The best sentence."""
        return self.used[0] if self.used else None


def reach_for(stems: int) -> int:
    """How many sentences each stem may bring up, for an output whose claims have `stems` stems in all: all that are
    indexed for any output but a huge one."""
    return max(_SHORTEST_REACH, min(POSTINGS_LIMIT, _MOST_BROUGHT_UP // max(1, stems)))


def align(parsed: Parsed, evidence: Evidence, reach: int = POSTINGS_LIMIT) -> Alignment:
    """Compares a claim that has content with the evidence. `reach`: as `reach_for` returns it."""
    content = respelled(parsed, evidence)
    stems = list(dict.fromkeys(content))
    weights = {stem: evidence.weight(stem) for stem in stems}
    total = sum(weights.values())
    used: list[Sentence] = []
    open_stems = stems
    covered = best = 0.0
    for _ in range(_MOST_SENTENCES):
        place, gain = _richest(open_stems, weights, evidence, parsed, reach)
        if place is None or (used and gain < _LEAST_GAIN * total):
            break
        sentence = evidence.sentences[place]
        used.append(sentence)
        covered += gain
        if len(used) == 1:
            best = gain
        open_stems = [stem for stem in open_stems if stem not in sentence.stems]
        if not open_stems:
            break
    share = _neighbours(content, used, evidence) if len(content) > 1 else covered / total
    if not open_stems:
        covered = total
    return Alignment(content, min(1.0, best / total), min(1.0, covered / total), share, used, open_stems, weights)


def _neighbours(content: list[str], used: list[Sentence], evidence: Evidence) -> float:
    """The share of the neighbouring pairs of `content` that are neighbours in the evidence."""
    found = 0
    for pair in pairwise(content):
        if any(pair in sentence.pairs for sentence in used) or evidence.neighbours(*pair):
            found += 1
    return found / (len(content) - 1)


def _richest(
    stems: list[str], weights: dict[str, float], evidence: Evidence, parsed: Parsed, reach: int
) -> tuple[int | None, float]:
    """The sentence with most of the weight of `stems`. Of equals: one that says just the same, then the shortest,
    then the first by text, so that the order of the evidence decides nothing."""
    totals: dict[int, float] = {}
    for stem in stems:
        places = evidence.places(stem, reach)
        if places:
            weight = weights[stem]
            for place in places:
                totals[place] = totals.get(place, 0.0) + weight
    if any(stem in evidence.common or len(evidence.postings.get(stem, ())) > reach for stem in stems):
        totals = _exact(stems, weights, totals, evidence, parsed)
    if not totals:
        return None, 0.0
    most = max(totals.values())
    tied = [place for place, value in totals.items() if value >= most - _SAME]
    if len(tied) == 1:
        return tied[0], most
    return _closest(tied, parsed, evidence), most


def _exact(
    stems: list[str], weights: dict[str, float], totals: dict[int, float], evidence: Evidence, parsed: Parsed
) -> dict[int, float]:
    """The best candidates, weighed exactly: the postings of common stems are cut, so that `totals` may lack some."""
    order = evidence.order
    ranked = sorted([(-total, order[place], place) for place, total in totals.items()])
    candidates = [place for _, _, place in ranked[:_MOST_WEIGHED]]
    candidates += evidence.by_content.get(tuple(parsed.content), ())
    sentences = evidence.sentences
    return {
        place: sum([weights[stem] for stem in stems if stem in sentences[place].stems])
        for place in dict.fromkeys(candidates)
    }


def _closest(tied: list[int], parsed: Parsed, evidence: Evidence) -> int:
    """Of equally rich sentences: those that say just the same, of these the shortest, of these the first by text."""
    sentences = evidence.sentences
    same = [place for place in tied if sentences[place].parsed.content == parsed.content]
    if same:
        tied = [place for place in same if sentences[place].parsed.negated == parsed.negated] or same
    shortest = min([len(sentences[place].stems) for place in tied])
    tied = [place for place in tied if len(sentences[place].stems) == shortest]
    return tied[0] if len(tied) == 1 else min(tied, key=evidence.order.__getitem__)
