"""Pure. What the server says of itself and of its tools, and how a request for one is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.core.mcp.eras import LEGACY, SERVER_KEY, SUPPORTED, Era
from api.core.mcp.messages import INVALID_PARAMS, METHOD_NOT_FOUND, Json, Request, RpcError

TTL_MS = 3_600_000
"""How long what never changes while a version runs may be cached."""

PAYMENT_KEY = "x402/payment"
_CAPABILITIES: Json = {"tools": {}}


@dataclass(frozen=True, slots=True)
class Server:
    """`info` is the serverInfo; `tools` are as tools/list has them, by name and in their order."""

    info: Mapping[str, Any]
    instructions: str
    tools: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request for the work of a tool that exists. `payment` None: none came in `_meta`."""

    name: str
    arguments: Mapping[str, Any]
    payment: Any


def answer(server: Server, era: Era, request: Request) -> Json:
    """The result of any method but tools/call. Raises RpcError -32601 or -32602."""
    match era, request.method:
        case "legacy", "initialize":
            return _initialized(server, request.params.get("protocolVersion"))
        case "legacy", "ping":
            return {}
        case "modern", "server/discover":
            found = {
                "supportedVersions": list(SUPPORTED),
                "capabilities": _CAPABILITIES,
                "instructions": server.instructions,
            }
            return complete(server, era, found, cached=True)
        case _, "tools/list":
            if request.params.get("cursor") is not None:
                raise refusal(era, request, INVALID_PARAMS, "The cursor is not known: all tools are on one page.")
            return complete(server, era, {"tools": list(server.tools.values())}, cached=True)
    raise refusal(era, request, METHOD_NOT_FOUND, "The method is not one of this server's.")


def tool_call(server: Server, era: Era, request: Request) -> ToolCall:
    """What a tools/call asks for. Its arguments are not checked yet. Raises RpcError -32602."""
    name, arguments = request.params.get("name"), request.params.get("arguments")
    if not isinstance(name, str) or name not in server.tools:
        known = ", ".join(server.tools)
        raise refusal(era, request, INVALID_PARAMS, f"Unknown tool. The tools are {known}.")
    arguments = {} if arguments is None else arguments
    if not isinstance(arguments, dict):
        raise refusal(era, request, INVALID_PARAMS, "params.arguments must be an object.")
    return ToolCall(name, arguments, request.meta.get(PAYMENT_KEY))


def complete(server: Server, era: Era, result: Json, *, cached: bool = False) -> Json:
    """`result` with what the era adds to every result, and to those that can be cached."""
    if era == "legacy":
        return result
    whole = {"resultType": "complete", **result}
    if cached:
        whole |= {"ttlMs": TTL_MS, "cacheScope": "public"}
    return {**whole, "_meta": {**result.get("_meta", {}), SERVER_KEY: server.info}}


def refusal(era: Era, request: Request, code: int, message: str) -> RpcError:
    """A JSON-RPC error with the status that the era wants."""
    modern = 404 if code == METHOD_NOT_FOUND else 400
    return RpcError(code, message, status=200 if era == "legacy" else modern, id=request.id)


def _initialized(server: Server, asked: Any) -> Json:
    return {
        "protocolVersion": asked if asked in LEGACY else LEGACY[0],
        "capabilities": _CAPABILITIES,
        "serverInfo": server.info,
        "instructions": server.instructions,
    }
