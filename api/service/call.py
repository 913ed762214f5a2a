"""What an adapter (REST, MCP) hands to the pipeline, and what it gets back. Knows nothing of HTTP servers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from api.contract import Operation


@dataclass(frozen=True, slots=True)
class Call:
    """One request for one operation.

    `read_body` gives the parsed body, or raises a Problem; the pipeline asks for it only when the caller is let in.
    For an operation whose contract says so it gives the body's bytes instead. `authorization`, `idempotency_key` and
    `signature` (of Stripe) are the headers as sent. `payment` is the PAYMENT-SIGNATURE header as sent, or the object
    that stands in its place over MCP. `address` is the client's IP address. `tool` is the MCP tool that was called;
    None over REST.
    """

    operation: Operation
    request_id: str
    address: str
    read_body: Callable[[], Any]
    authorization: str | None = None
    payment: str | Mapping[str, Any] | None = None
    idempotency_key: str | None = None
    tool: str | None = None
    signature: str | None = None
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """A success: a JSON body, its status, and headers beside the ones that every response has."""

    body: Mapping[str, Any]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
