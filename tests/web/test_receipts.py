"""Receipts of a running server: on every answered call, about what was sent, and verified with the keys it lists."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.core.receipts import keys
from api.core.receipts.canonical import digest
from api.core.receipts.signing import refusal
from tests.examples import example, the_contract
from tests.fakes.facilitator import fake_facilitator
from tests.live import Answer, Live, live_server
from tests.problem_checks import assert_problem
from tests.receipts import (
    OTHER_PEM,
    SIGNING_PEM,
    URL,
    Json,
    assert_receipt,
    issuer,
    kid_of,
    public_of,
    verified,
    without_receipt,
)
from tests.web.mcp import call
from tests.web.x402 import BUYER, offer, paid_server, pay, payment
from tests.web.x402 import receipt as settlement

JWKS = "/.well-known/jwks.json"
ENGINES = ["judge", "consensus"]


@pytest.fixture
def signing(tmp_path: Path) -> Iterator[Live]:
    with live_server(tmp_path, RECEIPT_SIGNING_KEY=SIGNING_PEM) as server:
        server.new_key()
        yield server


def ask(live: Live, operation: str, key: str | None = None, **more: Any) -> tuple[Json, Answer]:
    """A request and its answer. `headers` among `more` are headers, the rest fields."""
    headers = more.pop("headers", None)
    body = {**example(operation), **more}
    answer = live.request("POST", f"/v1/{operation}", body, key=key or live.keys[0], headers=headers)
    assert answer.status == 200, answer.body
    return body, answer


@pytest.mark.promise("receipts.content")
@pytest.mark.promise("receipts.canonical")
@pytest.mark.parametrize("explain", [False, True])
@pytest.mark.parametrize("operation", ENGINES)
def test_every_answer_carries_a_receipt(signing: Live, operation: str, explain: bool) -> None:
    body, answer = ask(signing, operation, agent_id="agent-1", version="v 2 é", explain=explain)
    receipt = assert_receipt(answer.json, body)
    assert receipt["issuer"] == URL
    assert receipt["issued_at"] == "2026-11-30T12:00:00Z"
    assert (receipt["endpoint"], receipt["engine"]) == (operation, "deterministic")
    assert (receipt["agent_id"], receipt["version"]) == ("agent-1", "v 2 é")
    assert "payment" not in receipt
    assert receipt["request_id"] == answer.headers["x-request-id"]
    assert the_contract().body_schema(f"{operation.title()}Response").faults(answer.json) == []


def test_the_results_are_those_of_the_answer(signing: Live) -> None:
    _, judged = ask(signing, "judge")
    assert judged.json["receipt"]["result"]["verdict"] == judged.json["verdict"]
    assert float(judged.json["receipt"]["result"]["score"]) == judged.json["score"]
    _, agreed = ask(signing, "consensus")
    result = agreed.json["receipt"]["result"]
    assert (result["false_consensus_risk"], float(result["agreement_score"])) == ("high", 1.0)


def test_an_empty_output_is_answered_with_a_receipt(signing: Live) -> None:
    body, answer = ask(signing, "judge", agent_output="", task="\U0001f600 \x7f\u2028")
    assert_receipt(answer.json, body)


@pytest.mark.parametrize("operation", ENGINES)
def test_without_a_key_there_is_no_receipt(live: Live, operation: str) -> None:
    live.new_key()
    _, answer = ask(live, operation)
    assert "receipt" not in answer.json
    assert live.request("GET", "/v1/health").json["receipts"] is False


def test_health_says_that_receipts_are_on(signing: Live) -> None:
    assert signing.request("GET", "/v1/health").json["receipts"] is True


def test_errors_have_no_receipt(signing: Live) -> None:
    answer = signing.request("POST", "/v1/judge", {}, key=signing.keys[0])
    assert_problem(answer, "invalid_request")
    assert b"receipt" not in answer.body


@pytest.mark.promise("receipts.content")
@pytest.mark.parametrize("tool", ENGINES)
def test_a_tool_call_carries_a_receipt(signing: Live, tool: str) -> None:
    arguments = {**example(tool), "explain": True}
    result = call(signing, tool, arguments, key=signing.keys[0]).json["result"]
    assert_receipt(result["structuredContent"], arguments)
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert the_contract().body_schema(f"{tool.title()}Response").faults(result["structuredContent"]) == []


@pytest.mark.promise("receipts.content")
def test_a_kept_call_holds_the_receipt_that_was_sent(signing: Live) -> None:
    body, answer = ask(signing, "judge", retain=True)
    assert_receipt(answer.json, body)
    (row,) = signing.request("GET", "/v1/retention", key=signing.keys[0]).json["data"]
    assert row["response"] == answer.json
    assert row["request"] == body


def test_a_call_that_is_not_kept_says_so_in_what_is_signed(signing: Live) -> None:
    signing.request("PATCH", "/v1/account/settings", {"retention_days": 0}, key=signing.keys[0])
    body, answer = ask(signing, "judge", retain=True)
    assert answer.json["retention"]["retained"] is False
    assert_receipt(answer.json, body)


@pytest.mark.parametrize("retain", [False, True])
def test_a_replay_is_signed_anew(signing: Live, retain: bool) -> None:
    headers = {"Idempotency-Key": "once"}
    _, first = ask(signing, "judge", headers=headers, retain=retain)
    signing.clock.now += 60
    body, again = ask(signing, "judge", headers=headers, retain=retain)
    assert again.headers["idempotency-replayed"] == "true"
    receipt = assert_receipt(again.json, body)
    assert without_receipt(again.json) == without_receipt(first.json)
    assert receipt["request_id"] == first.json["request_id"]
    assert receipt["response_hash"] == first.json["receipt"]["response_hash"]
    assert receipt["issued_at"] == "2026-11-30T12:01:00Z"


@pytest.mark.promise("receipts.content")
@pytest.mark.parametrize("keyed", [False, True])
def test_a_paid_call_names_its_payment(tmp_path: Path, keyed: bool) -> None:
    with (
        fake_facilitator() as fake,
        paid_server(tmp_path, fake, RECEIPT_SIGNING_KEY=SIGNING_PEM) as live,
    ):
        key = live.new_key() if keyed else None
        if key is not None:
            live.use_up(key)
        sent = payment(offer(live))
        body = {**example("judge"), "retain": True}
        first = pay(live, sent, body=body, key=key)
        assert first.status == 200, first.body
        receipt = assert_receipt(first.json, body)
        wanted = offer(live)["accepts"][0]
        assert receipt["payment"] == {
            "network": wanted["network"],
            "transaction": settlement(first)["transaction"],
            "payer": BUYER,
            "amount": wanted["amount"],
            "asset": wanted["asset"].lower(),
        }
        assert first.json["retention"]["retained"] is keyed
        if key is not None:
            rows = live.request("GET", "/v1/retention", key=key).json["data"]
            assert rows[0]["response"] == first.json
        live.clock.now += 5
        again = pay(live, sent, body=body, key=key)
        assert again.status == 200
        resent = assert_receipt(again.json, body)
        assert resent["payment"] == receipt["payment"]
        assert without_receipt(again.json) == without_receipt(first.json)


@pytest.mark.promise("site.jwks")
@pytest.mark.promise("receipts.keys")
@pytest.mark.promise("http.discovery_cors")
def test_the_keys_are_listed(signing: Live) -> None:
    answer = signing.request("GET", JWKS, headers={"Origin": "https://anywhere.example"})
    assert answer.status == 200
    assert answer.json == issuer().jwks()
    assert answer.headers["content-type"] == "application/jwk-set+json"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cache-control"] == "public, max-age=300"
    (key,) = answer.json["keys"]
    assert key.keys() == {"kty", "crv", "x", "kid", "use", "alg"}
    head = signing.request("HEAD", JWKS)
    assert (head.status, head.body, head.headers["etag"]) == (200, b"", answer.headers["etag"])
    unchanged = signing.request("GET", JWKS, headers={"If-None-Match": answer.headers["etag"]})
    assert (unchanged.status, unchanged.body) == (304, b"")
    assert_problem(signing.request("POST", JWKS, {}), "method_not_allowed")
    assert signing.request("OPTIONS", JWKS).headers["allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.promise("site.jwks")
def test_a_server_without_keys_lists_none(live: Live) -> None:
    answer = live.request("GET", JWKS)
    assert (answer.status, answer.json) == (200, {"keys": []})
    assert verified(live, example("verify_receipt")["receipt"]).json["reason"] == "unknown_key"


@pytest.mark.promise("receipts.verify")
def test_a_receipt_is_verified_without_a_key(signing: Live) -> None:
    _, answer = ask(signing, "judge")
    receipt = answer.json["receipt"]
    found = verified(signing, receipt)
    assert (found.status, found.json) == (200, {"valid": True, "reason": None, "receipt": receipt})
    changed = {**receipt, "result": {**receipt["result"], "verdict": "fail"}}
    found = verified(signing, changed)
    assert (found.status, found.json) == (200, {"valid": False, "reason": "wrong_signature", "receipt": None})
    assert verified(signing, {}).json["reason"] == "malformed"


@pytest.mark.parametrize("body", [{}, {"receipt": "x"}, {"receipt": None}, {"receipt": {}, "more": 1}])
def test_a_body_without_a_receipt_is_refused(signing: Live, body: Any) -> None:
    assert_problem(signing.request("POST", "/v1/receipts/verify", body), "invalid_request")


def test_a_receipt_from_nowhere_is_no_server_error(signing: Live) -> None:
    receipt = {"signatures": [{"protected": "\u00e9", "signature": ""}], "n": 2**64 - 1, "\U0001f600": [1e300]}
    assert verified(signing, receipt).json["reason"] == "not_base64url"
    deep: Any = {}
    for _ in range(60):
        deep = {"a": deep}
    assert verified(signing, deep).json["reason"] == "malformed"


@pytest.mark.promise("receipts.keys")
@pytest.mark.promise("ops.receipt_settings")
def test_receipts_outlive_their_key(tmp_path: Path) -> None:
    """A rotation as the guide has it: the new key is listed ahead, then signs, and the old one stays listed."""
    (tmp_path / "new.pem").write_text(public_of(OTHER_PEM))
    (tmp_path / "key.pem").write_text(OTHER_PEM)
    with live_server(tmp_path, RECEIPT_SIGNING_KEY=SIGNING_PEM, RECEIPT_RETIRED_KEYS=f"{tmp_path}/new.pem") as live:
        key = live.new_key()
        before, ahead = ask(live, "judge")[1].json["receipt"], live.request("GET", JWKS).json
    assert [each["kid"] for each in ahead["keys"]] == [kid_of(SIGNING_PEM), kid_of(OTHER_PEM)]
    retired = public_of(SIGNING_PEM).replace("\n", "\\n")
    with live_server(tmp_path, RECEIPT_SIGNING_KEY=f"{tmp_path}/key.pem", RECEIPT_RETIRED_KEYS=retired) as live:
        after = ask(live, "judge", key=key)[1].json["receipt"]
        assert after["signatures"][0]["protected"] != before["signatures"][0]["protected"]
        assert [verified(live, each).json["valid"] for each in (before, after)] == [True, True]
        listed = live.request("GET", JWKS).json
    # A list that was cached before the change knows both.
    for known in (ahead, listed):
        assert [refusal(each, URL, keys.read_jwks(known)) for each in (before, after)] == [None, None]
    with live_server(tmp_path, RECEIPT_RETIRED_KEYS=retired) as live:
        assert verified(live, before).json["valid"] is True
        assert verified(live, after).json["reason"] == "unknown_key"
        assert "receipt" not in ask(live, "judge", key=key)[1].json


def test_the_issuer_is_the_public_address(tmp_path: Path) -> None:
    with live_server(tmp_path, RECEIPT_SIGNING_KEY=SIGNING_PEM, PUBLIC_BASE_URL="https://judge.example/") as live:
        live.new_key()
        body, answer = ask(live, "judge")
        receipt = answer.json["receipt"]
        assert receipt["issuer"] == "https://judge.example"
        assert receipt["request_hash"] == digest(body)
        assert verified(live, receipt).json["valid"] is True
    with live_server(tmp_path, RECEIPT_SIGNING_KEY=SIGNING_PEM) as live:
        assert verified(live, receipt).json["reason"] == "wrong_issuer"
