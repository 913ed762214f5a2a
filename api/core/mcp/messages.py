"""Pure. JSON-RPC 2.0 as MCP uses it: one message at a time, named parameters, ids that are strings or integers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602

Id = str | int | None
Json = dict[str, Any]


class RpcError(Exception):
    """A JSON-RPC error. `status` is the HTTP status it goes out with; `id` that of the message, None when it has none
    that can be read."""

    def __init__(self, code: int, message: str, *, status: int = 400, id: Id = None, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.status, self.id, self.data = code, message, status, id, data


@dataclass(frozen=True, slots=True)
class Request:
    """A message that wants an answer."""

    id: str | int
    method: str
    params: Mapping[str, Any]

    @property
    def meta(self) -> Mapping[str, Any]:
        """`params._meta`, empty when there is none."""
        found = self.params.get("_meta")
        return found if isinstance(found, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A message that wants no answer: a notification, or a response to something that was never asked."""


def read(value: Any) -> Request | Unanswered:
    """The message in a parsed body. Raises RpcError -32600 or -32602."""
    if isinstance(value, list):
        raise RpcError(INVALID_REQUEST, "A batch is not taken: send one message per POST.")
    if not isinstance(value, dict):
        raise RpcError(INVALID_REQUEST, "The body must be a JSON object.")
    id = value.get("id")
    known = id if _is_id(id) else None
    if value.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'The member jsonrpc must be "2.0".', id=known)
    if "method" not in value:
        if known is not None and ("result" in value) != ("error" in value):
            return Unanswered()
        raise RpcError(INVALID_REQUEST, "The message has no method.", id=known)
    method, params = value["method"], value.get("params", {})
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "The method must be a string.", id=known)
    if "id" not in value:
        return Unanswered()
    if known is None:
        raise RpcError(INVALID_REQUEST, "The id must be a string or an integer.")
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params must be an object.", id=known)
    if not isinstance(params.get("_meta", {}), dict):
        raise RpcError(INVALID_PARAMS, "params._meta must be an object.", id=known)
    return Request(known, method, params)


def response(id: Id, result: Mapping[str, Any]) -> Json:
    """The answer to a request."""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def error(id: Id, code: int, message: str, data: Any = None) -> Json:
    """The refusal of a message; `id` None when it could not be read."""
    body: Json = {"code": code, "message": message}
    if data is not None:
        body["data"] = data
    return {"jsonrpc": "2.0", "id": id, "error": body}


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
