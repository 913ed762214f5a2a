"""Pure: what the judge returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["pass", "fail", "retry"]
Status = Literal["supported", "partial", "unsupported", "contradicted"]


@dataclass(frozen=True, slots=True)
class ClaimFinding:
    """One claim of the output. `text` is agent_output[start:end], in code points.

    `evidence_index` and `evidence_span` name the evidence sentence it was compared with (None without one).
    `missing`: words, names and numbers of the claim that the evidence has nowhere near. `conflicts`: what contradicts
    it, as the phrases used in the reasons. `score` is in 0..1, before the verdict's bands.
    """

    text: str
    start: int
    end: int
    status: Status
    score: float
    evidence_index: int | None = None
    evidence_span: tuple[int, int] | None = None
    missing: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CriterionFinding:
    """One criterion as the caller wrote it, whether it is met, and why. `violated`: not merely unmet but broken."""

    text: str
    met: bool
    why: str
    score: float
    violated: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """`score`: how sure it is that the output is acceptable, two decimals, in the band of the verdict: fail 0..0.39,
    retry 0.40..0.69, pass 0.70..1. `reasons`: most severe first. `hard_conflict`: something contradicts the output."""

    verdict: Verdict
    score: float
    reasons: tuple[str, ...]
    claims: tuple[ClaimFinding, ...]
    criteria: tuple[CriterionFinding, ...]
    hard_conflict: bool


def signals(judgement: Judgement) -> dict[str, Any]:
    """The findings of a judgement, JSON-ready.

    {"claims": [...], "criteria": [...]}, in the order of the output and of the request. A claim has
    `text`: the claim, verbatim; `start`, `end`: its place in agent_output, in code points;
    `status`: "supported", "partial", "unsupported" or "contradicted";
    `evidence_index`: the evidence item it was compared with, from 0, or null;
    `evidence_span`: [start, end] of the sentence in that item, in code points, or null;
    `missing`: list of words, names and numbers that were not found; `conflicts`: list of phrases that say what
    contradicts it. A criterion has `text`, `met` (boolean) and `why`.
    """
    return {
        "claims": [
            {
                "text": claim.text,
                "start": claim.start,
                "end": claim.end,
                "status": claim.status,
                "evidence_index": claim.evidence_index,
                "evidence_span": list(claim.evidence_span) if claim.evidence_span else None,
                "missing": list(claim.missing),
                "conflicts": list(claim.conflicts),
            }
            for claim in judgement.claims
        ],
        "criteria": [{"text": one.text, "met": one.met, "why": one.why} for one in judgement.criteria],
    }
