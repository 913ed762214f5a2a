"""Which era a request belongs to, and the rules of the modern one."""

import base64
from typing import Any

import pytest

from api.core.mcp.eras import (
    CAPABILITIES_KEY,
    HEADER_MISMATCH,
    LEGACY,
    SUPPORTED,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    SentHeaders,
    check_version,
    era_of,
)
from api.core.mcp.messages import INVALID_PARAMS, Request, RpcError

NOW = "2026-07-28"
META = {VERSION_KEY: NOW, CAPABILITIES_KEY: {}}


def listing(meta: dict[str, Any] | None = None) -> Request:
    return Request(1, "tools/list", {} if meta is None else {"_meta": meta})


def calling(name: Any = "judge") -> Request:
    return Request(1, "tools/call", {"name": name, "_meta": META})


def encoded(name: str) -> str:
    return f"=?base64?{base64.b64encode(name.encode()).decode()}?="


LEGACY_ONES = [
    (listing(), SentHeaders()),
    *[(listing(), SentHeaders(version)) for version in LEGACY],
    (listing({"progressToken": 1}), SentHeaders("2025-11-25")),
    (listing({VERSION_KEY: "2025-11-25"}), SentHeaders("2025-11-25")),
    (Request(1, "initialize", {"protocolVersion": NOW}), SentHeaders()),
    (listing(), SentHeaders("2025-06-18", "something/else", "whatever")),
]


@pytest.mark.promise("mcp.eras")
@pytest.mark.parametrize(("request_", "sent"), LEGACY_ONES)
def test_a_legacy_request_needs_no_headers(request_: Request, sent: SentHeaders) -> None:
    assert era_of(request_, sent) == "legacy"


MODERN_ONES = [
    (listing(META), SentHeaders(NOW, "tools/list")),
    (listing(META), SentHeaders(NOW, "tools/list", "not looked at")),
    (calling(), SentHeaders(NOW, "tools/call", "judge")),
    (calling(), SentHeaders(NOW, "tools/call", encoded("judge"))),
    (calling("rühmlich"), SentHeaders(NOW, "tools/call", encoded("rühmlich"))),
]


@pytest.mark.promise("mcp.eras")
@pytest.mark.parametrize(("request_", "sent"), MODERN_ONES)
def test_a_modern_request_says_all_twice(request_: Request, sent: SentHeaders) -> None:
    assert era_of(request_, sent) == "modern"


REFUSED: dict[str, tuple[Request, SentHeaders, int]] = {
    "no version header": (listing(META), SentHeaders(None, "tools/list"), HEADER_MISMATCH),
    "another version header": (listing(META), SentHeaders("2025-11-25", "tools/list"), HEADER_MISMATCH),
    "an unknown version header": (listing(META), SentHeaders("2030-01-01", "tools/list"), HEADER_MISMATCH),
    "two version headers": (listing(META), SentHeaders(f"{NOW},{NOW}", "tools/list"), HEADER_MISMATCH),
    "a version that is no text": (listing({**META, VERSION_KEY: 1}), SentHeaders(NOW, "tools/list"), HEADER_MISMATCH),
    "no method header": (listing(META), SentHeaders(NOW), HEADER_MISMATCH),
    "another method header": (listing(META), SentHeaders(NOW, "tools/call"), HEADER_MISMATCH),
    "a method header in capitals": (listing(META), SentHeaders(NOW, "TOOLS/LIST"), HEADER_MISMATCH),
    "no name header": (calling(), SentHeaders(NOW, "tools/call"), HEADER_MISMATCH),
    "another name header": (calling(), SentHeaders(NOW, "tools/call", "consensus"), HEADER_MISMATCH),
    "a broken name header": (calling(), SentHeaders(NOW, "tools/call", "=?base64?%%?="), HEADER_MISMATCH),
    "a name header of no UTF-8": (calling(), SentHeaders(NOW, "tools/call", "=?base64?/w==?="), HEADER_MISMATCH),
    "a name that is no text": (calling(1), SentHeaders(NOW, "tools/call", "1"), HEADER_MISMATCH),
    "an unknown version": (
        listing({**META, VERSION_KEY: "2030-01-01"}),
        SentHeaders("2030-01-01", "tools/list"),
        UNSUPPORTED_VERSION,
    ),
    "an unknown version without _meta": (listing(), SentHeaders("1999-01-01"), UNSUPPORTED_VERSION),
    "no version in _meta": (listing({CAPABILITIES_KEY: {}}), SentHeaders(NOW, "tools/list"), INVALID_PARAMS),
    "no _meta": (listing(), SentHeaders(NOW, "tools/list"), INVALID_PARAMS),
    "no capabilities": (listing({VERSION_KEY: NOW}), SentHeaders(NOW, "tools/list"), INVALID_PARAMS),
    "capabilities that are none": (
        listing({VERSION_KEY: NOW, CAPABILITIES_KEY: True}),
        SentHeaders(NOW, "tools/list"),
        INVALID_PARAMS,
    ),
}


@pytest.mark.promise("mcp.eras")
@pytest.mark.parametrize("name", REFUSED)
def test_what_breaks_the_rules_is_refused(name: str) -> None:
    request, sent, code = REFUSED[name]
    with pytest.raises(RpcError) as raised:
        era_of(request, sent)
    assert (raised.value.code, raised.value.status, raised.value.id) == (code, 400, 1)
    if code == UNSUPPORTED_VERSION:
        assert raised.value.data == {"supported": list(SUPPORTED), "requested": sent.version}


def test_a_message_without_an_answer_is_held_to_its_version_only() -> None:
    check_version(SentHeaders())
    check_version(SentHeaders(NOW))
    with pytest.raises(RpcError):
        check_version(SentHeaders("1999-01-01"))
