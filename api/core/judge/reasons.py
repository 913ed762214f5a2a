"""Pure: the sentences that explain a judgement. Fixed templates; quotes are verbatim."""

from __future__ import annotations

from typing import Final

from api.core.judge.model import ClaimFinding, CriterionFinding

#: Always the last reason of a deterministic judgement (JUDGE.md, method 9).
CLOSING: Final = "Deterministic checks compare wording, numbers and names. They do not judge truth."
EMPTY: Final = "The output is empty."
NO_CLAIM: Final = "The output makes no statement that can be checked."
NOTHING_TO_CHECK: Final = "There is neither evidence nor a criterion to check the output against."
_LONGEST_QUOTE: Final = 300
#: At most this many reasons of one kind are spelt out.
_MOST: Final = 8


def quote(text: str) -> str:
    """`text` in double quotes, verbatim; a long one is cut at a blank, with an ellipsis."""
    if len(text) > _LONGEST_QUOTE:
        cut = text.rfind(" ", _LONGEST_QUOTE // 2, _LONGEST_QUOTE)
        text = text[: cut if cut > 0 else _LONGEST_QUOTE] + "…"
    return f'"{text}"'


def refusal(phrase: str) -> str:
    """The output declines the task."""
    return f"The output declines the task: {quote(phrase)}."


def truncated(tail: str) -> str:
    """The output stops in the middle."""
    return f"The output stops in the middle: {quote(tail)}."


def false_equation(claim: str, stated: str, result: str) -> str:
    """An equation that does not hold."""
    return f"Claim {quote(claim)} states a false equation: {stated}; the left side is {result}."


def self_contradiction(one: str, other: str, what: str) -> str:
    """Two claims that cannot both hold."""
    return f"The output contradicts itself: {quote(one)} and {quote(other)}: {what}."


def off_topic(claim: str) -> str:
    """Most of the output is about something that the evidence does not mention."""
    return f"Most of the output is about something that the evidence does not mention: {quote(claim)}."


def no_reference(claim: str, items: list[str]) -> str:
    """The evidence is reference answers, and the output has none of them."""
    shown = ", ".join(f"evidence[{number}] {quote(item)}" for number, item in enumerate(items[:_MOST]))
    return f"Claim {quote(claim)} has none of the reference answers: {shown}."


def _evidence(claim: ClaimFinding, items: list[str]) -> str:
    if claim.evidence_index is None or claim.evidence_span is None:
        return "the evidence"
    start, end = claim.evidence_span
    return f"evidence[{claim.evidence_index}] {quote(items[claim.evidence_index][start:end])}"


def conflict(claim: ClaimFinding, items: list[str]) -> str:
    """A claim that the evidence contradicts."""
    what = "; ".join(claim.conflicts)
    return f"Claim {quote(claim.text)} conflicts with {_evidence(claim, items)}: {what}."


def unsupported(claim: ClaimFinding, items: list[str]) -> str:
    """A claim that the evidence does not bear out, in whole or in part."""
    missing = ", ".join(quote(word) for word in claim.missing[:_MOST])
    if claim.status == "partial":
        tail = f": {missing} not found" if missing else ""
        return f"Claim {quote(claim.text)} is only partly supported by {_evidence(claim, items)}{tail}."
    return f"Claim {quote(claim.text)} is not supported by the evidence" + (
        f": {missing} not found." if missing else "."
    )


def supported(claim: ClaimFinding, items: list[str]) -> str:
    """A claim that the evidence bears out."""
    return f"Claim {quote(claim.text)} is supported by {_evidence(claim, items)}."


def criterion(finding: CriterionFinding) -> str:
    """A criterion and what was found."""
    state = "met" if finding.met else "violated" if finding.violated else "not met"
    return f"Criterion {quote(finding.text)} is {state}: {finding.why}."


def limited(reasons: list[str], kind: str) -> list[str]:
    """The first reasons of one kind, and how many more there are."""
    if len(reasons) <= _MOST:
        return reasons
    return [*reasons[:_MOST], f"{len(reasons) - _MOST} more: {kind}."]
