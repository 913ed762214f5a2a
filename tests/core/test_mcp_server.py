"""What the server answers to each method in each era."""

from typing import Any

import pytest

from api.core.mcp import results
from api.core.mcp.eras import LEGACY, SERVER_KEY, SUPPORTED, Era
from api.core.mcp.messages import INVALID_PARAMS, METHOD_NOT_FOUND, Request, RpcError
from api.core.mcp.server import TTL_MS, Server, ToolCall, answer, complete, tool_call

INFO = {"name": "a/b", "version": "1"}
SERVER = Server(INFO, "Use it well.", {"judge": {"name": "judge"}, "consensus": {"name": "consensus"}})


def ask(method: str, **params: Any) -> Request:
    return Request(7, method, params)


ODD: tuple[Any, ...] = ("2026-07-28", "x", None, 1, [])
VERSIONS = [*[(version, version) for version in LEGACY], *[(odd, LEGACY[0]) for odd in ODD]]


@pytest.mark.promise("mcp.eras")
@pytest.mark.parametrize(("asked", "given"), VERSIONS)
def test_initialize_gives_the_version_that_was_asked_when_there_is_it(asked: Any, given: str) -> None:
    assert answer(SERVER, "legacy", ask("initialize", protocolVersion=asked)) == {
        "protocolVersion": given,
        "capabilities": {"tools": {}},
        "serverInfo": INFO,
        "instructions": "Use it well.",
    }


def test_the_other_legacy_methods() -> None:
    assert answer(SERVER, "legacy", ask("ping")) == {}
    assert answer(SERVER, "legacy", ask("tools/list")) == {"tools": [{"name": "judge"}, {"name": "consensus"}]}


def test_modern_results_say_who_answers_and_how_long_they_hold() -> None:
    every = {"resultType": "complete", "ttlMs": TTL_MS, "cacheScope": "public", "_meta": {SERVER_KEY: INFO}}
    assert answer(SERVER, "modern", ask("server/discover")) == {
        "supportedVersions": list(SUPPORTED),
        "capabilities": {"tools": {}},
        "instructions": "Use it well.",
        **every,
    }
    assert answer(SERVER, "modern", ask("tools/list")) == {"tools": [{"name": "judge"}, {"name": "consensus"}], **every}


def test_the_result_of_a_tool_is_not_cached_and_keeps_its_receipt() -> None:
    result = results.answered({"a": 1}, {"success": True})
    assert complete(SERVER, "legacy", result) == result
    modern = complete(SERVER, "modern", result)
    assert modern["resultType"] == "complete"
    assert modern["_meta"] == {"x402/payment-response": {"success": True}, SERVER_KEY: INFO}
    assert "ttlMs" not in modern


UNKNOWN: list[tuple[Era, str]] = [
    ("legacy", "server/discover"),
    ("legacy", "resources/list"),
    ("legacy", "logging/setLevel"),
    ("legacy", ""),
    ("modern", "initialize"),
    ("modern", "ping"),
    ("modern", "prompts/list"),
]


@pytest.mark.parametrize(("era", "method"), UNKNOWN)
def test_a_method_of_another_era_is_not_found(era: Era, method: str) -> None:
    with pytest.raises(RpcError) as raised:
        answer(SERVER, era, ask(method))
    status = 200 if era == "legacy" else 404
    assert (raised.value.code, raised.value.status, raised.value.id) == (METHOD_NOT_FOUND, status, 7)


BAD_CALLS: list[dict[str, Any]] = [
    {"name": "nothing"},
    {"name": "Judge"},
    {},
    {"name": 1},
    {"name": None, "arguments": {}},
    {"name": "judge", "arguments": []},
    {"name": "judge", "arguments": "{}"},
]


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("params", BAD_CALLS)
def test_an_unknown_tool_is_a_wrong_parameter(era: Era, params: dict[str, Any]) -> None:
    with pytest.raises(RpcError) as raised:
        tool_call(SERVER, era, ask("tools/call", **params))
    assert (raised.value.code, raised.value.status) == (INVALID_PARAMS, 200 if era == "legacy" else 400)


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_an_unknown_cursor_is_a_wrong_parameter(era: Era) -> None:
    with pytest.raises(RpcError) as raised:
        answer(SERVER, era, ask("tools/list", cursor="abc"))
    assert raised.value.code == INVALID_PARAMS


def test_a_call_is_read() -> None:
    assert tool_call(SERVER, "legacy", ask("tools/call", name="judge")) == ToolCall("judge", {}, None)
    sent = ask("tools/call", name="consensus", arguments={"a": 1}, _meta={"x402/payment": {"b": 2}})
    assert tool_call(SERVER, "legacy", sent) == ToolCall("consensus", {"a": 1}, {"b": 2})


def test_results_of_calls() -> None:
    assert results.answered({"ü": 1}) == {
        "content": [{"type": "text", "text": '{"ü":1}'}],
        "structuredContent": {"ü": 1},
        "isError": False,
    }
    assert results.failed(["a", "b"]) == {"content": [{"type": "text", "text": "a\nb"}], "isError": True}
    assert results.unpaid({"x": 1}, {"success": False}) == {
        "content": [{"type": "text", "text": '{"x":1}'}],
        "structuredContent": {"x": 1},
        "isError": True,
        "_meta": {"x402/payment-response": {"success": False}},
    }
