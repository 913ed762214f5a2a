"""Arbitrary input over a real socket: whatever comes is answered, never with a fault of ours."""

import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.live import Live, live_server
from tests.web.test_bodies import GOOD

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from(["task", "agent_output", "evidence", "criteria", "answers", "retain", "explain", "version"])
METHODS = st.sampled_from(["initialize", "tools/call", "tools/list", "ping", "server/discover", "notifications/x"])
RPC = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0") | VALUES, "id": VALUES, "method": METHODS | st.text(max_size=8)},
    optional={"params": st.fixed_dictionaries({}, optional={"name": VALUES, "arguments": VALUES, "_meta": VALUES})},
)
BODIES = (
    st.binary(max_size=200)
    | VALUES.map(lambda value: json.dumps(value).encode())
    | st.dictionaries(FIELDS, VALUES, max_size=5).map(lambda value: json.dumps(value).encode())
    | st.tuples(st.integers(0, len(GOOD)), st.binary(max_size=3)).map(lambda at: GOOD[: at[0]] + at[1] + GOOD[at[0] :])
)
TARGETS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0xFF, exclude_characters="\x7f"), max_size=60)
steady = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live_server(tmp_path_factory.mktemp("hostile")) as live:
        live.new_key()
        yield live


@pytest.mark.promise("http.strict_json")
@pytest.mark.parametrize("path", ["/v1/judge", "/v1/consensus", "/v1/keys", "/v1/receipts/verify"])
@steady
@given(body=BODIES)
def test_any_body_is_answered_without_a_fault_of_ours(server: Live, path: str, body: bytes) -> None:
    assert server.request("POST", path, body, key=server.keys[0]).status < 500


@steady
@given(message=RPC | VALUES)
def test_any_mcp_message_is_answered_without_a_fault_of_ours(server: Live, message: object) -> None:
    assert server.request("POST", "/mcp", json.dumps(message).encode(), key=server.keys[0]).status < 500


@steady
@given(path=TARGETS, limit=st.integers() | st.floats() | st.text(st.characters(codec="utf-8"), max_size=6))
def test_any_path_and_number_is_answered_without_a_fault_of_ours(server: Live, path: str, limit: object) -> None:
    for target in (f"/v1/{path}", f"/v1/retention?limit={quote(str(limit))}&cursor={path}", f"/v1/retention/{path}"):
        with server.wire() as wire:
            head = f"GET {target} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {server.keys[0]}\r\n\r\n"
            wire.send(head.encode("latin-1"))
            assert wire.receive().status < 500
