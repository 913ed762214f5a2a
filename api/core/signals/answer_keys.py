"""Pure: which answers give the same final answer, whatever words they put around it.

The key with the most support takes all answers that hold it; then the next among those left. So answers are compared
by what they answer, and one that states its answer in a sentence joins one that gives it in a word.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from api.core.signals.overlap import plain
from api.core.signals.proposals import Position, Proposal, position, read_question
from api.core.signals.reading import Reading
from api.core.signals.values import Value, agree, written

#: Weights are whole numbers of this part, so that no sum depends on its order.
_WHOLE: Final = 27_720


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """A final answer and the answers that give it, as ascending indexes. `key` is None for those that give none."""

    key: str | None
    kind: str
    members: tuple[int, ...]


def answer_keys(task: str, readings: Sequence[Reading]) -> list[AnswerKey]:
    """Every answer under one key, the key of most answers first, the earlier on a tie; last, under no key, those
    that decline or say nothing."""
    question = read_question(task)
    known = {reading.output: position(reading, question) for reading in {r.output: r for r in readings}.values()}
    positions = [known[reading.output] for reading in readings]
    left = {index for index, one in enumerate(positions) if one.proposals}
    silent = tuple(index for index in range(len(positions)) if index not in left)
    held = _holders(positions)
    found = []
    while left:
        proposal, members = _strongest(held, left)
        found.append(AnswerKey(proposal.shown, proposal.kind, tuple(sorted(members & left))))
        left -= members
    found.sort(key=lambda key: (-len(key.members), key.members[0]))
    return [*found, AnswerKey(None, "none", silent)] if silent else found


def entropy(keys: Sequence[AnswerKey]) -> int | float:
    """Shannon entropy of the answers' distribution over the keys, in bits, three decimals: 0 when all give one key,
    log2(n) when n answers give n. Answers without a key count as one outcome."""
    sizes = sorted(len(key.members) for key in keys)
    total = sum(sizes)
    return plain(math.fsum(size / total * math.log2(total / size) for size in sizes), 3)


@dataclass(frozen=True, slots=True)
class _Held:
    """A proposal, the answers that hold it, and how prominently answers propose it."""

    proposal: Proposal
    members: frozenset[int]
    places: dict[int, int]


def _holders(positions: Sequence[Position]) -> list[_Held]:
    shown: dict[tuple[str, str], list[Proposal]] = {}
    places: dict[tuple[str, str], dict[int, int]] = {}
    for index, one in enumerate(positions):
        for rank, proposal in enumerate(one.proposals):
            shown.setdefault(proposal.identity, []).append(proposal)
            places.setdefault(proposal.identity, {})[index] = rank
    found = []
    for identity, same in shown.items():
        proposal = min(same, key=lambda one: (len(one.shown), one.shown))
        members = _members(proposal, positions) | places[identity].keys()
        found.append(_Held(proposal, members, places[identity]))
    return found


def _members(proposal: Proposal, positions: Sequence[Position]) -> frozenset[int]:
    members = frozenset(index for index, one in enumerate(positions) if one.holds(proposal))
    if proposal.value is None:
        return members
    return _without_contradiction(
        proposal.value, {index: positions[index].values.agreeing(proposal.value) for index in members}
    )


def _without_contradiction(value: Value, stated: dict[int, list[Value]]) -> frozenset[int]:
    """A vague value (1968) must not unite answers that contradict each other (September 1968, December 1968): of
    those that say more only the ones that agree with the most detailed, best supported value stay."""
    pins = {written(one): one for values in stated.values() for one in values if one.detail > value.detail}
    if not pins:
        return frozenset(stated)
    detail = max(pin.detail for pin in pins.values())
    fitting = {
        text: frozenset(index for index, values in stated.items() if any(agree(pin, one) for one in values))
        for text, pin in pins.items()
        if pin.detail == detail
    }
    return fitting[min(fitting, key=lambda text: (-len(fitting[text]), text))]


def _strongest(held: Sequence[_Held], left: set[int]) -> tuple[Proposal, frozenset[int]]:
    """The proposal with the most weight among the answers left: one for each that holds it, and 1/rank for each that
    proposes it, so that what answers lead with beats what they mention along. Of equals the one with more words, then
    by spelling, never by the order of the answers."""

    def rank(one: _Held) -> tuple[int, int, tuple[str, str]]:
        prominence = sum(_WHOLE // (1 + place) for index, place in one.places.items() if index in left)
        return -_WHOLE * len(one.members & left) - prominence, -len(one.proposal.stems), one.proposal.identity

    best = min((one for one in held if not left.isdisjoint(one.places)), key=rank)
    return best.proposal, best.members
