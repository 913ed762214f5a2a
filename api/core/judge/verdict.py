"""Pure: findings to verdict, score and reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from api.core.judge import reasons
from api.core.judge.lexicon import DANGLING, REFUSALS
from api.core.judge.model import CriterionFinding, Judgement, Verdict
from api.core.judge.normalise import squeeze, stands_in
from api.core.judge.sentences import split_sentences
from api.core.judge.support import Checked

#: verdict -> (lowest, highest) score. The bands never overlap, so the score cannot disagree with the verdict.
BANDS: Final[dict[Verdict, tuple[float, float]]] = {"fail": (0.0, 0.39), "retry": (0.40, 0.69), "pass": (0.70, 1.0)}
#: A claim with less than this covered is about something else.
_FOREIGN: Final = 0.15
_NO_EVIDENCE: Final = 0.5
#: Refusals are looked for in this many characters.
_HEAD: Final = 300
#: An output of no more words than this that says it declines does decline.
_SHORT_REFUSAL: Final = 25


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything the verdict rests on. `faults`: reasons for false equations and for claims that contradict each other.
    `verbatim`: the whole output stands in one evidence item. `references`: all evidence is reference answers;
    `answered`: the output has one of them, so that it cannot be about something else."""

    output: str
    evidence: list[str]
    checked: list[Checked]
    criteria: list[CriterionFinding]
    faults: list[str]
    verbatim: bool
    references: bool
    answered: bool
    has_words: bool


def decide(found: Findings) -> Judgement:
    """The judgement that the findings add up to."""
    claims = tuple(one.finding for one in found.checked)
    declined = _refusal(found)
    fails, retries, passes = _fails(found, declined), _retries(found, declined), _passes(found)
    verdict: Verdict = "fail" if fails else "retry" if retries else "pass"
    spoken = [*fails, *retries, *passes, reasons.CLOSING]
    hard = bool(found.faults and not found.verbatim) or any(claim.conflicts for claim in claims)
    low, high = BANDS[verdict]
    score = round(low + (high - low) * max(0.0, min(1.0, _raw(found))), 2)
    return Judgement(verdict, min(high, max(low, score)), tuple(spoken), claims, tuple(found.criteria), hard)


def _raw(found: Findings) -> float:
    """How acceptable the output is, 0..1, before the bands."""
    evidence: float | None = None
    if found.checked:
        size = sum(one.size for one in found.checked)
        mean = sum(one.finding.score * one.size for one in found.checked) / size
        evidence = 0.6 * mean + 0.4 * min(one.finding.score for one in found.checked)
    if not found.criteria:
        return _NO_EVIDENCE if evidence is None and not found.evidence else evidence or 0.0
    met = sum(one.score for one in found.criteria) / len(found.criteria)
    return 0.7 * evidence + 0.3 * met if evidence is not None else 0.3 * _NO_EVIDENCE + 0.7 * met


def _fails(found: Findings, declined: str) -> list[str]:
    spoken = [reasons.conflict(one.finding, found.evidence) for one in found.checked if one.finding.conflicts]
    spoken = reasons.limited(spoken, "claims that conflict with the evidence")
    if not found.verbatim:
        spoken += reasons.limited(found.faults, "faults of the output by itself")
    size = sum(one.size for one in found.checked)
    foreign = [one for one in found.checked if one.cover < _FOREIGN]
    if foreign and not declined and not found.answered and 2 * sum(one.size for one in foreign) > size:
        first = foreign[0].finding
        spoken.append(
            reasons.no_reference(first.text, found.evidence) if found.references else reasons.off_topic(first.text)
        )
    if found.has_words:
        spoken += [reasons.criterion(one) for one in found.criteria if one.violated]
    return spoken


def _refusal(found: Findings) -> str:
    """The phrase by which the output declines, "" when it does not. A longer output that opens with a disclaimer and
    then meets every criterion, or states something that is supported, does not decline."""
    delivered = any(one.finding.status == "supported" for one in found.checked) or (
        bool(found.criteria) and all(one.met for one in found.criteria)
    )
    if found.verbatim or (delivered and len(found.output.split()) > _SHORT_REFUSAL):
        return ""
    head = squeeze(found.output[:_HEAD])
    return next((phrase for phrase in REFUSALS if phrase in head and stands_in(phrase, head)), "")


def _sentence_with(phrase: str, output: str) -> str:
    """The sentence of the output in which a phrase stands, as written."""
    spans = split_sentences(output[:_HEAD])
    return next((output[a:b] for a, b in spans if phrase in squeeze(output[a:b])), phrase)


def _retries(found: Findings, declined: str) -> list[str]:
    if not found.output.strip():
        return [reasons.EMPTY, *[reasons.criterion(one) for one in found.criteria if not one.met]]
    spoken: list[str] = []
    if declined:
        spoken.append(reasons.refusal(_sentence_with(declined, found.output)))
    tail = _cut_off(found.output) if not found.verbatim else ""
    if tail:
        spoken.append(reasons.truncated(tail))
    spoken += [reasons.criterion(one) for one in found.criteria if not one.met and not one.violated]
    weak = (
        [] if declined else [one.finding for one in found.checked if one.finding.status in ("partial", "unsupported")]
    )
    weak.sort(key=lambda claim: (claim.status != "unsupported", claim.start))
    spoken += reasons.limited(
        [reasons.unsupported(claim, found.evidence) for claim in weak], "claims without full support"
    )
    if not found.checked and not found.verbatim:
        if not found.has_words or any(item.strip() for item in found.evidence):
            spoken.append(reasons.NO_CLAIM)
        elif not found.criteria:
            spoken.append(reasons.NOTHING_TO_CHECK)
    return spoken


def _cut_off(output: str) -> str:
    """The last words of an output that stops in the middle, "" when it does not."""
    text = output.rstrip()
    words = text[-80:].split()
    if text.count("```") % 2 or (len(words) >= 4 and words[-1].lower() in DANGLING) or text.endswith((",", "(", "[")):
        return " ".join(words[-6:])
    return ""


def _passes(found: Findings) -> list[str]:
    good = [one.finding for one in found.checked if one.finding.status == "supported"]
    spoken = reasons.limited([reasons.supported(claim, found.evidence) for claim in good], "claims that are supported")
    return spoken + [reasons.criterion(one) for one in found.criteria if one.met]
