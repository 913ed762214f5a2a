"""Paying for a call over x402: what is taken when, what a payment is good for, and what a repeat gets."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.examples import example, the_contract
from tests.fakes.facilitator import LEAK, FakeFacilitator, failed, fake_facilitator, invalid
from tests.live import NOON, Live
from tests.problem_checks import assert_problem
from tests.web.ledger import SMALL, grant, id_of, in_store, many, me, places_with, statuses, total
from tests.web.x402 import (
    BUYER,
    decoded,
    encoded,
    offer,
    paid_server,
    pay,
    payment,
    receipt,
    run_job,
    states,
    stored,
)


@pytest.fixture
def facilitator() -> Iterator[FakeFacilitator]:
    with fake_facilitator() as fake:
        yield fake


@pytest.fixture
def live(tmp_path: Path, facilitator: FakeFacilitator, database_url: str) -> Iterator[Live]:
    """A server that takes payments: the test runs once on SQLite and once on PostgreSQL."""
    with paid_server(tmp_path, facilitator, database_url) as server:
        yield server


def used_up(live: Live) -> str:
    """A key whose free calls of the day are gone."""
    key = live.new_key()
    live.use_up(key)
    return key


def steps(facilitator: FakeFacilitator) -> list[str]:
    """What the facilitator was asked about payments, in order."""
    return [endpoint for endpoint, _ in facilitator.asked if endpoint != "supported"]


@pytest.mark.promise("charging.payment_valid")
@pytest.mark.promise("x402.no_wallet")
@pytest.mark.promise("x402.order")
@pytest.mark.parametrize("operation", ["judge", "consensus"])
def test_a_payment_pays_for_one_call(live: Live, facilitator: FakeFacilitator, operation: str) -> None:
    sent = payment(offer(live, operation))
    answer = pay(live, sent, operation)
    assert answer.status == 200, answer
    documented = the_contract().body_schema(f"{operation.title()}Response")
    assert documented.faults(answer.json) == []
    nonce = sent["payload"]["authorization"]["nonce"]
    assert receipt(answer) == {
        "success": True,
        "payer": BUYER,
        "transaction": facilitator.moved[nonce],
        "network": "eip155:8453",
    }
    assert answer.headers["cache-control"] == "private"
    assert answer.json["request_id"] == answer.headers["x-request-id"]
    assert steps(facilitator) == ["verify", "settle"]
    assert facilitator.asked[-1][1] == facilitator.asked[-2][1]
    (row,) = stored(live)
    assert (row["state"], row["endpoint"], row["payer"], row["amount"]) == ("settled", operation, BUYER, "5000")
    assert row["transaction"] == facilitator.moved[nonce]
    assert row["request_id"] == answer.json["request_id"]


@pytest.mark.promise("x402.round_trips")
def test_a_paid_call_costs_two_round_trips(live: Live, facilitator: FakeFacilitator) -> None:
    for _ in range(5):
        assert pay(live, payment(offer(live))).status == 200
    assert facilitator.count("verify") == facilitator.count("settle") == 5
    assert facilitator.count("supported") == 1


def test_what_is_configured_is_shown(live: Live) -> None:
    assert live.request("GET", "/v1/health").json["payments"]["x402"] is True


@pytest.mark.promise("retention.keyless")
def test_nothing_is_kept_without_a_key(live: Live) -> None:
    body = {**example("judge"), "retain": True}
    sent = payment(offer(live))
    for _ in range(2):
        answer = pay(live, sent, body=body)
        assert answer.json["retention"] == {"retained": False, "reason": "Retention requires an API key."}
    assert pay(live, payment(offer(live))).json["retention"] == {"retained": False}
    assert total(live, "retained", "1") == 0


@pytest.mark.promise("charging.payment_malformed")
@pytest.mark.parametrize(
    "sent", ["garbage", "e30=", "bnVsbA==", encoded([]), encoded({"x402Version": 1}), "x" * 20_000, "=" * 40]
)
def test_a_malformed_payment_is_a_400_and_asks_nobody(live: Live, facilitator: FakeFacilitator, sent: str) -> None:
    assert_problem(pay(live, sent), "malformed_payment")
    assert steps(facilitator) == []
    assert stored(live) == []


def test_the_payment_is_read_before_the_body(live: Live) -> None:
    assert_problem(pay(live, "garbage", body=b"{"), "malformed_payment")


@pytest.mark.promise("x402.order")
@pytest.mark.parametrize(
    ("body", "code"), [(b"{", "malformed_json"), (b"{}", "invalid_request"), (b"", "missing_body")]
)
def test_a_bad_body_is_refused_before_anything_is_asked(
    live: Live, facilitator: FakeFacilitator, body: bytes, code: str
) -> None:
    sent = payment(offer(live))
    assert_problem(pay(live, sent, body=body), code)
    assert steps(facilitator) == []
    assert stored(live) == []
    assert pay(live, sent).status == 200


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"accepted": {"network": "eip155:84532"}}, "invalid_network"),
    ({"accepted": {"amount": "1"}}, "invalid_payment_requirements"),
    ({"value": "4999"}, "invalid_exact_evm_payload_authorization_value"),
    ({"to": "0x" + "7" * 40}, "invalid_exact_evm_payload_recipient_mismatch"),
    ({"validAfter": str(int(NOON) + 60)}, "invalid_exact_evm_payload_authorization_valid_after"),
    ({"valid_before": int(NOON) + 9}, "invalid_exact_evm_payload_authorization_valid_before"),
    ({"valid_before": int(NOON) - 1}, "invalid_exact_evm_payload_authorization_valid_before"),
]


@pytest.mark.promise("charging.payment_valid")
@pytest.mark.parametrize(("changes", "reason"), REFUSED)
def test_a_payment_that_is_not_our_offer_is_a_402_and_asks_nobody(
    live: Live, facilitator: FakeFacilitator, changes: dict[str, Any], reason: str
) -> None:
    answer = pay(live, payment(offer(live), **changes))
    assert_problem(answer, "payment_refused")
    assert answer.json["reason"] == reason
    offered = decoded(answer.headers["payment-required"])
    assert offered["error"] == reason
    assert {**offered, "error": ""} == {**offer(live), "error": ""}
    assert "payment-response" not in answer.headers
    assert steps(facilitator) == []
    assert stored(live) == []


@pytest.mark.promise("x402.order")
def test_a_payment_that_does_not_verify_is_a_402_and_its_reservation_ends(
    live: Live, facilitator: FakeFacilitator
) -> None:
    sent = payment(offer(live))
    facilitator.next_verify.append(invalid("insufficient_funds"))
    answer = pay(live, sent)
    assert_problem(answer, "payment_refused")
    assert answer.json["reason"] == "insufficient_funds"
    assert LEAK.encode() not in answer.body
    assert steps(facilitator) == ["verify"]
    assert stored(live) == []
    assert pay(live, sent).status == 200


@pytest.mark.promise("x402.outcomes")
def test_a_settlement_that_fails_is_a_402_and_the_payment_can_be_sent_again(
    live: Live, facilitator: FakeFacilitator
) -> None:
    sent = payment(offer(live), identifier="pay_0123456789abcdef")
    facilitator.next_settle.append(failed("insufficient_funds"))
    answer = pay(live, sent)
    assert_problem(answer, "payment_refused")
    assert receipt(answer) == {
        "success": False,
        "errorReason": "insufficient_funds",
        "transaction": "",
        "network": "eip155:8453",
        "payer": BUYER,
    }
    assert decoded(answer.headers["payment-required"])["error"] == "insufficient_funds"
    assert LEAK.encode() not in answer.body
    (row,) = stored(live)
    assert (row["state"], row["reason"]) == ("failed", "insufficient_funds")
    assert pay(live, sent).status == 200
    assert states(live) == ["settled"]
    assert len(facilitator.moved) == 1


@pytest.mark.promise("x402.resend")
@pytest.mark.parametrize("identifier", [None, "pay_0123456789abcdef"])
def test_a_resend_is_answered_from_the_record(live: Live, facilitator: FakeFacilitator, identifier: str | None) -> None:
    sent = payment(offer(live), identifier=identifier)
    first = pay(live, sent)
    live.clock.now += 3_600
    asked = len(facilitator.asked)
    second = pay(live, sent)
    assert second.status == 200
    assert second.json == first.json
    assert second.headers["x-request-id"] == first.headers["x-request-id"]
    assert second.headers["payment-response"] == first.headers["payment-response"]
    assert len(facilitator.asked) == asked
    assert states(live) == ["settled"]


def test_a_resend_need_not_have_the_same_bytes(live: Live) -> None:
    sent = payment(offer(live))
    assert pay(live, sent).status == 200
    spaced = json.dumps(dict(reversed(example("judge").items())), indent=3).encode()
    answer = pay(live, sent, body=spaced, Content_Type="application/json")
    assert answer.status == 200


@pytest.mark.promise("x402.reservation")
def test_a_payment_is_good_for_one_route_and_body(live: Live, facilitator: FakeFacilitator) -> None:
    sent = payment(offer(live))
    assert pay(live, sent).status == 200
    asked = len(facilitator.asked)
    assert_problem(pay(live, sent, "consensus"), "payment_conflict")
    assert_problem(pay(live, sent, body=SMALL), "payment_conflict")
    assert len(facilitator.asked) == asked
    assert states(live) == ["settled"]


@pytest.mark.promise("x402.resend")
def test_an_identifier_is_good_for_one_payment(live: Live, facilitator: FakeFacilitator) -> None:
    name = "pay_0123456789abcdef"
    assert pay(live, payment(offer(live), identifier=name)).status == 200
    asked = len(facilitator.asked)
    assert_problem(pay(live, payment(offer(live), identifier=name)), "payment_conflict")
    assert len(facilitator.asked) == asked
    assert pay(live, payment(offer(live), identifier=name + "-2")).status == 200


@pytest.mark.promise("x402.resend")
def test_another_signature_under_the_same_nonce_gets_nothing(live: Live, facilitator: FakeFacilitator) -> None:
    sent = payment(offer(live))
    assert pay(live, sent).status == 200
    forged = json.loads(json.dumps(sent))
    forged["payload"]["signature"] = "0x" + "00" * 65
    asked = len(facilitator.asked)
    assert_problem(pay(live, forged), "payment_conflict")
    assert len(facilitator.asked) == asked


@pytest.mark.promise("x402.head")
def test_only_a_post_pays(live: Live, facilitator: FakeFacilitator) -> None:
    header = {"PAYMENT-SIGNATURE": encoded(payment(offer(live)))}
    for method, status in (("HEAD", 405), ("GET", 405), ("PUT", 405), ("OPTIONS", 204)):
        assert live.request(method, "/v1/judge", headers=header).status == status
    assert steps(facilitator) == []
    assert stored(live) == []


def test_other_operations_take_no_payment(live: Live, facilitator: FakeFacilitator) -> None:
    header = {"PAYMENT-SIGNATURE": encoded(payment(offer(live)))}
    assert live.request("GET", "/v1/health", headers=header).status == 200
    assert_problem(live.request("GET", "/v1/keys/me", headers=header), "missing_key")
    assert steps(facilitator) == []


@pytest.mark.promise("x402.once")
def test_eight_at_once_with_one_payment_settle_once(live: Live, facilitator: FakeFacilitator) -> None:
    sent = payment(offer(live))
    answers = many(8, lambda _: pay(live, sent))
    assert set(statuses(answers)) <= {200, 409}
    answered = [answer for answer in answers if answer.status == 200]
    assert answered
    assert len({answer.headers["payment-response"] for answer in answered}) == 1
    for answer in answers:
        if answer.status == 409:
            assert_problem(answer, "payment_in_flight")
    assert facilitator.count("verify") == facilitator.count("settle") == 1
    assert states(live) == ["settled"]
    assert pay(live, sent).status == 200


def test_many_payments_at_once_settle_each(live: Live, facilitator: FakeFacilitator) -> None:
    offered = offer(live)
    answers = many(12, lambda _: pay(live, payment(offered), body=SMALL))
    assert statuses(answers) == [200] * 12
    assert len(facilitator.moved) == facilitator.count("settle") == 12
    assert len({receipt(answer)["transaction"] for answer in answers}) == 12


@pytest.mark.promise("charging.key_pays_x402")
def test_a_key_with_nothing_left_may_pay(live: Live, facilitator: FakeFacilitator) -> None:
    key = used_up(live)
    before = me(live, key)
    drift_before = total(live, "drift_hours", "calls")
    body = {**example("judge"), "retain": True, "agent_id": "a"}
    sent = payment(offer(live))
    answer = pay(live, sent, body=body, key=key)
    assert answer.status == 200, answer
    assert receipt(answer)["success"] is True
    assert answer.headers["ratelimit"].startswith('"free";r=0;')
    assert answer.json["retention"]["retained"] is True
    after = me(live, key)
    assert (after["free_calls"], after["credits"]) == (before["free_calls"], before["credits"])
    assert after["usage"][0]["judge"] == before["usage"][0]["judge"] + 1
    assert total(live, "drift_hours", "calls") == drift_before + 1
    (row,) = stored(live)
    assert row["key_id"] == id_of(live, key)
    again = pay(live, sent, body=body, key=key)
    assert again.json == answer.json
    assert total(live, "drift_hours", "calls") == drift_before + 1
    assert me(live, key)["usage"] == after["usage"]
    (kept,) = live.request("GET", "/v1/retention", key=key).json["data"]
    assert kept["response"] == answer.json


def test_a_key_seen_lately_may_pay_as_soon_as_it_is_used_up(live: Live, facilitator: FakeFacilitator) -> None:
    """Such a key is let in on trust, and learns that nothing is left only when it is charged."""
    key = live.new_key()
    live.use_up(key)
    assert id_of(live, key) in live.app.services.known_keys._ids.values()
    assert pay(live, payment(offer(live)), key=key).status == 200
    assert len(facilitator.moved) == 1


@pytest.mark.promise("charging.key_pays_x402")
def test_a_key_with_calls_left_uses_those(live: Live, facilitator: FakeFacilitator) -> None:
    key = live.new_key()
    answer = pay(live, payment(offer(live)), key=key)
    assert answer.status == 200
    assert "payment-response" not in answer.headers
    assert me(live, key)["free_calls"]["used"] == 1
    assert steps(facilitator) == []


def test_credits_come_before_a_payment(live: Live, facilitator: FakeFacilitator) -> None:
    key = used_up(live)
    grant(live, id_of(live, key), 1)
    assert pay(live, payment(offer(live)), key=key).status == 200
    assert steps(facilitator) == []
    assert pay(live, payment(offer(live)), key=key).status == 200
    assert steps(facilitator) == ["verify", "settle"]


def test_a_key_with_nothing_left_is_told_what_is_wrong_with_its_payment(live: Live) -> None:
    key = used_up(live)
    assert_problem(pay(live, "garbage", key=key), "malformed_payment")
    refused = pay(live, payment(offer(live), value="1"), key=key)
    assert_problem(refused, "payment_refused")
    assert "ratelimit" in refused.headers
    assert_problem(live.request("POST", "/v1/judge", SMALL, key=key), "quota_exceeded")


@pytest.mark.promise("idempotency.caller")
def test_an_idempotency_key_is_the_payers(live: Live, facilitator: FakeFacilitator) -> None:
    first = pay(live, payment(offer(live)), Idempotency_Key="one")
    again = pay(live, payment(offer(live)), Idempotency_Key="one")
    assert again.status == 200
    assert again.json == first.json
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["x-request-id"] == first.headers["x-request-id"]
    assert len(facilitator.moved) == 1
    assert states(live) == ["settled"]
    assert_problem(pay(live, payment(offer(live)), body=SMALL, Idempotency_Key="one"), "idempotency_conflict")
    other = pay(live, payment(offer(live), payer="0x" + "5" * 40), Idempotency_Key="one")
    assert "idempotency-replayed" not in other.headers
    assert len(facilitator.moved) == 2


@pytest.mark.promise("idempotency.caller")
def test_who_only_says_to_be_the_payer_gets_no_replay(live: Live, facilitator: FakeFacilitator) -> None:
    assert pay(live, payment(offer(live)), Idempotency_Key="one").status == 200
    facilitator.next_verify.append(invalid("invalid_exact_evm_payload_signature"))
    assert_problem(pay(live, payment(offer(live)), Idempotency_Key="one"), "payment_refused")


@pytest.mark.promise("idempotency.caller")
def test_many_payments_at_once_under_one_idempotency_key_are_charged_once(
    live: Live, facilitator: FakeFacilitator
) -> None:
    offered = offer(live)
    answers = many(8, lambda _: pay(live, payment(offered), Idempotency_Key="one"))
    assert set(statuses(answers)) <= {200, 409}
    assert len(facilitator.moved) == 1
    assert len({answer.json["request_id"] for answer in answers if answer.status == 200}) == 1


def test_a_bad_idempotency_key_is_refused_before_anything_is_asked(live: Live, facilitator: FakeFacilitator) -> None:
    assert_problem(pay(live, payment(offer(live)), Idempotency_Key="x" * 256), "invalid_request")
    assert steps(facilitator) == []


def test_payments_are_removed_with_their_key(live: Live, tmp_path: Path) -> None:
    key = used_up(live)
    sent = payment(offer(live))
    assert pay(live, sent, key=key).status == 200
    keyless = payment(offer(live), payer="0x" + "5" * 40)
    assert pay(live, keyless).status == 200
    assert live.request("DELETE", "/v1/keys/me", key=key).status == 200
    assert [row["payer"] for row in stored(live)] == ["0x" + "5" * 40]


@pytest.mark.promise("ops.admin_payments")
def test_the_operator_sees_payments_by_state(live: Live, facilitator: FakeFacilitator) -> None:
    assert pay(live, payment(offer(live))).status == 200
    facilitator.next_settle.append(failed("transaction_failed"))
    assert pay(live, payment(offer(live))).status == 402
    assert [row["state"] for row in stored(live, state="settled")] == ["settled"]
    assert [row["reason"] for row in stored(live, state="failed")] == ["transaction_failed"]
    assert stored(live, state="unknown") == []
    assert len(stored(live, limit="1")) == 1
    refused = live.request("GET", "/v1/admin/payments?state=lost", key="the-token-of-the-operator")
    assert_problem(refused, "invalid_request")
    assert_problem(live.request("GET", "/v1/admin/payments", key=live.new_key()), "unknown_key")


def test_what_was_judged_and_signed_is_not_kept(live: Live, tmp_path: Path) -> None:
    body = {"task": "t", "agent_output": "a very secret output"}
    sent = payment(offer(live))
    assert pay(live, sent, body=body).status == 200
    assert places_with(live, tmp_path, "a very secret output") == []
    in_store(live, lambda database: database.scrub())
    assert places_with(live, tmp_path, sent["payload"]["signature"]) == []


def test_nothing_is_left_to_reconcile_after_good_payments(live: Live, facilitator: FakeFacilitator) -> None:
    assert pay(live, payment(offer(live))).status == 200
    live.clock.now += 600
    assert run_job(live) == ""
    assert facilitator.count("settle") == 1
