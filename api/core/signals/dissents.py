"""Pure: in what each answer outside the winning cluster differs from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from api.core.consensus import Cluster
from api.core.signals.answer_keys import AnswerKey
from api.core.signals.names import WholeName
from api.core.signals.overlap import Pairs, rounded
from api.core.signals.places import turned_words
from api.core.signals.reading import Reading, spelled
from api.core.signals.values import Value

#: A difference lists no more than this on each side.
MOST_LISTED: Final = 10


@dataclass(frozen=True, slots=True)
class Ballot:
    """The answers of a consensus, read."""

    clusters: Sequence[Cluster]
    winner: Cluster
    readings: Sequence[Reading]
    ids: Sequence[str]
    keys: Sequence[AnswerKey]
    similar: Pairs


def dissents(ballot: Ballot) -> list[dict[str, object]]:
    """One entry per answer outside the winning cluster, in request order, compared with the winner's representative.

    `differs` holds, as far as there are differences, kinds in this order: key, number, date, name, negation; each
    with `values`, what only the dissenting answer says, and `against`, what only the representative says.
    """
    opposing = largest_opposing(ballot.clusters, ballot.winner)
    cluster_of = {index: number for number, cluster in enumerate(ballot.clusters) for index in cluster.members}
    chosen = ballot.winner.members[0]
    found: list[dict[str, object]] = []
    for index, agent_id in enumerate(ballot.ids):
        if index in ballot.winner.members:
            continue
        found.append(
            {
                "answer": index,
                "agent_id": agent_id,
                "cluster": cluster_of[index],
                "largest_opposing": cluster_of[index] == opposing,
                "similarity": rounded(*ballot.similar[min(index, chosen), max(index, chosen)]),
                "differs": _differences(ballot, index, chosen),
            }
        )
    return found


def largest_opposing(clusters: Sequence[Cluster], winner: Cluster) -> int | None:
    """The index of the largest cluster but for the winner, the earlier on a tie; None when there is no other."""
    others = [number for number, cluster in enumerate(clusters) if cluster is not winner]
    return max(others, key=lambda number: len(clusters[number].members), default=None)


def _differences(ballot: Ballot, index: int, chosen: int) -> list[dict[str, object]]:
    mine, theirs = ballot.readings[index], ballot.readings[chosen]
    sides = {
        "key": (_key(ballot.keys, index, chosen), _key(ballot.keys, chosen, index)),
        "number": (_values(mine, theirs, "number"), _values(theirs, mine, "number")),
        "date": (_values(mine, theirs, "date"), _values(theirs, mine, "date")),
        "name": (_names(mine, theirs), _names(theirs, mine)),
        "negation": _negations(mine, theirs),
    }
    return [
        {"kind": kind, "values": values[:MOST_LISTED], "against": against[:MOST_LISTED]}
        for kind, (values, against) in sides.items()
        if values or against
    ]


def _key(keys: Sequence[AnswerKey], index: int, other: int) -> list[str]:
    """The answer's key, when the other answer has another one."""
    for key in keys:
        if index in key.members:
            return [] if key.key is None or other in key.members else [key.key]
    return []


def _values(mine: Reading, theirs: Reading, kind: str) -> list[str]:
    """Numbers, or dates and bare years, that the other answer has nowhere."""
    return _once(value.shown for value in mine.values.all if _kind(value) == kind and not theirs.values.agreeing(value))


def _kind(value: Value) -> str:
    return "number" if value.year is None and value.date is None else "date"


def _names(mine: Reading, theirs: Reading) -> list[str]:
    return _once(
        name.shown
        for sentence in mine.distinct
        for name in sentence.names
        if not name.opening and not _known(name, theirs)
    )


def _known(name: WholeName, reading: Reading) -> bool:
    """Whether any word of the name stands in that answer: a surname alone is the same person."""
    return not reading.stems.isdisjoint(name.stems)


def _negations(mine: Reading, theirs: Reading) -> tuple[list[str], list[str]]:
    """What one of the two denies and the other states: ("not safe", "safe")."""
    my_words, their_words = turned_words([mine]), turned_words([theirs])
    values: list[str] = []
    against: list[str] = []
    for word in sorted((my_words ^ their_words) & mine.stems & theirs.stems)[:MOST_LISTED]:
        mine_says, theirs_say = _spelled(word, mine), _spelled(word, theirs)
        values.append(f"not {mine_says}" if word in my_words else mine_says)
        against.append(f"not {theirs_say}" if word in their_words else theirs_say)
    return values, against


def _spelled(word: str, reading: Reading) -> str:
    for sentence in reading.distinct:
        if word in sentence.parsed.content:
            return spelled(word, sentence.text)
    return word


def _once(shown: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(shown))
