"""Pure. The two eras of MCP on one endpoint: those with `initialize`, and 2026-07-28, where each request says all."""

import base64
import binascii
from dataclasses import dataclass
from typing import Any, Literal

from api.core.mcp.messages import INVALID_PARAMS, Request, RpcError

MODERN = ("2026-07-28",)
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26")
SUPPORTED = (*MODERN, *LEGACY)
"""The newest first."""

HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

META = "io.modelcontextprotocol/"
VERSION_KEY = f"{META}protocolVersion"
CAPABILITIES_KEY = f"{META}clientCapabilities"
SERVER_KEY = f"{META}serverInfo"

Era = Literal["legacy", "modern"]
_ENCODED = ("=?base64?", "?=")


@dataclass(frozen=True, slots=True)
class SentHeaders:
    """MCP-Protocol-Version, Mcp-Method and Mcp-Name as sent, None when left out."""

    version: str | None = None
    method: str | None = None
    name: str | None = None


def check_version(sent: SentHeaders, id: str | int | None = None) -> None:
    """What even a message without an answer must keep to. Raises RpcError -32022 for a version that is not ours."""
    if sent.version is not None and sent.version not in SUPPORTED:
        raise _unsupported(sent.version, id)


def era_of(request: Request, sent: SentHeaders) -> Era:
    """The era that the request belongs to, by its header and `_meta`, once its rules hold.

    Without either it is a legacy one. Raises RpcError: -32020 for a header that is missing or says something else than
    the body, -32022 for an unknown version, -32602 for a missing member of `_meta`.
    """
    named = request.meta.get(VERSION_KEY)
    if named in (None, sent.version) and (sent.version is None or sent.version in LEGACY):
        return "legacy"
    if named is not None and named != sent.version:
        raise _mismatch(request, "MCP-Protocol-Version", f"_meta.{VERSION_KEY}", sent.version)
    check_version(sent, request.id)
    if named is None:
        raise _missing(request, VERSION_KEY)
    if sent.method != request.method:
        raise _mismatch(request, "Mcp-Method", "method", sent.method)
    if request.method == "tools/call" and (sent.name is None or _decoded(sent.name) != request.params.get("name")):
        raise _mismatch(request, "Mcp-Name", "params.name", sent.name)
    if not isinstance(request.meta.get(CAPABILITIES_KEY), dict):
        raise _missing(request, CAPABILITIES_KEY)
    return "modern"


def _decoded(name: str) -> str | None:
    """A header's value, which is `=?base64?...?=` where it would not fit a header; None for one that is broken."""
    start, end = _ENCODED
    if not (name.startswith(start) and name.endswith(end)):
        return name
    try:
        return base64.b64decode(name[len(start) : -len(end)], validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def _unsupported(version: Any, id: str | int | None) -> RpcError:
    data = {"supported": list(SUPPORTED), "requested": version}
    return RpcError(UNSUPPORTED_VERSION, "The protocol version is not supported.", id=id, data=data)


def _mismatch(request: Request, header: str, member: str, value: str | None) -> RpcError:
    what = "is missing" if value is None else f"does not say what {member} says"
    return RpcError(HEADER_MISMATCH, f"The header {header} {what}.", id=request.id)


def _missing(request: Request, key: str) -> RpcError:
    return RpcError(INVALID_PARAMS, f"params._meta must have {key}.", id=request.id)
