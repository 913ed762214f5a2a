"""Who is let in: keys, no key, payments, and client addresses behind proxies."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api import facts
from tests.examples import CONTENT, example, the_contract
from tests.live import Answer, Live, live_server
from tests.problem_checks import assert_problem

METERED = ("/v1/judge", "/v1/consensus")
UNKNOWN_KEY = "scr_EXAMPLEexampleEXAMPLEexampleEXAMPLE01WQxgN"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live_server(tmp_path_factory.mktemp("access")) as live:
        live.new_key()
        yield live


def authorized(server: Live, authorization: str, path: str = "/v1/keys/me") -> Answer:
    method = "GET" if path == "/v1/keys/me" else "POST"
    body = None if method == "GET" else example("judge")
    return server.request(method, path, body, headers={"Authorization": authorization})


@pytest.mark.promise("charging.unknown_key")
@pytest.mark.promise("http.www_authenticate")
@pytest.mark.parametrize("path", ["/v1/keys/me", "/v1/judge"])
@pytest.mark.parametrize(
    "authorization",
    [
        f"Bearer {UNKNOWN_KEY}",
        f"Bearer {UNKNOWN_KEY[:-1]}0",
        f"Bearer {UNKNOWN_KEY} {UNKNOWN_KEY}",
        "Bearer scr_short",
        "Bearer",
        "Bearer ",
        "Basic ZGV2OmRldg==",
        UNKNOWN_KEY,
        "Bearer é",
        "Bearer " + "s" * 10_000,
        "Bearer ' OR 1=1 --",
        "",
    ],
)
def test_whatever_is_no_known_key_is_a_401(server: Live, path: str, authorization: str) -> None:
    assert_problem(authorized(server, authorization, path), "unknown_key")


@pytest.mark.promise("charging.unknown_key")
def test_a_typing_error_is_told_from_a_dead_key(server: Live) -> None:
    assert "mistyped" in authorized(server, f"Bearer {UNKNOWN_KEY[:-1]}0").json["detail"]
    assert "deleted or rotated" in authorized(server, f"Bearer {UNKNOWN_KEY}").json["detail"]


def test_a_refusal_never_shows_the_key(server: Live) -> None:
    for authorization in (f"Bearer {UNKNOWN_KEY}", f"Bearer {UNKNOWN_KEY[:-1]}0"):
        assert UNKNOWN_KEY[12:-1] not in authorized(server, authorization).body.decode()


@pytest.mark.promise("http.www_authenticate")
@pytest.mark.parametrize(
    "operation", [op for op in the_contract().operations.values() if op.auth == "key"], ids=lambda op: op.id
)
def test_a_missing_key_is_a_401_where_one_is_needed(server: Live, operation: Any) -> None:
    assert_problem(server.request(operation.method, operation.path.replace("{id}", "x")), "missing_key")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_read_in_any_case(server: Live, scheme: str) -> None:
    assert authorized(server, f"{scheme} {server.keys[0]}").status == 200


def test_a_key_in_the_query_is_not_read(server: Live) -> None:
    assert_problem(server.request("GET", f"/v1/keys/me?key={server.keys[0]}"), "missing_key")


PROBES = {
    "an empty body": None,
    "an empty JSON body": b"",
    "garbage": b"\x00\xff{{{",
    "the wrong type of value": b"[]",
    "a good body": json.dumps(example("judge")).encode(),
}


@pytest.mark.promise("charging.payment_required")
@pytest.mark.parametrize("path", METERED)
@pytest.mark.parametrize("probe", PROBES)
def test_without_key_and_payment_a_call_is_a_402_whatever_the_body(server: Live, path: str, probe: str) -> None:
    first = server.request("POST", path, PROBES[probe])
    assert_problem(first, "payment_required")
    assert first.headers["payment-required"] == server.request("POST", path).headers["payment-required"]


@pytest.mark.promise("charging.payment_required")
def test_a_402_needs_no_content_type(server: Live) -> None:
    assert_problem(
        server.request("POST", "/v1/judge", b"<x/>", headers={"Content-Type": "text/xml"}), "payment_required"
    )


def offered(answer: Answer) -> Any:
    return json.loads(base64.b64decode(answer.headers["payment-required"], validate=True))


@pytest.mark.promise("x402.offer")
@pytest.mark.promise("facts.x402_price")
@pytest.mark.promise("facts.x402_pay_to")
def test_the_offer_is_the_documented_one_to_the_letter(server: Live) -> None:
    offer = offered(server.request("POST", "/v1/judge"))
    description = offer["resource"].pop("description")
    assert set(offer.pop("extensions")) == {"payment-identifier", "bazaar"}
    assert description == the_contract().operations["judge"].summary
    assert offer == {
        "x402Version": 2,
        "error": "PAYMENT-SIGNATURE header is required",
        "resource": {
            "url": "https://screwtape.ai/v1/judge",
            "mimeType": "application/json",
            "serviceName": "Screwtape.ai",
            "tags": ["validation", "agents"],
        },
        "accepts": [
            {
                "scheme": "exact",
                "network": "eip155:8453",
                "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
                "amount": "5000",
                "payTo": "0x028Bb9A57B8C27c22f6B39dd00e7eFF1FB60344B",
                "maxTimeoutSeconds": 120,
                "extra": {"name": "USD Coin", "version": "2"},
            }
        ],
    }


@pytest.mark.promise("facts.once")
def test_the_offer_is_made_from_the_plans(server: Live) -> None:
    terms = facts.load(CONTENT).x402
    (accepted,) = offered(server.request("POST", "/v1/consensus"))["accepts"]
    assert accepted == {
        "scheme": "exact",
        "network": terms.network,
        "asset": terms.asset,
        "amount": terms.amount,
        "payTo": terms.pay_to,
        "maxTimeoutSeconds": terms.max_timeout_seconds,
        "extra": {"name": terms.asset_name, "version": terms.asset_version},
    }


@pytest.mark.promise("x402.offer")
@pytest.mark.promise("ops.public_base_url")
@pytest.mark.promise("facts.base_url")
def test_urls_follow_the_configured_base_and_not_the_request(tmp_path: Path) -> None:
    with live_server(tmp_path, PUBLIC_BASE_URL="https://judge.example.org/") as live:
        answer = live.request(
            "POST", "/v1/consensus", headers={"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
        )
        assert offered(answer)["resource"]["url"] == "https://judge.example.org/v1/consensus"
        assert answer.json["type"] == "https://judge.example.org/errors#payment_required"
        assert "https://judge.example.org/signup" in answer.json["detail"]
        assert b"evil" not in answer.body


@pytest.mark.promise("charging.payment_unavailable")
@pytest.mark.parametrize("payment", ["e30=", "garbage", "x" * 20_000])
def test_without_a_facilitator_a_payment_is_a_503(server: Live, payment: str) -> None:
    for body in (None, example("judge"), b"{"):
        answer = server.request("POST", "/v1/judge", body, headers={"PAYMENT-SIGNATURE": payment})
        assert_problem(answer, "payment_unavailable")
        assert "Nothing was taken" in answer.json["detail"]


def test_a_key_comes_before_a_payment(server: Live) -> None:
    sent = {"PAYMENT-SIGNATURE": "e30="}
    assert server.request("POST", "/v1/judge", example("judge"), key=server.keys[0], headers=sent).status == 200
    assert_problem(server.request("POST", "/v1/judge", example("judge"), key=UNKNOWN_KEY, headers=sent), "unknown_key")


@pytest.mark.promise("charging.quota_exceeded")
@pytest.mark.promise("facts.free_tier")
@pytest.mark.promise("http.retry_after")
def test_a_used_up_key_is_told_when_and_where(tmp_path: Path) -> None:
    with live_server(tmp_path) as live:
        key = live.new_key()
        live.use_up(key)
        live.clock.now += 3_600.5
        for path in METERED:
            refused = live.request("POST", path, example(path.rpartition("/")[2]), key=key)
            assert_problem(refused, "quota_exceeded")
            assert refused.headers["retry-after"] == "39600"
            assert offered(refused)["resource"]["url"] == f"https://screwtape.ai{path}"
            assert "https://screwtape.ai/pricing" in refused.json["detail"]
            assert refused.headers["ratelimit"] == '"free";r=0;t=39600'
        other = live.new_key("other@example.com")
        assert live.request("POST", "/v1/judge", example("judge"), key=other).status == 200
        live.clock.now += 39_600
        assert live.request("POST", "/v1/judge", example("judge"), key=key).status == 200


@pytest.mark.promise("charging.answered_only")
def test_only_answered_calls_are_counted(tmp_path: Path) -> None:
    with live_server(tmp_path) as live:
        key = live.new_key()
        live.request("GET", "/v1/keys/me", key=key)
        live.request("GET", "/v1/health", key=key)
        live.request("OPTIONS", "/v1/judge", key=key)
        live.request("HEAD", "/v1/keys/me", key=key)
        live.request("POST", "/v1/judge", {**example("judge"), "x": 1}, key=key)
        assert live.request("GET", "/v1/keys/me", key=key).json["free_calls"]["used"] == 0
        live.request("POST", "/v1/judge", example("judge"), key=key)
        live.request("POST", "/v1/consensus", example("consensus"), key=key)
        live.request("POST", "/v1/judge", {"task": "t", "agent_output": ""}, key=key)
        read = live.request("GET", "/v1/keys/me", key=key).json
        assert read["free_calls"]["used"] == 3
        assert read["usage"][0] == {"date": "2026-11-30", "calls": 3, "judge": 2, "consensus": 1}


def sign_up(live: Live, n: int, forwarded: str | None) -> int:
    sent = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    body = {"email": f"dev{n}@example.com", "name": "x"}
    return live.request("POST", "/v1/keys", body, headers=sent).status


@pytest.mark.promise("ops.trusted_proxies")
def test_a_forwarded_address_counts_when_the_proxy_is_trusted(tmp_path: Path) -> None:
    with live_server(tmp_path, SIGNUPS_PER_HOUR="1", TRUSTED_PROXIES="127.0.0.1, 10.0.0.0/8") as live:
        assert sign_up(live, 1, "203.0.113.1") == 201
        assert sign_up(live, 2, "203.0.113.1") == 429
        assert sign_up(live, 3, "203.0.113.2, 10.1.1.1") == 201
        # What a client writes itself stands to the left of what the proxy adds, and is not looked at.
        assert sign_up(live, 4, "203.0.113.9, 203.0.113.2") == 429
        assert sign_up(live, 5, "2001:db8::1") == 201
        assert sign_up(live, 6, "2001:db8::2") == 429
        assert sign_up(live, 7, None) == 201


@pytest.mark.promise("ops.trusted_proxies")
def test_a_forwarded_address_is_not_believed_from_anybody_else(tmp_path: Path) -> None:
    for proxies in ("", "10.0.0.0/8"):
        folder = tmp_path / f"proxies {proxies.replace('/', '-')}"
        folder.mkdir()
        with live_server(folder, SIGNUPS_PER_HOUR="1", TRUSTED_PROXIES=proxies) as live:
            assert sign_up(live, 1, "203.0.113.1") == 201
            assert sign_up(live, 2, "203.0.113.2") == 429
            assert (
                live.request("POST", "/v1/keys", example("create_key"), headers={"X-Real-Ip": "1.1.1.1"}).status == 429
            )
