"""Pure: one claim against the evidence: its score, its status, what is missing and what contradicts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from api.core.judge.align import Alignment, align
from api.core.judge.claims import Claim
from api.core.judge.conflicts import Faults, find_faults
from api.core.judge.facts import Parsed
from api.core.judge.index import Evidence
from api.core.judge.lexicon import FIELDS
from api.core.judge.model import ClaimFinding, Status
from api.core.judge.parse import parse
from api.core.judge.phrases import Output
from api.core.judge.references import References
from api.core.judge.stem import stem
from api.core.judge.words import look_up, tokenise

SUPPORTED_FROM: Final = 0.62
PARTIAL_FROM: Final = 0.40
_COVER, _BEST, _PAIRS = 0.55, 0.25, 0.20
_SOFT: Final = 0.15
_CONFLICT_CAP: Final = 0.35
_FURTHER_CONFLICT: Final = 0.05
_REFERENCE: Final = 0.95
FIELD_STEMS: Final = frozenset(stem(word) for word in FIELDS)


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim's finding, the share of it that the evidence covers (0..1), and its size in content stems."""

    finding: ClaimFinding
    cover: float
    size: int


def read_claim(claim: Claim, evidence: Evidence, output: Output) -> Parsed:
    """The facts of a claim. A label's words that the evidence does not use count only when they say something: not
    when they are keys of JSON, names of fields, or words of the task."""
    if not claim.key:
        return parse(claim.text)
    words = [
        word
        for word in claim.key.split()
        if any(
            s in evidence.postings or not (claim.member or s in output.given or s in FIELD_STEMS)
            for s in parse(word).content
        )
    ]
    return parse(f"{' '.join(words)} {claim.text}")


def check_claim(
    claim: Claim,
    parsed: Parsed,
    shown: str,
    evidence: Evidence,
    references: References,
    derived: frozenset[float],
    reach: int,
) -> Checked:
    """Checks a claim that has content. `shown` is its text in the output; `derived` as in `find_faults`, `reach` as
    in `align`."""
    alignment = align(parsed, evidence, reach)
    faults = find_faults(claim.text, parsed, alignment, evidence, derived)
    score, cover = _score(alignment, faults), alignment.cover
    status = _status(score, faults)
    if references.answers and not faults.hard and status != "supported" and references.in_claim(parsed):
        loose = references.loose(parsed)
        cover = max(cover, 1 - len(loose) / len(parsed.content))
        status, score = ("partial", max(score, PARTIAL_FROM)) if loose else ("supported", _REFERENCE)
    sentence = alignment.sentence
    finding = ClaimFinding(
        shown, claim.start, claim.end, status, score,
        sentence.item if sentence else None, (sentence.start, sentence.end) if sentence else None,
        _missing(claim, alignment, faults) if status != "supported" else (), tuple(faults.hard),
    )  # fmt: skip
    return Checked(finding, cover, len(parsed.content))


def _score(alignment: Alignment, faults: Faults) -> float:
    score = _COVER * alignment.cover + _BEST * alignment.best + _PAIRS * alignment.pairs - _SOFT * len(faults.soft)
    if faults.hard:
        score = min(score, _CONFLICT_CAP) - _FURTHER_CONFLICT * (len(faults.hard) - 1)
    return max(0.0, min(1.0, score))


def _status(score: float, faults: Faults) -> Status:
    if faults.hard:
        return "contradicted"
    if score >= SUPPORTED_FROM and not faults.soft:
        return "supported"
    return "partial" if score >= PARTIAL_FROM else "unsupported"


def _missing(claim: Claim, alignment: Alignment, faults: Faults) -> tuple[str, ...]:
    """What was not found, as the claim writes it, in its order."""
    absent = {stem for stem in alignment.absent if stem[0] not in "#@"}
    words = [token for token in tokenise(f"{claim.key} {claim.text}") if look_up(token).stem in absent]
    return tuple(dict.fromkeys([*faults.soft, *words]))
