"""What came in: one HTTP request, read whole, without a connection."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from tornado.httputil import HTTPHeaders


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request. `path` is as sent, still percent-encoded; `peer` is the address of the connection."""

    method: str
    path: str
    query: str
    headers: HTTPHeaders
    body: bytes
    peer: str
    request_id: str


def split_target(target: str) -> tuple[str, str]:
    """Path and query of a request target, which may be in absolute form (RFC 9112 section 3.2.2)."""
    if target.startswith("/"):
        path, _, query = target.partition("?")
        return path, query
    try:
        parts = urlsplit(target)
    except ValueError:
        return target, ""
    return parts.path or "/", parts.query
