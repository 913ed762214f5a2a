"""Which browser origins may read answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples import example
from tests.live import Answer, Live, live_server

CORS = ("access-control-allow-origin", "access-control-expose-headers", "access-control-allow-credentials")
SITE = "https://screwtape.ai"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live_server(
        tmp_path_factory.mktemp("cors"),
        PUBLIC_BASE_URL="https://judge.example.org",
        ALLOWED_ORIGINS="https://app.example.com, http://localhost:5173",
    ) as live:
        live.new_key()
        yield live


def get(server: Live, origin: str | None, path: str = "/v1/health", **headers: str) -> Answer:
    sent = {**headers, **({} if origin is None else {"Origin": origin})}
    return server.request("GET", path, headers=sent)


def allowed(server: Live) -> list[str]:
    return [
        SITE,
        "https://www.screwtape.ai",
        "https://judge.example.org",
        "https://app.example.com",
        "http://localhost:5173",
        f"http://127.0.0.1:{server.port}",
        f"http://localhost:{server.port}",
    ]


REFUSED = [
    "https://evil.example",
    "http://screwtape.ai",
    "https://screwtape.ai.evil.example",
    "https://evil-screwtape.ai",
    "https://screwtape.ai:8443",
    "https://screwtape.ai/",
    "https://screwtape.ai, https://evil.example",
    "null",
    "*",
    "",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
]


@pytest.mark.promise("http.cors")
@pytest.mark.promise("facts.origins")
@pytest.mark.promise("ops.allowed_origins")
def test_allowed_origins_are_reflected(server: Live) -> None:
    for origin in allowed(server):
        answer = get(server, origin)
        assert answer.status == 200
        assert answer.headers["access-control-allow-origin"] == origin
        assert "Origin" in answer.headers["vary"]
        assert "X-Request-Id" in answer.headers["access-control-expose-headers"]
        assert "PAYMENT-REQUIRED" in answer.headers["access-control-expose-headers"]
        assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.promise("http.cors")
@pytest.mark.parametrize("origin", REFUSED)
def test_other_origins_are_answered_without_cors_headers(server: Live, origin: str) -> None:
    answer = get(server, origin)
    assert answer.status == 200
    assert not [name for name in CORS if name in answer.headers]
    assert "Origin" in answer.headers["vary"]


@pytest.mark.promise("http.cors")
def test_no_origin_is_allowed(server: Live) -> None:
    answer = get(server, None)
    assert answer.status == 200
    assert not [name for name in CORS if name in answer.headers]


@pytest.mark.promise("ops.allowed_origins")
def test_the_host_header_does_not_decide(server: Live) -> None:
    answer = get(server, "http://evil.example", Host="evil.example")
    assert not [name for name in CORS if name in answer.headers]
    answer = get(server, "http://localhost:1", Host="localhost:1")
    assert not [name for name in CORS if name in answer.headers]


@pytest.mark.promise("ops.allowed_origins")
def test_local_origins_are_allowed_only_when_bound_to_loopback(tmp_path: Path) -> None:
    with live_server(tmp_path, HOST="0.0.0.0") as live:
        for host in ("127.0.0.1", "localhost", "0.0.0.0"):
            assert "access-control-allow-origin" not in get(live, f"http://{host}:{live.port}").headers
        assert get(live, SITE).headers["access-control-allow-origin"] == SITE


ERRORS = {
    400: ("POST", "/v1/judge", b"{", True),
    401: ("GET", "/v1/keys/me", None, False),
    402: ("POST", "/v1/judge", example("judge"), False),
    404: ("GET", "/v1/nothing", None, False),
    405: ("PUT", "/v1/judge", None, False),
    413: ("POST", "/v1/judge", b" " * 2_097_153, True),
}


@pytest.mark.promise("http.cors_errors")
@pytest.mark.parametrize("status", ERRORS)
def test_errors_can_be_read_by_the_same_origins(server: Live, status: int) -> None:
    method, path, body, with_key = ERRORS[status]
    key = server.keys[0] if with_key else None
    answer = server.request(method, path, body, key=key, headers={"Origin": SITE})
    assert answer.status == status
    assert answer.headers["access-control-allow-origin"] == SITE
    refused = server.request(method, path, body, key=key, headers={"Origin": "https://evil.example"})
    assert not [name for name in CORS if name in refused.headers]


def preflight(server: Live, origin: str, **headers: str) -> Answer:
    sent = {"Origin": origin, "Access-Control-Request-Method": "POST", **headers}
    return server.request("OPTIONS", "/v1/judge", headers=sent)


@pytest.mark.promise("http.preflight")
def test_a_preflight_says_what_may_be_sent(server: Live) -> None:
    answer = preflight(server, SITE, **{"Access-Control-Request-Headers": "authorization,content-type"})
    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == SITE
    assert "POST" in answer.headers["access-control-allow-methods"].split(", ")
    named = {name.lower() for name in answer.headers["access-control-allow-headers"].split(", ")}
    assert {"authorization", "content-type", "idempotency-key", "payment-signature"} <= named
    assert "Origin" in answer.headers["vary"]


@pytest.mark.promise("http.preflight")
def test_a_preflight_of_another_origin_is_told_nothing(server: Live) -> None:
    answer = preflight(server, "https://evil.example")
    assert answer.status == 204
    assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.promise("http.preflight")
def test_preflights_are_not_charged(server: Live) -> None:
    key = server.new_key("preflight@example.com")
    for _ in range(3):
        sent = {"Origin": SITE, "Access-Control-Request-Method": "POST"}
        assert server.request("OPTIONS", "/v1/judge", key=key, headers=sent).status == 204
    assert server.request("GET", "/v1/keys/me", key=key).json["free_calls"]["used"] == 0
