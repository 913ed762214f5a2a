"""Pure. What a model's reply makes of a deterministic result: checked, held in its bands and under its ceilings."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.core.consensus import RISK_VALUES
from api.core.judge.verdict import BANDS
from api.core.llm.completion import Json, find_object

JUDGED = "Scored by the configured LLM."
COMPARED = "Scored by the configured LLM. Clusters below are from deterministic overlap."
FAILED = "LLM call failed. Used deterministic checks."
UNUSABLE = "LLM response was unusable. Used deterministic checks."
HELD_BY_CONFLICT = "The LLM's verdict was lowered: the deterministic checks found a conflict."
HELD_BY_DIRECTION = "The LLM's verdict was lowered: the judged text tries to direct the verdict."
HELD_CONSENSUS = "The LLM's result was held to the deterministic one: an answer tries to direct the result."

REQUIRED = {
    "judge": ("verdict", "score", "reasons"),
    "consensus": ("consensus_answer", "agreement_score", "false_consensus_risk", "reasons"),
}
_STATUSES = ("supported", "partial", "unsupported", "contradicted")
_RANK = {"fail": 0, "retry": 1, "pass": 2}
_QUOTES = str.maketrans("’‘“”", "''\"\"")


def usable(operation: str, text: str, nonce: str, fields: Mapping[str, Any]) -> Json | None:
    """The reply in a model's text, None when it has none that can be used. `fields` is what the model was shown."""
    found = find_object(text, REQUIRED[operation], nonce)
    if found is None or found.get("nonce", nonce) != nonce or not _are_texts(found["reasons"]):
        return None
    if operation == "judge":
        sound = (
            isinstance(found["verdict"], str)
            and found["verdict"] in BANDS
            and _is_share(found["score"])
            and _are_claims(found.get("claims", []), fields["evidence"])
        )
    else:
        sound = (
            _are_texts([found["consensus_answer"]])
            and _is_share(found["agreement_score"])
            and isinstance(found["false_consensus_risk"], str)
            and found["false_consensus_risk"] in RISK_VALUES
        )
    return found if sound else None


def judged(result: Json, reply: Json, *, hard_conflict: bool, directed: bool) -> Json:
    """The judge result with the reply's verdict, score and reasons.

    With a `hard_conflict`, or when the judged text is `directed`, the verdict does not rise above the deterministic
    one, whose reasons then stand first.
    """
    verdict, reasons = reply["verdict"], list(reply["reasons"])
    held = (hard_conflict or directed) and _RANK[verdict] > _RANK[result["verdict"]]
    if held:
        verdict = result["verdict"]
        reasons = [*result["reasons"], *reasons, HELD_BY_CONFLICT if hard_conflict else HELD_BY_DIRECTION]
    low, high = BANDS[verdict]
    score = min(high, max(low, round(float(reply["score"]), 2)))
    return {**result, "verdict": verdict, "score": score, "reasons": [*reasons, JUDGED], "engine": "llm"}


def compared(result: Json, reply: Json, *, directed: bool) -> Json:
    """The consensus result with the reply's four fields; the clusters stay.

    When an answer is `directed` the consensus answer stays too, the agreement does not rise and the risk does not sink.
    """
    answer, agreement, risk = (reply[name] for name in REQUIRED["consensus"][:3])
    agreement = round(float(agreement), 2)
    reasons = list(reply["reasons"])
    if directed:
        kept = result["consensus_answer"], min(agreement, result["agreement_score"])
        riskier = max(risk, result["false_consensus_risk"], key=RISK_VALUES.__getitem__)
        if (answer, agreement, risk) != (*kept, riskier):
            reasons.append(HELD_CONSENSUS)
        (answer, agreement), risk = kept, riskier
    return {
        **result,
        "consensus_answer": answer,
        "agreement_score": int(agreement) if agreement in (0, 1) else agreement,
        "false_consensus_risk": risk,
        "reasons": [*reasons, COMPARED],
        "engine": "llm",
    }


def unscored(result: Json, why: str) -> Json:
    """The deterministic result, which says why no model scored it: FAILED or UNUSABLE."""
    return {**result, "reasons": [*result["reasons"], why]}


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) and bool(one.strip()) for one in value)


def _are_claims(value: Any, evidence: Sequence[str]) -> bool:
    """Whether `value` is a list of claims, each with a known status and with quotes that stand in the evidence."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return False
    if not all(isinstance(one.get("status"), str) and one["status"] in _STATUSES for one in value):
        return False
    quotes = [one.get("quote") or "" for one in value]
    if not all(isinstance(quote, str) for quote in quotes):
        return False
    parts = {part for quote in quotes for part in map(_flat, quote.replace("…", "...").split("..."))}
    items = [_flat(item) for item in evidence] if any(parts) else []
    return all(any(part in item for item in items) for part in parts if part)


def _flat(text: str) -> str:
    """A text as a quote of it may differ: case, white space, the form of quotation marks, and any around it."""
    return " ".join(text.casefold().translate(_QUOTES).split()).strip("\"' ")
