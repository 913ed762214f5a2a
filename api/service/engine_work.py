"""The engines as functions from a request body to a result body. They are pure, so they can run in another process."""

from typing import Any

from api.core.consensus import Answer, consensus
from api.core.judge import judge, signals
from api.core.signals import consensus_signals


def judge_body(body: dict[str, Any]) -> dict[str, Any]:
    """The documented fields of a judge result, `signals` last when the body asks for them."""
    judgement = judge(body["task"], body["agent_output"], body.get("evidence", ()), body.get("criteria", ()))
    result: dict[str, Any] = {
        "verdict": judgement.verdict,
        "score": judgement.score,
        "reasons": list(judgement.reasons),
        "engine": "deterministic",
    }
    if body.get("explain"):
        result["signals"] = signals(judgement)
    return result


def consensus_body(body: dict[str, Any]) -> dict[str, Any]:
    """The documented fields of a consensus result, `signals` last when the body asks for them."""
    found = consensus([Answer(answer["output"], answer.get("agent_id")) for answer in body["answers"]])
    result = found.as_dict()
    if body.get("explain"):
        result["signals"] = consensus_signals(found, body["task"], body.get("evidence", ()))
    return result
