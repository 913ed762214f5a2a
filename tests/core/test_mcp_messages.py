"""JSON-RPC messages: what is one, and what is told about what is not."""

from typing import Any

import pytest

from api.core.mcp.messages import INVALID_PARAMS, INVALID_REQUEST, Request, RpcError, Unanswered, error, read, response

GOOD: dict[str, tuple[dict[str, Any], Request]] = {
    "an integer id": ({"jsonrpc": "2.0", "id": 0, "method": "ping"}, Request(0, "ping", {})),
    "a string id": ({"jsonrpc": "2.0", "id": "", "method": "ping"}, Request("", "ping", {})),
    "parameters": (
        {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {"a": 1}},
        Request(1, "m", {"a": 1}),
    ),
    "members that nobody knows": ({"jsonrpc": "2.0", "id": 1, "method": "m", "x": 1}, Request(1, "m", {})),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_request_is_read(name: str) -> None:
    sent, wanted = GOOD[name]
    assert read(sent) == wanted


UNANSWERED: list[dict[str, Any]] = [
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
    {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "judge"}},
    {"jsonrpc": "2.0", "id": 1, "result": {}},
    {"jsonrpc": "2.0", "id": "a", "error": {"code": 1, "message": "no"}},
]


@pytest.mark.parametrize("sent", UNANSWERED)
def test_notifications_and_responses_want_no_answer(sent: dict[str, Any]) -> None:
    assert read(sent) == Unanswered()


BAD: dict[str, tuple[Any, int, Any]] = {
    "a batch": ([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], INVALID_REQUEST, None),
    "an empty batch": ([], INVALID_REQUEST, None),
    "a string": ("ping", INVALID_REQUEST, None),
    "null": (None, INVALID_REQUEST, None),
    "no jsonrpc": ({"id": 1, "method": "ping"}, INVALID_REQUEST, 1),
    "another jsonrpc": ({"jsonrpc": "1.0", "id": "a", "method": "ping"}, INVALID_REQUEST, "a"),
    "a number as jsonrpc": ({"jsonrpc": 2.0, "id": 1, "method": "ping"}, INVALID_REQUEST, 1),
    "no method": ({"jsonrpc": "2.0", "id": 1}, INVALID_REQUEST, 1),
    "a result and an error": ({"jsonrpc": "2.0", "id": 1, "result": {}, "error": {}}, INVALID_REQUEST, 1),
    "a result for nobody": ({"jsonrpc": "2.0", "result": {}}, INVALID_REQUEST, None),
    "a method that is no string": ({"jsonrpc": "2.0", "id": 1, "method": 1}, INVALID_REQUEST, 1),
    "a null id": ({"jsonrpc": "2.0", "id": None, "method": "ping"}, INVALID_REQUEST, None),
    "a true id": ({"jsonrpc": "2.0", "id": True, "method": "ping"}, INVALID_REQUEST, None),
    "a fraction as id": ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, INVALID_REQUEST, None),
    "an array as id": ({"jsonrpc": "2.0", "id": [1], "method": "ping"}, INVALID_REQUEST, None),
    "params by position": ({"jsonrpc": "2.0", "id": 1, "method": "m", "params": []}, INVALID_PARAMS, 1),
    "null params": ({"jsonrpc": "2.0", "id": 1, "method": "m", "params": None}, INVALID_PARAMS, 1),
    "a _meta that is no object": (
        {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {"_meta": 1}},
        INVALID_PARAMS,
        1,
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_message_is_told_so(name: str) -> None:
    sent, code, id = BAD[name]
    with pytest.raises(RpcError) as raised:
        read(sent)
    assert (raised.value.code, raised.value.id, raised.value.status) == (code, id, 400)


def test_answers_have_their_members() -> None:
    assert response("a", {"x": 1}) == {"jsonrpc": "2.0", "id": "a", "result": {"x": 1}}
    assert error(None, -1, "no") == {"jsonrpc": "2.0", "id": None, "error": {"code": -1, "message": "no"}}
    assert error(1, -1, "no", {"y": 2})["error"]["data"] == {"y": 2}
