"""Pure: members of one cluster that contradict each other.

Clusters are made of words in common, so "The crew size was 4." and "The crew size was 5." are one cluster: their
tokens are the same (a single digit is no token). What the words agree on, the facts need not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from api.core.consensus import Cluster
from api.core.signals.places import Fact, Place, names, numbers_and_dates, polarities, turned_words
from api.core.signals.reading import Reading

#: The order in which kinds are reported.
KINDS: Final = ("number", "date", "name", "negation")
#: A cluster reports no more conflicts than this.
MOST_CONFLICTS: Final = 50
#: Of one kind, this many facts of an answer that are in dispute are compared with each other member's.
MOST_DISPUTED: Final = 32
_MOST_AT_A_PLACE: Final = 4

Mention = tuple[int, int]
"""(answer, index of the fact among its facts)."""


def conflicts(clusters: Sequence[Cluster], readings: Sequence[Reading], ids: Sequence[str]) -> list[dict[str, object]]:
    """Per cluster and point of conflict: the cluster's index, the kind, and side by side what each agent says.

    Two members conflict on a fact when at the same place among their words they say different things, and neither
    says the other's thing at any place that the two share. `values` and `agent_ids` run in parallel, one entry per
    member that speaks on the point, in request order.
    """
    found: list[dict[str, object]] = []
    for number, cluster in enumerate(clusters):
        different = {readings[index].output for index in cluster.members}
        if len(different) < 2:
            continue
        kept = 0
        for kind, points in _by_kind(cluster, readings):
            for point in points[: MOST_CONFLICTS - kept]:
                members = sorted(point)
                found.append(
                    {
                        "cluster": number,
                        "kind": kind,
                        "values": [point[member] for member in members],
                        "agent_ids": [ids[member] for member in members],
                    }
                )
                kept += 1
    return found


def _by_kind(cluster: Cluster, readings: Sequence[Reading]) -> Iterator[tuple[str, list[dict[int, str]]]]:
    members = cluster.members
    watched = turned_words([readings[index] for index in members])
    facts: dict[str, dict[int, list[Fact]]] = {kind: {} for kind in KINDS}
    cache: dict[str, list[Fact]] = {}
    for index in members:
        reading = readings[index]
        if reading.output not in cache:
            cache[reading.output] = [*numbers_and_dates(reading), *names(reading), *polarities(reading, watched)]
        for fact in cache[reading.output]:
            facts[fact.kind].setdefault(index, []).append(fact)
    for kind in KINDS:
        yield kind, _points(facts[kind])


class _Stated:
    """The facts of one kind in one answer, with a table by place."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self.facts = facts
        self.tokens = [fact.token for fact in facts]
        self._there: dict[Place, list[int]] = {}
        self.said: set[tuple[Place, str]] = set()
        for number, fact in enumerate(facts):
            for place in fact.places:
                self._there.setdefault(place, []).append(number)
                self.said.add((place, self.tokens[number]))

    def rivals(self, fact: Fact, token: str) -> list[int]:
        """The facts at the places of `fact` that contradict it, when none there says the same."""
        if any((place, token) in self.said for place in fact.places):
            return []
        there = dict.fromkeys(n for place in fact.places for n in self._there.get(place, ())[:_MOST_AT_A_PLACE])
        if any(fact.same(self.facts[number]) for number in there):
            return []
        return [number for number in there if fact.contradicts(self.facts[number])]


def _points(facts: dict[int, list[Fact]]) -> list[dict[int, str]]:
    """The points on which answers differ: {answer: what it says}, those that are first mentioned first."""
    stated = {index: _Stated(facts[index]) for index in sorted(facts)}
    disputed = _disputed(stated)
    joined: dict[Mention, Mention] = {}
    for a, b in combinations(stated, 2):
        for mine, other in _pairs(stated[a], stated[b], disputed[a]):
            _join(joined, (a, mine), (b, other))
    groups: dict[Mention, dict[int, str]] = {}
    for mention in sorted(joined):
        index, fact = mention
        groups.setdefault(_root(joined, mention), {}).setdefault(index, facts[index][fact].shown)
    return list(groups.values())


def _disputed(stated: dict[int, _Stated]) -> dict[int, list[int]]:
    """Per answer its facts with a place at which answers say different things, at most MOST_DISPUTED."""
    speakers: dict[Place, set[int]] = {}
    tokens: dict[Place, set[str]] = {}
    for index, one in stated.items():
        for place, token in one.said:
            speakers.setdefault(place, set()).add(index)
            tokens.setdefault(place, set()).add(token)
    places = {place for place, said in tokens.items() if len(said) > 1 and len(speakers[place]) > 1}
    return {
        index: [number for number, fact in enumerate(one.facts) if not places.isdisjoint(fact.places)][:MOST_DISPUTED]
        for index, one in stated.items()
    }


def _pairs(mine: _Stated, theirs: _Stated, disputed: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(number of mine, number of theirs) of the facts that contradict each other."""
    for number in disputed:
        for rival in theirs.rivals(mine.facts[number], mine.tokens[number]):
            if mine.rivals(theirs.facts[rival], theirs.tokens[rival]):
                yield number, rival
                break


def _root(joined: dict[Mention, Mention], mention: Mention) -> Mention:
    while joined.setdefault(mention, mention) != mention:
        mention = joined[mention]
    return mention


def _join(joined: dict[Mention, Mention], one: Mention, other: Mention) -> None:
    """Makes one point of two; its root is the earliest mention, so that the result has one order."""
    first, second = sorted((_root(joined, one), _root(joined, other)))
    joined[second] = first
