"""The tools of the contract as MCP shows them, and what became of a call as an MCP result or error."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from api.contract import Contract, tools
from api.core.mcp import results
from api.core.mcp.messages import Json
from api.core.mcp.server import Server
from api.core.x402 import codec
from api.problems import Problem, ProblemKind, ProblemTable
from api.service.call import Reply

OPERATION = "mcp"
"""The id of the endpoint in the contract."""

TOOL_ERROR = "tool_error"
_PAYMENT_STATUS = 402


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a tools/call: one of `result` and `error`, the HTTP status and headers that go with it, and the
    problem's code."""

    result: Json | None
    error: Json | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


def server_of(contract: Contract, base_url: str) -> Server:
    """The MCP server that the contract describes. Tools stand in its order."""
    words = contract.operations[OPERATION].spec["x-mcp-server"]
    info = {name: words[name] for name in ("name", "title", "description")}
    return Server(
        {**info, "version": contract.version, "websiteUrl": base_url}, words["instructions"].strip(), tools(contract)
    )


def answered(reply: Reply) -> Outcome:
    """The outcome of a call that was answered."""
    return Outcome(results.answered(reply.body, _receipt(reply.headers)), headers=reply.headers)


def refused(problem: Problem, problems: ProblemTable, request_id: str) -> Outcome:
    """The outcome of a call that was not: as its row of the problem table says, with the offer when it wants paying."""
    kind, document = problems.kinds[problem.code], problems.document(problem, request_id)
    receipt = _receipt(problem.headers)
    if kind.mcp != TOOL_ERROR:
        error = {"code": kind.mcp, "message": document["detail"], "data": document}
        return Outcome(None, error, kind.status, problem.headers, problem.code)
    if kind.status == _PAYMENT_STATUS:
        offer = codec.decode(problem.headers["PAYMENT-REQUIRED"])
        return Outcome(results.unpaid(offer, receipt), None, _PAYMENT_STATUS, problem.headers, problem.code)
    return Outcome(results.failed(_lines(problem, document, kind), receipt), None, 200, problem.headers, problem.code)


def _lines(problem: Problem, document: Mapping[str, Any], kind: ProblemKind) -> list[str]:
    """The problem for a model that can mend it: each fault of its arguments, or what happened and what to do."""
    if not problem.errors:
        return [f"{problem.code}: {document['detail']}", kind.remedy]
    faults = [f"- {fault.path or 'The arguments as a whole'} {fault.message}" for fault in problem.errors]
    return [f"{problem.code}: The arguments do not fit the tool's schema. Change these and call again:", *faults]


def _receipt(headers: Mapping[str, str]) -> Any:
    sent = headers.get("PAYMENT-RESPONSE")
    return None if sent is None else codec.decode(sent)
