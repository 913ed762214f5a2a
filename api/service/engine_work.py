"""The engines as functions from a request body to a result body. They are pure, so they can run in another process."""

from typing import Any

from api.core.consensus import Answer, consensus
from api.core.judge import judge, signals
from api.core.judge.model import Judgement
from api.core.llm.directing import directs
from api.core.signals import consensus_signals


def judge_body(body: dict[str, Any]) -> dict[str, Any]:
    """The documented fields of a judge result, `signals` last when the body asks for them."""
    return _judge_result(body, _judgement(body))


def judge_checked(body: dict[str, Any]) -> dict[str, Any]:
    """The judge result as `result`, and what a model may not lift its verdict across: `hard_conflict`, and `directed`,
    whether the judged text tries to direct the verdict."""
    judgement = _judgement(body)
    return {
        "result": _judge_result(body, judgement),
        "hard_conflict": judgement.hard_conflict,
        "directed": directs([body["agent_output"], *body.get("evidence", ())]),
    }


def consensus_checked(body: dict[str, Any]) -> dict[str, Any]:
    """The consensus result as `result`, and as `directed` whether an answer tries to direct it."""
    written = [text for answer in body["answers"] for text in (answer["output"], answer.get("agent_id", ""))]
    return {"result": consensus_body(body), "directed": directs(written)}


def _judgement(body: dict[str, Any]) -> Judgement:
    return judge(body["task"], body["agent_output"], body.get("evidence", ()), body.get("criteria", ()))


def _judge_result(body: dict[str, Any], judgement: Judgement) -> dict[str, Any]:
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
