"""Pure. What the API answers to a request, computed with its own functions and wrapped as it wraps them."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.core.consensus import Answer, consensus
from api.openapi import EXAMPLE_REQUEST_ID


def consensus_result(request: Mapping[str, Any]) -> dict[str, Any]:
    """The result fields of a consensus request, without what is made per call."""
    return consensus([Answer(answer["output"], answer.get("agent_id")) for answer in request["answers"]]).as_dict()


def consensus_signals_of(outputs: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """The named signals of a consensus of `outputs`, given by agents `a`, `b`, `c` and so on."""
    from api.core.signals import consensus_signals  # seldom asked for, and slow to import

    found = consensus([Answer(output, chr(ord("a") + index)) for index, output in enumerate(outputs)])
    signals = consensus_signals(found)
    return {name: signals[name] for name in names}


def judge_result(request: Mapping[str, Any]) -> dict[str, Any]:
    """The result fields of a judge request, without what is made per call."""
    from api.core.judge import judge  # its tables take a tenth of a second

    found = judge(request["task"], request["agent_output"], request.get("evidence", ()), request.get("criteria", ()))
    return {
        "verdict": found.verdict,
        "score": int(found.score) if found.score == int(found.score) else found.score,
        "reasons": list(found.reasons),
        "engine": "deterministic",
    }


def answered(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result as the HTTP body that carries it, with a made-up request id."""
    return {**result, "request_id": EXAMPLE_REQUEST_ID, "retention": {"retained": False}}
