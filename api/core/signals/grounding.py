"""Pure: the clusters' representatives checked against evidence, by the judge."""

from __future__ import annotations

from collections.abc import Sequence

from api.core.consensus import Consensus
from api.core.judge import Evidence, judge_against
from api.core.judge import signals as findings


def grounded(consensus: Consensus, task: str, evidence: Sequence[str]) -> list[dict[str, object]] | None:
    """The judge's verdict, score and claims for each cluster's representative, in the order of the clusters, as a
    judge call with the same task and evidence gives them; None without evidence."""
    if not evidence:
        return None
    index = Evidence(evidence)
    found: list[dict[str, object]] = []
    for number, cluster in enumerate(consensus.clusters):
        judgement = judge_against(index, evidence, task, consensus.answers[cluster.members[0]].output)
        found.append(
            {
                "cluster": number,
                "verdict": judgement.verdict,
                "score": judgement.score,
                "claims": findings(judgement)["claims"],
            }
        )
    return found
