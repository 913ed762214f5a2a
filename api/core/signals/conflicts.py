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
MOST_DISPUTED: Final = 48
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


def _points(facts: dict[int, list[Fact]]) -> list[dict[int, str]]:
    """The points on which answers differ: {answer: what it says}, those that are first mentioned first."""
    facts = _disputed(facts)
    places = {index: _by_place(stated) for index, stated in facts.items()}
    joined: dict[Mention, Mention] = {}
    for a, b in combinations(sorted(facts), 2):
        for mine, other in _pairs(facts[a], facts[b], places[a], places[b]):
            _join(joined, (a, mine), (b, other))
    groups: dict[Mention, dict[int, str]] = {}
    for mention in sorted(joined):
        index, fact = mention
        groups.setdefault(_root(joined, mention), {}).setdefault(index, facts[index][fact].shown)
    return list(groups.values())


def _disputed(facts: dict[int, list[Fact]]) -> dict[int, list[Fact]]:
    """The facts with a place at which answers say different things, at most MOST_DISPUTED for each answer."""
    speakers: dict[Place, tuple[set[int], set[str]]] = {}
    for index, stated in facts.items():
        for fact in stated:
            token = fact.token
            for place in fact.places:
                answers, tokens = speakers.setdefault(place, (set(), set()))
                answers.add(index)
                tokens.add(token)
    disputed = {place for place, (answers, tokens) in speakers.items() if len(answers) > 1 and len(tokens) > 1}
    return {
        index: [fact for fact in stated if not disputed.isdisjoint(fact.places)][:MOST_DISPUTED]
        for index, stated in facts.items()
    }


def _by_place(facts: Sequence[Fact]) -> dict[Place, list[int]]:
    found: dict[Place, list[int]] = {}
    for number, fact in enumerate(facts):
        for place in fact.places:
            found.setdefault(place, []).append(number)
    return found


def _pairs(
    mine: Sequence[Fact],
    theirs: Sequence[Fact],
    my_places: dict[Place, list[int]],
    their_places: dict[Place, list[int]],
) -> Iterator[Mention]:
    """(index of mine, index of theirs) of the facts that contradict each other."""
    for number, fact in enumerate(mine):
        for rival in _rivals(fact, theirs, their_places):
            if _rivals(theirs[rival], mine, my_places):
                yield number, rival
                break


def _rivals(fact: Fact, others: Sequence[Fact], places: dict[Place, list[int]]) -> list[int]:
    """The facts at the places of `fact` that contradict it, when none there says the same."""
    there = dict.fromkeys(n for place in fact.places for n in places.get(place, ())[:_MOST_AT_A_PLACE])
    if any(fact.same(others[n]) for n in there):
        return []
    return [n for n in there if fact.contradicts(others[n])]


def _root(joined: dict[Mention, Mention], mention: Mention) -> Mention:
    while joined.setdefault(mention, mention) != mention:
        mention = joined[mention]
    return mention


def _join(joined: dict[Mention, Mention], one: Mention, other: Mention) -> None:
    """Makes one point of two; its root is the earliest mention, so that the result has one order."""
    first, second = sorted((_root(joined, one), _root(joined, other)))
    joined[second] = first
