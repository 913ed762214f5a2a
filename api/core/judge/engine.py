"""Pure: the deterministic judge. Same answer on every machine, in every process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from api.core.judge import reasons
from api.core.judge.align import align
from api.core.judge.claims import Claim, split_claims
from api.core.judge.conflicts import find_faults
from api.core.judge.criteria import check_criterion
from api.core.judge.equations import disputed, equations
from api.core.judge.facts import Parsed
from api.core.judge.index import Evidence
from api.core.judge.model import ClaimFinding, Judgement, Status
from api.core.judge.normalise import squeeze
from api.core.judge.parse import parse
from api.core.judge.phrases import Output
from api.core.judge.verdict import Checked, Findings, decide

SUPPORTED_FROM: Final = 0.62
PARTIAL_FROM: Final = 0.40
_SOFT: Final = 0.15
_CONFLICT_CAP: Final = 0.35


def judge(
    task: str, agent_output: str, evidence: Sequence[str] = (), criteria: Sequence[str] = ()
) -> Judgement:
    """Judges `agent_output`. Never raises on any text; the work is bounded for the largest accepted request."""
    items = list(evidence)
    claims = split_claims(agent_output)
    index = Evidence(items)
    false_sums, derived = _equations(claims)
    checked = [one for claim in claims if (one := _check(claim, agent_output, index, derived))] if index.sentences else []
    output = Output(agent_output, task)
    found = [check_criterion(criterion, output) for criterion in criteria]
    verbatim = bool(index.sentences) and bool(output.parsed.content) and _verbatim(agent_output, index)
    return decide(Findings(agent_output, items, checked, found, false_sums, verbatim, bool(output.parsed.content)))


def _verbatim(text: str, index: Evidence) -> bool:
    plain = squeeze(text)
    return any(plain in item for item in index.squeezed)


def _equations(claims: list[Claim]) -> tuple[list[str], frozenset[float]]:
    """Reasons for the false equations, and the results of the true ones."""
    false: list[str] = []
    derived: set[float] = set()
    for claim in claims:
        for equation in equations(claim.text):
            if equation.holds:
                derived.add(float(f"{float(equation.result):.12g}"))
            elif not disputed(claim.text):
                stated = f"{equation.left} = {equation.right}"
                false.append(reasons.false_equation(claim.text, stated, f"{float(equation.result):.6g}"))
    return false, frozenset(derived)


def _check(claim: Claim, output: str, index: Evidence, derived: frozenset[float]) -> Checked | None:
    """A claim against the evidence; None when it has no content."""
    parsed = parse(claim.text)
    if claim.key:
        _drop_unknown_keys(parsed, claim.key, index)
    if not parsed.content:
        return None
    shown = output[claim.start : claim.end]
    alignment = align(parsed, index)
    sentence = alignment.sentence
    if _verbatim(claim.text, index):
        finding = ClaimFinding(
            shown, claim.start, claim.end, "supported", 1.0,
            sentence.item if sentence else None, (sentence.start, sentence.end) if sentence else None,
        )  # fmt: skip
        return Checked(finding, 1.0, len(parsed.content))
    faults = find_faults(parsed, alignment, index, derived)
    score = 0.55 * alignment.cover + 0.25 * alignment.best + 0.20 * alignment.pairs - _SOFT * len(faults.soft)
    if faults.hard:
        score = min(score, _CONFLICT_CAP) - 0.05 * (len(faults.hard) - 1)
    score = max(0.0, min(1.0, score))
    status: Status = "unsupported"
    if faults.hard:
        status = "contradicted"
    elif score >= SUPPORTED_FROM and not faults.soft:
        status = "supported"
    elif score >= PARTIAL_FROM:
        status = "partial"
    missing = tuple(dict.fromkeys([*faults.soft, *(stem for stem in alignment.absent if stem[0] not in "#@")]))
    finding = ClaimFinding(
        shown, claim.start, claim.end, status, score,
        sentence.item if sentence else None, (sentence.start, sentence.end) if sentence else None,
        missing, tuple(faults.hard),
    )  # fmt: skip
    return Checked(finding, alignment.cover, len(parsed.content))


def _drop_unknown_keys(parsed: Parsed, key: str, index: Evidence) -> None:
    """A JSON key that the evidence does not use is a label, not a statement."""
    labels = set(parse(key).content)
    if any(stem in labels and stem not in index.counts for stem in parsed.content):
        kept = [at for at, stem in enumerate(parsed.content) if stem not in labels or stem in index.counts]
        if not parsed.numbers and not parsed.names:
            parsed.content[:] = [parsed.content[at] for at in kept]
