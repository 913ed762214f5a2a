"""HTTP over a real socket: paths, methods, HEAD, request ids, User-Agents, limit headers."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples import example, the_contract
from tests.live import Live, live_server
from tests.problem_checks import assert_problem

OPERATIONS = the_contract().operations.values()
PATHS = sorted({operation.path for operation in OPERATIONS if not operation.operator})
GETS = sorted(operation.path for operation in OPERATIONS if operation.method == "GET" and not operation.operator)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live_server(tmp_path_factory.mktemp("http")) as live:
        live.new_key()
        yield live


def methods_of(path: str) -> set[str]:
    found = {operation.method for operation in OPERATIONS if operation.path == path}
    return found | {"OPTIONS"} | ({"HEAD"} if "GET" in found else set())


@pytest.mark.promise("http.not_found")
@pytest.mark.parametrize(
    "path",
    [
        "/v1/nothing",
        "/v1/",
        "/v1/judge/",
        "/v1//judge",
        "/v1/Judge",
        "/v1/keys/you",
        "/v1/judge/../health",
        "/v1/%6audge",
        "/v1/judge%2f",
        "/v1/%00",
        "/v1/%ff",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_an_unknown_path_is_a_404(server: Live, method: str, path: str) -> None:
    assert_problem(server.request(method, path, key=server.keys[0]), "not_found")


@pytest.mark.promise("http.method_not_allowed")
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "HEAD"])
def test_another_method_is_a_405_that_lists_the_right_ones(server: Live, method: str, path: str) -> None:
    if method in methods_of(path) or path == "/mcp":
        # /mcp answers in JSON-RPC, which its own tests look at.
        return
    answer = server.request(method, path, key=server.keys[0])
    if method == "HEAD":
        assert (answer.status, answer.body) == (405, b"")
    else:
        assert_problem(answer, "method_not_allowed")
    assert set(answer.headers["allow"].split(", ")) == methods_of(path)


@pytest.mark.promise("http.preflight")
@pytest.mark.parametrize("path", PATHS)
def test_options_lists_the_methods_without_a_key(server: Live, path: str) -> None:
    answer = server.request("OPTIONS", path)
    assert (answer.status, answer.body) == (204, b"")
    assert set(answer.headers["allow"].split(", ")) == methods_of(path)
    assert "content-length" not in answer.headers


@pytest.mark.promise("http.head")
@pytest.mark.parametrize("path", GETS)
@pytest.mark.parametrize("with_key", [True, False])
def test_head_answers_as_get_without_a_body(server: Live, path: str, with_key: bool) -> None:
    key = server.keys[0] if with_key else None
    get, head = (server.request(method, path, key=key) for method in ("GET", "HEAD"))
    assert head.body == b""
    assert head.status == get.status
    assert int(head.headers["content-length"]) == len(get.body)
    changing = {"x-request-id", "date"}
    assert head.headers.keys() == get.headers.keys()
    assert {n: v for n, v in head.headers.items() if n not in changing} == {
        n: v for n, v in get.headers.items() if n not in changing
    }


@pytest.mark.promise("http.head")
def test_a_connection_goes_on_after_head(server: Live) -> None:
    with server.wire() as wire:
        for method in ("HEAD", "GET", "HEAD", "GET"):
            wire.send_request(method, "/v1/health")
            assert wire.receive(method).status == 200


REQUESTS = {
    "an answer": ("POST", "/v1/judge", example("judge"), True),
    "a health check": ("GET", "/v1/health", None, False),
    "a 400": ("POST", "/v1/judge", b"{", True),
    "a 401": ("GET", "/v1/keys/me", None, False),
    "a 402": ("POST", "/v1/judge", example("judge"), False),
    "a 404": ("GET", "/v1/nothing", None, False),
    "a 405": ("PUT", "/v1/judge", None, False),
    "a 413": ("POST", "/v1/judge", b" " * 2_097_153, True),
    "a preflight": ("OPTIONS", "/v1/judge", None, False),
    "a page": ("GET", "/docs", None, False),
}


@pytest.mark.promise("http.request_id")
@pytest.mark.parametrize("name", REQUESTS)
def test_every_response_has_an_id_of_the_servers_own(server: Live, name: str) -> None:
    method, path, body, with_key = REQUESTS[name]
    key = server.keys[0] if with_key else None
    sent = {"X-Request-Id": "req_AAAAAAAAAAAAAAAA", "Request-Id": "mine", "traceparent": "mine"}
    answers = [server.request(method, path, body, key=key, headers=sent) for _ in range(2)]
    ids = [answer.headers["x-request-id"] for answer in answers]
    assert all(re.fullmatch(r"req_[0-9A-Za-z]{16}", request_id) for request_id in ids)
    assert len({*ids, "req_AAAAAAAAAAAAAAAA"}) == 3
    for answer in answers:
        if answer.body and "request_id" in answer.json:
            assert answer.json["request_id"] == answer.headers["x-request-id"]
        assert b"mine" not in answer.body
        assert b"req_AAAA" not in answer.body


@pytest.mark.promise("http.any_user_agent")
@pytest.mark.parametrize(
    "agent",
    [
        "",
        "Python-urllib/3.11",
        "python-requests/2.32",
        "curl/8.5.0",
        "GPTBot/1.2",
        "ClaudeBot/1.0",
        "sqlmap/1.8",
        "é",
        "x" * 4_000,
        None,
    ],
)
def test_no_user_agent_is_filtered(server: Live, agent: str | None) -> None:
    with server.wire() as wire:
        if agent is None:
            wire.send_request("GET", "/v1/health")
        else:
            wire.send_request("GET", "/v1/health", User_Agent=agent)
        assert wire.receive().status == 200


@pytest.mark.promise("http.limit_headers")
def test_limits_are_announced_and_count_down(tmp_path: Path) -> None:
    with live_server(tmp_path) as live:
        key = live.new_key()
        for left in (99, 98):
            answer = live.request("POST", "/v1/judge", example("judge"), key=key)
            assert answer.headers["ratelimit-policy"] == '"free";q=100;w=86400'
            assert answer.headers["ratelimit"] == f'"free";r={left};t=43200'
        live.clock.now += 3_600
        read = live.request("GET", "/v1/keys/me", key=key)
        refused = live.request("POST", "/v1/judge", b"{", key=key)
        assert read.headers["ratelimit"] == refused.headers["ratelimit"] == '"free";r=98;t=39600'
        live.clock.now += 39_600
        assert live.request("GET", "/v1/keys/me", key=key).headers["ratelimit"] == '"free";r=100;t=86400'


@pytest.mark.promise("ops.no_dist")
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize("path", ["/", "/docs", "/llms.txt", "/openapi.json"])
def test_without_a_built_site_pages_are_a_503_and_the_api_answers(server: Live, method: str, path: str) -> None:
    answer = server.request(method, path)
    if method == "HEAD":
        assert (answer.status, answer.body) == (503, b"")
        return
    assert_problem(answer, "site_unavailable")
    assert server.request("GET", "/v1/health").status == 200


@pytest.mark.promise("health.answer")
def test_health_says_what_is_on_and_nothing_secret(tmp_path: Path) -> None:
    with live_server(tmp_path, SECRET_KEY="the-secret-key-of-this-server") as live:
        answer = live.request("GET", "/v1/health", headers={"Authorization": "Bearer nonsense"})
        assert answer.status == 200
        assert {"status", "version", "engines", "payments"} <= answer.json.keys()
        assert answer.json["status"] == "ok"
        assert answer.json["version"] == the_contract().version
        assert answer.json["engines"] == {"deterministic": True, "llm": False}
        assert answer.json["payments"] == {"free": True, "stripe": False, "x402": False}
        assert b"secret" not in answer.body
        assert str(tmp_path).encode() not in answer.body


def test_a_query_string_changes_nothing_where_none_is_known(server: Live) -> None:
    assert server.request("GET", "/v1/health?x=1&y=%ff").status == 200


def test_the_absolute_form_of_a_target_is_understood(server: Live) -> None:
    with server.wire() as wire:
        wire.send_request("GET", "http://screwtape.ai/v1/health")
        assert wire.receive().status == 200


def test_many_requests_on_one_connection_are_answered_in_order(server: Live) -> None:
    with server.wire() as wire:
        for path in ("/v1/health", "/v1/nothing") * 5:
            wire.send_request("GET", path)
        assert [wire.receive().status for _ in range(10)] == [200, 404] * 5


def test_a_client_that_leaves_before_its_answer_disturbs_nobody(server: Live) -> None:
    for _ in range(5):
        with server.wire() as wire:
            wire.send_request(
                "POST",
                "/v1/judge",
                b'{"task": "t", "agent_output": "o"}',
                Authorization=f"Bearer {server.keys[0]}",
                Content_Type="application/json",
            )
    assert server.request("GET", "/v1/health").status == 200


@pytest.mark.parametrize("hosts", [[], ["a.test", "b.test"], ["a.test", "a.test"]], ids=["none", "two", "twice"])
def test_a_request_has_exactly_one_host(live: Live, hosts: list[str]) -> None:
    head = "".join(f"Host: {host}\r\n" for host in hosts)
    with live.wire() as wire:
        wire.send(f"GET /v1/health HTTP/1.1\r\n{head}\r\n".encode())
        answer = wire.receive()
        assert_problem(answer, "malformed_request")
        assert answer.headers["connection"] == "close"
        assert wire.is_closed()


def test_an_old_client_needs_no_host(live: Live) -> None:
    with live.wire() as wire:
        wire.send(b"GET /v1/health HTTP/1.0\r\n\r\n")
        assert wire.receive().status == 200
