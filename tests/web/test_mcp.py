"""POST /mcp over real sockets: the transport, both eras, browsers, and what is wrong with messages."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api import contract
from api.core.mcp.eras import LEGACY, SERVER_KEY, SUPPORTED, VERSION_KEY
from tests.examples import CONTENT, the_contract
from tests.live import Live, live_server
from tests.web.ledger import OPERATOR, ledger_server
from tests.web.mcp import NOW, assert_rpc_problem, call, modern, rpc

SITE = "https://screwtape.ai"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live_server(tmp_path_factory.mktemp("mcp")) as live:
        live.new_key()
        yield live


@pytest.mark.promise("mcp.free_methods")
@pytest.mark.parametrize("version", LEGACY)
def test_a_legacy_session_from_its_beginning(server: Live, version: str) -> None:
    hello = rpc(server, "initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {}})
    assert hello.status == 200
    assert hello.json["result"]["protocolVersion"] == version
    assert hello.json["result"]["serverInfo"]["version"] == the_contract().version
    assert "judge" in hello.json["result"]["instructions"]
    assert "mcp-session-id" not in hello.headers
    noted = server.request("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (noted.status, noted.body) == (202, b"")
    every: list[dict[str, Any]] = [{}, {"MCP_Protocol_Version": version}, {"Mcp_Session_Id": "of another server"}]
    for headers in every:
        assert [tool["name"] for tool in rpc(server, "tools/list", **headers).json["result"]["tools"]] == [
            "judge",
            "consensus",
        ]
    assert rpc(server, "ping", id="p").json["result"] == {}


@pytest.mark.promise("mcp.free_methods")
@pytest.mark.promise("mcp.eras")
def test_a_modern_client_asks_without_a_beginning(server: Live) -> None:
    found = modern(server, "server/discover").json["result"]
    assert found["supportedVersions"] == list(SUPPORTED)
    assert found["_meta"][SERVER_KEY] == rpc(server, "initialize").json["result"]["serverInfo"]
    for result in (found, modern(server, "tools/list").json["result"]):
        assert (result["resultType"], result["cacheScope"]) == ("complete", "public")
        assert result["ttlMs"] > 0
    called = modern(server, "tools/call", {"name": "judge", "arguments": {}}, key=server.keys[0])
    assert called.json["result"]["resultType"] == "complete"
    assert called.json["result"]["isError"] is True
    assert "ttlMs" not in called.json["result"]


@pytest.mark.promise("mcp.tools")
def test_the_tools_are_the_contract(server: Live) -> None:
    listed = rpc(server, "tools/list").json["result"]["tools"]
    assert rpc(server, "tools/list").json["result"]["tools"] == listed
    assert listed == list(contract.tools(contract.load(CONTENT)).values())
    for tool in listed:
        schemas = the_contract().document["components"]["schemas"]
        name = tool["name"].title()
        for part, schema in (("inputSchema", schemas[f"{name}Request"]), ("outputSchema", schemas[f"{name}Response"])):
            assert "$ref" not in json.dumps(tool[part])
            assert '"x-' not in json.dumps(tool[part])
            assert tool[part]["type"] == "object"
            assert tool[part]["required"] == schema["required"]
            assert list(tool[part]["properties"]) == list(schema["properties"])
        assert tool["inputSchema"]["properties"]["task"] == schemas["Task"]
        assert tool["annotations"]["title"] == tool["title"]
        assert tool["annotations"]["readOnlyHint"] is True
        for field in tool["inputSchema"]["properties"]:
            assert f"`{field}`" in tool["description"] or field == "explain" or f"`{field}:" in tool["description"]


REFUSED: dict[str, tuple[dict[str, str], int, int]] = {
    "no method header": ({"MCP_Protocol_Version": NOW}, 400, -32020),
    "no version header": ({"Mcp_Method": "tools/list"}, 400, -32020),
    "an unknown version": ({"MCP_Protocol_Version": "2030-01-01", "Mcp_Method": "tools/list"}, 400, -32020),
}


@pytest.mark.promise("mcp.eras")
@pytest.mark.parametrize("name", REFUSED)
def test_modern_headers_must_fit(server: Live, name: str) -> None:
    headers, status, code = REFUSED[name]
    answer = rpc(server, "tools/list", {"_meta": {VERSION_KEY: NOW}}, **headers)
    assert (answer.status, answer.json["error"]["code"]) == (status, code)


@pytest.mark.promise("mcp.eras")
def test_white_space_around_a_header_is_no_part_of_it(server: Live) -> None:
    params = {"name": "judge", "arguments": {}}
    answer = modern(
        server, "tools/call", params, key=server.keys[0], Mcp_Name=" \t judge \t ", Mcp_Method=" tools/call "
    )
    assert (answer.status, answer.json["result"]["isError"]) == (200, True)


@pytest.mark.promise("mcp.eras")
def test_an_unknown_version_is_told_the_known_ones(server: Live) -> None:
    answer = rpc(server, "tools/list", {"_meta": {VERSION_KEY: "2030-01-01"}}, MCP_Protocol_Version="2030-01-01")
    assert (answer.status, answer.json["error"]["code"]) == (400, -32022)
    assert answer.json["error"]["data"] == {"supported": list(SUPPORTED), "requested": "2030-01-01"}
    noted = server.request(
        "POST",
        "/mcp",
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        headers={"MCP-Protocol-Version": "1999-01-01"},
    )
    assert noted.status == 400


@pytest.mark.promise("mcp.eras")
def test_an_unknown_method_is_a_200_of_old_and_a_404_now(server: Live) -> None:
    old, new = rpc(server, "resources/list"), modern(server, "resources/list")
    assert (old.status, old.json["error"]["code"]) == (200, -32601)
    assert (new.status, new.json["error"]["code"]) == (404, -32601)
    assert modern(server, "initialize").status == modern(server, "ping").status == 404


def test_an_unknown_tool_is_a_wrong_parameter(server: Live) -> None:
    old, new = call(server, "judge2", {}), modern(server, "tools/call", {"name": "judge2"})
    assert (old.status, old.json["error"]["code"]) == (200, -32602)
    assert (new.status, new.json["error"]["code"]) == (400, -32602)
    assert "judge, consensus" in old.json["error"]["message"]


@pytest.mark.promise("mcp.notification")
@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "judge"}},
        {"jsonrpc": "2.0", "id": 3, "result": {}},
    ],
)
def test_a_notification_is_taken_and_not_answered(server: Live, message: Any) -> None:
    answer = server.request("POST", "/mcp", message)
    assert (answer.status, answer.body) == (202, b"")
    assert answer.headers["x-request-id"].startswith("req_")


@pytest.mark.promise("mcp.transport")
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH"])
def test_only_post_is_answered(server: Live, method: str) -> None:
    answer = server.request(method, "/mcp", headers={"Accept": "text/event-stream"})
    assert_rpc_problem(answer, "method_not_allowed")
    assert answer.headers["allow"] == "POST, OPTIONS"
    head = server.request("HEAD", "/mcp")
    assert (head.status, head.headers["allow"], head.body) == (405, "POST, OPTIONS", b"")


@pytest.mark.promise("mcp.transport")
@pytest.mark.parametrize("accept", ["application/json, text/event-stream", "text/event-stream", "text/html", "*/*"])
def test_the_answer_is_json_whatever_is_accepted(server: Live, accept: str) -> None:
    assert rpc(server, "ping", Accept=accept).status == 200


MALFORMED = [b"{", b"", b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}', b'{"a": NaN}', b"\xff", b"{} {}"]


@pytest.mark.promise("mcp.transport")
@pytest.mark.parametrize("body", MALFORMED)
def test_what_is_not_strict_json_is_not_read(server: Live, body: bytes) -> None:
    answer = server.request("POST", "/mcp", body)
    assert_rpc_problem(answer, "malformed_json" if body else "missing_body")
    assert answer.json["id"] is None
    assert answer.json["error"]["code"] == (-32700 if body else -32600)


@pytest.mark.promise("mcp.transport")
@pytest.mark.parametrize("body", [[PING], [], 1, {"id": 4, "method": "ping"}, {**PING, "id": None}])
def test_what_is_no_request_is_refused(server: Live, body: Any) -> None:
    answer = server.request("POST", "/mcp", json.dumps(body).encode())
    assert (answer.status, answer.json["error"]["code"]) == (400, -32600)
    assert answer.json["id"] == (4 if isinstance(body, dict) and "jsonrpc" not in body else None)


def test_the_body_must_be_said_to_be_json(server: Live) -> None:
    for headers in ({"Content-Type": "text/plain"}, {"Content-Encoding": "gzip"}):
        answer = server.request("POST", "/mcp", PING, headers=headers)
        assert_rpc_problem(answer, "unsupported_media_type")


def test_the_body_is_bounded(server: Live) -> None:
    answer = server.request("POST", "/mcp", b" " * 2_097_153, headers={"Origin": SITE})
    assert_rpc_problem(answer, "payload_too_large")
    assert answer.headers["access-control-allow-origin"] == SITE
    deep = b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": ' + b"[" * 65 + b"]" * 65 + b"}}"
    assert_rpc_problem(server.request("POST", "/mcp", deep), "malformed_json")


@pytest.mark.promise("http.cors_mcp")
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "", "http://127.0.0.1:1", f"{SITE}.evil.example"])
@pytest.mark.parametrize("method", ["POST", "GET", "OPTIONS"])
def test_a_page_of_another_origin_is_refused(server: Live, origin: str, method: str) -> None:
    body = PING if method == "POST" else None
    answer = server.request(method, "/mcp", body, headers={"Origin": origin, "Access-Control-Request-Method": "POST"})
    assert_rpc_problem(answer, "origin_not_allowed")
    assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.promise("http.cors_mcp")
def test_an_allowed_page_may_send_the_headers_of_mcp(server: Live) -> None:
    answer = rpc(server, "ping", Origin=SITE)
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, SITE)
    assert "PAYMENT-REQUIRED" in answer.headers["access-control-expose-headers"]
    sent = {"Origin": SITE, "Access-Control-Request-Method": "POST"}
    preflight = server.request("OPTIONS", "/mcp", headers=sent)
    assert (preflight.status, preflight.body) == (204, b"")
    named = {name.lower() for name in preflight.headers["access-control-allow-headers"].split(", ")}
    assert {"mcp-protocol-version", "mcp-method", "mcp-name", "authorization", "payment-signature"} <= named
    assert "POST" in preflight.headers["access-control-allow-methods"]


def test_other_paths_below_it_are_the_sites(server: Live) -> None:
    for path in ("/mcp/", "/mcp/x", "/mcp2"):
        answer = server.request("POST", path, PING)
        assert answer.status == 503, path
        assert answer.json["code"] == "site_unavailable"


def test_it_is_counted_as_one_operation(tmp_path: Path) -> None:
    with ledger_server(tmp_path, f"sqlite:///{tmp_path}/screwtape.db") as live:
        rpc(live, "ping")
        call(live, key="scr_wrong")
        measured = live.request("GET", "/metrics", key=OPERATOR).body.decode()
        assert 'screwtape_requests_total{operation="mcp",status="200"} 1.0' in measured
        assert 'screwtape_requests_total{operation="mcp",status="401"} 1.0' in measured
        assert 'screwtape_denials_total{code="unknown_key"} 1.0' in measured
