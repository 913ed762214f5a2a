"""Pure. The deterministic consensus of several answers, to the letter of PRODUCT.md section 6.

All comparisons with thresholds are made on whole numbers, so that no rounding of floats decides a risk.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from api.core.text import tokens

SIMILAR = 55
BROAD = 80
VERBATIM = 90
THIN = 4
MAJORITY = 60
DISSENT = 35
"""Thresholds in per cent, but for THIN, which counts distinct tokens."""

RISK_VALUES = {"low": 0.0, "medium": 0.5, "high": 1.0}
"""What each risk adds to the false-consensus total (PRODUCT.md section 8)."""

NOTE = "Agreement is token overlap, not a model judgment."
NEARLY_VERBATIM = "Answers are nearly verbatim. High agreement may be copied rather than independent."
TOO_THIN = "The agreed answer is too thin to treat as an independent consensus."
MINORITY = "A minority answer materially disagrees with the majority."
NO_MAJORITY = "Agents disagree, so there is no false consensus and no stable majority."
AGREES = "The majority agrees without a verbatim pile-on or a strong dissent."


@dataclass(frozen=True, slots=True)
class Answer:
    """One agent's answer. `agent_id` None means that the caller named none; it shows as `answer-N`."""

    output: str
    agent_id: str | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """Answers that resemble the first of them. `members` are indexes into the request's answers, ascending."""

    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Consensus:
    """The result. `clusters` stand in the order of their first members; `winner` is the largest, the earlier on a
    tie."""

    answers: tuple[Answer, ...]
    clusters: tuple[Cluster, ...]
    winner: Cluster
    risk: str
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """The documented fields, in the documented order, `agreement_score` an int when whole."""
        return {
            "consensus_answer": self.answers[self.winner.members[0]].output,
            "agreement_score": hundredths(len(self.winner.members), len(self.answers)),
            "false_consensus_risk": self.risk,
            "reasons": [self.reason, NOTE],
            "clusters": [
                {
                    "size": len(cluster.members),
                    "agent_ids": [shown_id(self.answers, i) for i in cluster.members],
                    "representative": self.answers[cluster.members[0]].output,
                }
                for cluster in self.clusters
            ],
            "engine": "deterministic",
        }


def shown_id(answers: Sequence[Answer], index: int) -> str:
    """The agent's id, or `answer-N` counted from 1."""
    agent_id = answers[index].agent_id
    return f"answer-{index + 1}" if agent_id is None else agent_id


def hundredths(part: int, whole: int) -> int | float:
    """part / whole (0..1) to two decimals, halves up; an int when that is whole, so that it prints as `1`."""
    rounded = (200 * part + whole) // (2 * whole)
    return rounded // 100 if rounded % 100 == 0 else rounded / 100


class Similarities:
    """Jaccard similarity of the answers' token sets, as (size of the intersection, size of the union).

    Two empty sets count (1, 1) when the outputs are equal after trimming and case folding, else (0, 1).
    """

    def __init__(self, outputs: Sequence[str]) -> None:
        token_sets = {output: tokens(output) for output in dict.fromkeys(outputs)}
        self._outputs = outputs
        self.token_sets = [token_sets[output] for output in outputs]

    def of(self, a: int, b: int) -> tuple[int, int]:
        """The similarity of the answers with these indexes; the second number is at least 1."""
        left, right = self.token_sets[a], self.token_sets[b]
        if not left and not right:
            return int(self._outputs[a].strip().casefold() == self._outputs[b].strip().casefold()), 1
        shared = len(left) if left is right else len(left & right)
        return shared, len(left) + len(right) - shared

    def reaches(self, a: int, b: int, per_cent: int) -> bool:
        """Whether the similarity of the two is at least that many per cent."""
        shared, union = self.of(a, b)
        return shared * 100 >= union * per_cent


def consensus(answers: Sequence[Answer]) -> Consensus:
    """Scores two or more answers in request order. Raises ValueError for fewer."""
    if len(answers) < 2:
        raise ValueError("a consensus needs at least two answers")
    similarities = Similarities([answer.output for answer in answers])
    clusters = _cluster(len(answers), similarities)
    winner = max(clusters, key=lambda cluster: len(cluster.members))
    risk, reason = _risk(winner, len(answers), similarities)
    return Consensus(tuple(answers), clusters, winner, risk, reason)


def _cluster(count: int, similarities: Similarities) -> tuple[Cluster, ...]:
    groups: list[list[int]] = []
    for index in range(count):
        home = next((group for group in groups if similarities.reaches(group[0], index, SIMILAR)), None)
        if home is None:
            groups.append([index])
        else:
            home.append(index)
    return tuple(Cluster(tuple(group)) for group in groups)


def _risk(winner: Cluster, count: int, similarities: Similarities) -> tuple[str, str]:
    """The first row of the table in PRODUCT.md section 6 that holds."""
    agreement, representative = len(winner.members) * 100, winner.members[0]
    if agreement >= count * BROAD:
        if _mean_similarity(winner, similarities) * 100 >= VERBATIM:
            return "high", NEARLY_VERBATIM
        if len(similarities.token_sets[representative]) < THIN:
            return "high", TOO_THIN
    if agreement >= count * MAJORITY:
        outside = (index for index in range(count) if index not in winner.members)
        if any(not similarities.reaches(representative, index, DISSENT) for index in outside):
            return "medium", MINORITY
        return "low", AGREES
    return "low", NO_MAJORITY


def _mean_similarity(cluster: Cluster, similarities: Similarities) -> Fraction | int:
    """The exact mean over all pairs of members; 1 for a single member."""
    pairs = [similarities.of(a, b) for a, b in combinations(cluster.members, 2)]
    if all(shared == union for shared, union in pairs):
        return 1
    return sum((Fraction(shared, union) for shared, union in pairs), Fraction(0)) / len(pairs)
