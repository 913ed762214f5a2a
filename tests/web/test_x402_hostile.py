"""A facilitator that misbehaves: nobody is served unpaid, nobody pays twice, nothing of what it says gets out, what is
unknown is found out later, and keys go on working."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.facilitator import (
    CUT,
    DUMB,
    HANGS,
    LEAK,
    OTHER_NETWORK,
    OTHER_PAYER,
    Behaviour,
    FakeFacilitator,
    Said,
    after_moving,
    always,
    failed,
    fake_facilitator,
    invalid,
    said,
    settlement,
)
from tests.live import NOON, Answer, Live
from tests.problem_checks import assert_problem
from tests.web.ledger import SMALL, id_of, judge, me, places_with, statuses, total
from tests.web.x402 import decoded, encoded, offer, paid_server, pay, payment, receipt, run_job, states, stored

# The product warns of a facilitator that misbehaves; `assert_quiet` looks at what it says.
pytestmark = pytest.mark.logs_errors

SHORT = "1.5"
"""Seconds that a facilitator gets which is going to use them all."""


@pytest.fixture
def facilitator() -> Iterator[FakeFacilitator]:
    with fake_facilitator() as fake:
        yield fake


@pytest.fixture
def live(tmp_path: Path, facilitator: FakeFacilitator) -> Iterator[Live]:
    with paid_server(tmp_path, facilitator) as server:
        yield server


@pytest.fixture
def on_both(tmp_path: Path, facilitator: FakeFacilitator, database_url: str) -> Iterator[Live]:
    """A server on SQLite, and one on PostgreSQL."""
    with paid_server(tmp_path, facilitator, database_url) as server:
        yield server


@pytest.fixture
def hasty(tmp_path: Path, facilitator: FakeFacilitator) -> Iterator[Live]:
    """A server that does not wait for long."""
    with paid_server(tmp_path, facilitator, X402_TIMEOUT_S=SHORT) as server:
        yield server


def assert_quiet(answer: Answer, live: Live, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing of what the facilitator says beside the facts is in the answer, the log or the store."""
    assert LEAK.encode() not in answer.body
    assert LEAK not in str(answer.headers)
    assert LEAK not in "".join(value for name, value in answer.headers.items() if name.startswith("payment"))
    assert not [record for record in caplog.records if LEAK in record.getMessage() or LEAK in str(record.__dict__)]
    assert places_with(live, folder, LEAK) == []


def assert_keys_work(live: Live) -> None:
    """A key is served whatever the facilitator does."""
    assert judge(live, live.new_key()).status == 200


def assert_unknown(answer: Answer, live: Live) -> None:
    """A 503 that names the one payment, which is kept; and no new offer."""
    assert_problem(answer, "payment_unknown")
    assert "payment-required" not in answer.headers
    (row,) = stored(live, state="unknown")
    assert answer.json["payment_id"] == row["id"]


@pytest.mark.promise("x402.unavailable")
@pytest.mark.parametrize("behaviour", DUMB)
def test_a_verification_that_says_nothing_is_a_503(
    live: Live, facilitator: FakeFacilitator, tmp_path: Path, caplog: pytest.LogCaptureFixture, behaviour: str
) -> None:
    sent = payment(offer(live))
    facilitator.next_verify.append(always(DUMB[behaviour]))
    answer = pay(live, sent)
    assert_problem(answer, "payment_unavailable")
    assert_quiet(answer, live, tmp_path, caplog)
    assert facilitator.moved == {}
    assert facilitator.count("settle") == 0
    assert stored(live) == []
    assert_keys_work(live)
    assert pay(live, sent).status == 200


BAD_VERIFICATIONS: dict[str, Behaviour] = {
    "valid with 500": always(said(500, isValid=True)),
    "valid with 400": always(said(400, isValid=True)),
    "valid for another payer": always(said(isValid=True, payer=OTHER_PAYER)),
    "valid as text": always(said(isValid="true")),
    "a settlement": settlement(moves=False, transaction="0x" + "1" * 64),
    "not our scheme": invalid("unsupported_scheme"),
    "its own fault": invalid("unexpected_verify_error"),
}


@pytest.mark.promise("x402.unavailable")
@pytest.mark.parametrize("behaviour", BAD_VERIFICATIONS)
def test_a_verification_that_does_not_check_is_a_503(
    live: Live, facilitator: FakeFacilitator, tmp_path: Path, caplog: pytest.LogCaptureFixture, behaviour: str
) -> None:
    facilitator.next_verify.append(BAD_VERIFICATIONS[behaviour])
    answer = pay(live, payment(offer(live)))
    assert_problem(answer, "payment_unavailable")
    assert_quiet(answer, live, tmp_path, caplog)
    assert facilitator.count("settle") == 0
    assert stored(live) == []


def test_a_verification_that_hangs_is_a_503(hasty: Live, facilitator: FakeFacilitator) -> None:
    sent = payment(offer(hasty))
    facilitator.next_verify.append(always(HANGS))
    assert_problem(pay(hasty, sent), "payment_unavailable")
    assert facilitator.count("settle") == 0
    assert stored(hasty) == []
    assert_keys_work(hasty)
    assert pay(hasty, sent).status == 200


def test_reasons_that_are_not_listed_are_not_passed_on(
    live: Live, facilitator: FakeFacilitator, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    facilitator.next_verify.append(invalid(LEAK))
    refused = pay(live, payment(offer(live)))
    assert_problem(refused, "payment_refused")
    assert decoded(refused.headers["payment-required"])["error"] == "unexpected_verify_error"
    facilitator.next_settle.append(failed(LEAK))
    failure = pay(live, payment(offer(live)))
    assert_problem(failure, "payment_refused")
    assert receipt(failure)["errorReason"] == "unexpected_settle_error"
    for answer in (refused, failure):
        assert_quiet(answer, live, tmp_path, caplog)


SILENT_SETTLEMENTS: dict[str, Behaviour] = {
    **{name: after_moving(answer) for name, answer in DUMB.items()},
    "cuts its answer": after_moving(CUT),
    "success with 500": settlement(status=500),
    "success with 503": settlement(status=503),
    "success with 400": settlement(status=400),
    "success on another network": settlement(network=OTHER_NETWORK),
    "success without a hash": settlement(transaction=""),
    "success with half a hash": settlement(transaction="0x1234"),
    "success for another payer": settlement(payer=OTHER_PAYER),
    "success without a payer": settlement(payer=None),
    "success as text": settlement(success="true"),
    "pending": settlement(success=False, errorReason="settlement_pending"),
    "its own fault": settlement(success=False, errorReason="unexpected_settle_error"),
    "failure of another payer": settlement(success=False, errorReason="insufficient_funds", payer=OTHER_PAYER),
    "failure without a reason": settlement(success=False),
}
"""All of them move the money first: the worst that can be behind such an answer."""


@pytest.mark.promise("x402.outcomes")
@pytest.mark.promise("x402.settlement_check")
@pytest.mark.parametrize("behaviour", SILENT_SETTLEMENTS)
def test_an_outcome_that_is_not_known_is_a_503_and_a_resend_finds_out(
    live: Live, facilitator: FakeFacilitator, tmp_path: Path, caplog: pytest.LogCaptureFixture, behaviour: str
) -> None:
    sent = payment(offer(live))
    facilitator.next_settle.append(SILENT_SETTLEMENTS[behaviour])
    answer = pay(live, sent)
    assert_unknown(answer, live)
    assert_quiet(answer, live, tmp_path, caplog)
    assert "verdict" not in answer.json
    assert_keys_work(live)
    found = pay(live, sent)
    assert found.status == 200, found
    (transaction,) = facilitator.moved.values()
    assert receipt(found)["transaction"] == transaction
    assert facilitator.asked[-1] == facilitator.asked[-2]
    assert states(live) == ["settled"]
    assert pay(live, sent).headers["payment-response"] == found.headers["payment-response"]
    assert facilitator.count("settle") == 2


@pytest.mark.promise("x402.outcomes")
@pytest.mark.parametrize("behaviour", ["502 html", "success on another network", "pending"])
def test_the_job_finds_out_too(on_both: Live, facilitator: FakeFacilitator, behaviour: str) -> None:
    sent = payment(offer(on_both))
    facilitator.next_settle.append(SILENT_SETTLEMENTS[behaviour])
    assert_unknown(pay(on_both, sent), on_both)
    assert run_job(on_both) == ""
    on_both.clock.now += 10
    assert run_job(on_both) == "1 asked about, 1 settled, 0 failed"
    assert states(on_both) == ["settled"]
    asked = len(facilitator.asked)
    found = pay(on_both, sent)
    assert found.status == 200
    assert receipt(found)["transaction"] in facilitator.moved.values()
    assert len(facilitator.asked) == asked
    assert run_job(on_both) == ""


@pytest.mark.promise("x402.outcomes")
def test_a_settlement_that_hangs_is_unknown_until_it_is_found_out(hasty: Live, facilitator: FakeFacilitator) -> None:
    sent = payment(offer(hasty))
    facilitator.next_settle.append(after_moving(HANGS))
    assert_unknown(pay(hasty, sent), hasty)
    assert_keys_work(hasty)
    hasty.clock.now += 10
    assert run_job(hasty) == "1 asked about, 1 settled, 0 failed"
    assert pay(hasty, sent).status == 200
    assert len(facilitator.moved) == 1


@pytest.mark.promise("x402.outcomes")
def test_what_was_pending_may_fail(on_both: Live, facilitator: FakeFacilitator) -> None:
    """Its own transaction was turned down, so nothing was taken, and the buyer may pay anew."""
    named = "0x" + "2" * 64
    sent = payment(offer(on_both))
    facilitator.next_settle.append(failed("settlement_pending", transaction=named))
    facilitator.next_settle.append(failed("transaction_failed", transaction=named))
    assert_unknown(pay(on_both, sent), on_both)
    assert stored(on_both)[0]["transaction"] == named
    on_both.clock.now += 10
    assert run_job(on_both) == "1 asked about, 0 settled, 1 failed"
    assert states(on_both) == ["failed"]
    assert facilitator.moved == {}
    assert pay(on_both, sent).status == 200
    assert len(facilitator.moved) == 1


def test_a_resend_may_learn_that_it_failed(live: Live, facilitator: FakeFacilitator) -> None:
    sent = payment(offer(live))
    facilitator.next_settle.append(always(DUMB["502 html"]))
    facilitator.next_settle.append(failed("insufficient_funds"))
    assert_unknown(pay(live, sent), live)
    answer = pay(live, sent)
    assert_problem(answer, "payment_refused")
    assert receipt(answer)["errorReason"] == "insufficient_funds"
    assert states(live) == ["failed"]


@pytest.mark.promise("x402.outcomes")
def test_a_used_nonce_is_no_proof_that_nothing_was_taken(on_both: Live, facilitator: FakeFacilitator) -> None:
    """An official facilitator says so when it is asked again after it has settled. Nobody may be told to pay again
    then, and nobody can be served without a transaction: it stays unknown, and the operator sees it."""
    facilitator.idempotent = False
    sent = payment(offer(on_both))
    facilitator.next_settle.append(after_moving(DUMB["502 html"]))
    assert_unknown(pay(on_both, sent), on_both)
    assert_unknown(pay(on_both, sent), on_both)
    on_both.clock.now += 130
    assert run_job(on_both) == "1 asked about, 0 settled, 0 failed"
    (row,) = stored(on_both, state="unknown")
    assert (row["is_closed"], row["reason"], row["attempts"]) == (True, "invalid_exact_evm_nonce_already_used", 3)
    asked = len(facilitator.asked)
    answer = pay(on_both, sent)
    assert_problem(answer, "payment_unresolved")
    assert answer.json["payment_id"] == row["id"]
    on_both.clock.now += 86_400
    assert run_job(on_both) == ""
    assert len(facilitator.asked) == asked


def test_the_job_asks_ever_more_rarely_and_once_more_at_the_end(live: Live, facilitator: FakeFacilitator) -> None:
    sent = payment(offer(live), valid_before=int(NOON) + 600)
    facilitator.next_settle.extend([always(DUMB["502 html"])] * 20)
    assert_unknown(pay(live, sent), live)
    asked_at = []
    for second in range(1, 2_000):
        live.clock.now = NOON + second
        before = facilitator.count("settle")
        if second % 10 == 0:
            run_job(live)
        if facilitator.count("settle") > before:
            asked_at.append(second)
    assert asked_at == [10, 30, 70, 150, 310, 630]
    assert stored(live)[0]["is_closed"] is True


@pytest.mark.promise("x402.reservation")
def test_a_second_arrival_in_flight_is_told_to_wait(live: Live, facilitator: FakeFacilitator) -> None:
    """The facilitator is slow to verify: it answers when this test lets it."""
    go_on = threading.Event()

    offered = offer(live)
    sent = payment(offered)
    waiting = threading.Event()
    first: list[Answer] = []

    def wait_for_leave(fake: FakeFacilitator, document: dict[str, object]) -> Said:
        waiting.set()
        go_on.wait(30)
        return said(isValid=True)

    facilitator.next_verify.append(wait_for_leave)
    thread = threading.Thread(target=lambda: first.append(pay(live, sent)))
    thread.start()
    assert waiting.wait(30)
    second = pay(live, sent)
    assert_problem(second, "payment_in_flight")
    assert states(live) == ["reserved"]
    assert_problem(pay(live, sent, "consensus"), "payment_conflict")
    assert_keys_work(live)
    go_on.set()
    thread.join(30)
    assert statuses(first) == [200]
    assert facilitator.count("verify") == facilitator.count("settle") == 1


@pytest.mark.promise("x402.client_gone")
def test_a_client_that_goes_away_while_it_is_settled_has_paid_once(live: Live, facilitator: FakeFacilitator) -> None:
    sent = payment(offer(live))
    waiting, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def wait_for_leave(fake: FakeFacilitator, document: dict[str, object]) -> Said:
        waiting.set()
        go_on.wait(30)
        done.set()
        return settlement()(fake, document)

    facilitator.next_settle.append(wait_for_leave)
    with live.wire() as wire:
        wire.send_request(
            "POST",
            "/v1/judge",
            b'{"task": "t", "agent_output": "o"}',
            Content_Type="application/json",
            PAYMENT_SIGNATURE=encoded(sent),
        )
        assert waiting.wait(30)
    go_on.set()
    assert done.wait(30)
    answer = pay(live, sent, body=SMALL)
    while answer.status == 409:
        assert_problem(answer, "payment_in_flight")
        answer = pay(live, sent, body=SMALL)
    assert answer.status == 200
    assert receipt(answer)["transaction"] in facilitator.moved.values()
    assert facilitator.count("settle") == 1
    assert states(live) == ["settled"]


UNSUPPORTED: dict[str, Behaviour] = {
    **{name: always(answer) for name, answer in DUMB.items() if name != "a redirect"},
    "another network": always(said(kinds=[{"x402Version": 2, "scheme": "exact", "network": OTHER_NETWORK}])),
    "another scheme": always(said(kinds=[{"x402Version": 2, "scheme": "upto", "network": "eip155:8453"}])),
    "another version": always(said(kinds=[{"x402Version": 1, "scheme": "exact", "network": "eip155:8453"}])),
    "redirects for ever": always(Said(308, b"", {"Location": "/x402/supported"})),
}


@pytest.mark.promise("x402.unavailable")
@pytest.mark.parametrize("behaviour", UNSUPPORTED)
def test_a_facilitator_that_does_not_support_us_takes_no_payment(
    tmp_path: Path, facilitator: FakeFacilitator, caplog: pytest.LogCaptureFixture, behaviour: str
) -> None:
    facilitator.next_supported.extend([UNSUPPORTED[behaviour]] * 8)
    with paid_server(tmp_path, facilitator) as live:
        sent = payment(offer(live))
        answer = pay(live, sent)
        assert_problem(answer, "payment_unavailable")
        assert_quiet(answer, live, tmp_path, caplog)
        assert facilitator.count("verify") == 0
        assert stored(live) == []
        assert_keys_work(live)
        facilitator.next_supported.clear()
        assert pay(live, sent).status == 200


def test_supported_may_be_somewhere_else_and_headers_go_where_they_are_meant_for(tmp_path: Path) -> None:
    with fake_facilitator() as first, fake_facilitator() as second:
        first.next_supported.append(always(Said(308, b"", {"Location": f"{second.url}/moved-supported"})))
        headers = '{"supported": {"Authorization": "to see"}, "verify": {"Authorization": "to verify"}}'
        with paid_server(tmp_path, first, X402_FACILITATOR_HEADERS=headers) as live:
            assert pay(live, payment(offer(live))).status == 200
        assert second.count("supported") == 1
        seen = {endpoint: sent.get("Authorization") for endpoint, sent in first.headers}
        assert seen == {"supported": "to see", "verify": "to verify", "settle": None}
        assert [sent.get("Authorization") for _, sent in second.headers] == [None]


@pytest.mark.promise("x402.unavailable")
def test_a_facilitator_that_is_gone_is_a_503_and_keys_go_on(tmp_path: Path) -> None:
    with fake_facilitator() as gone:
        pass
    with paid_server(tmp_path, gone) as live:
        assert_problem(pay(live, payment(offer(live))), "payment_unavailable")
        assert stored(live) == []
        assert_keys_work(live)


@pytest.mark.promise("x402.order")
def test_work_that_fails_charges_nothing(
    live: Live, facilitator: FakeFacilitator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large inputs are turned away when too many wait for a worker."""
    monkeypatch.setattr(live.app.services.engines, "_heavy", 10_000)
    sent = payment(offer(live))
    body = {"task": "t", "agent_output": "word " * 4_000}
    assert_problem(pay(live, sent, body=body), "overloaded")
    assert facilitator.count("verify") == 1
    assert facilitator.count("settle") == 0
    assert stored(live) == []
    monkeypatch.setattr(live.app.services.engines, "_heavy", 0)
    assert pay(live, sent, body=body).status == 200


@pytest.mark.promise("keys.delete_payment_in_flight")
@pytest.mark.parametrize("outcome", ["settled", "failed"])
def test_a_payment_in_flight_outlives_its_key_until_it_is_final(
    on_both: Live, facilitator: FakeFacilitator, outcome: str
) -> None:
    key = on_both.new_key()
    on_both.use_up(key)
    key_id = id_of(on_both, key)
    sent = payment(offer(on_both))
    facilitator.next_settle.append(always(DUMB["502 html"]))
    if outcome == "failed":
        facilitator.next_settle.append(failed("insufficient_funds"))
    answer = pay(on_both, sent, key=key)
    assert_problem(answer, "payment_unknown")
    assert stored(on_both)[0]["key_id"] == key_id
    assert on_both.request("DELETE", "/v1/keys/me", key=key).status == 200
    (row,) = stored(on_both)
    assert (row["state"], row["key_id"]) == ("unknown", None)
    on_both.clock.now += 10
    assert run_job(on_both).startswith("1 asked about")
    assert stored(on_both) == []


def test_a_key_that_is_deleted_while_it_pays_gets_no_answer_but_its_receipt(
    on_both: Live, facilitator: FakeFacilitator
) -> None:
    key = on_both.new_key()
    on_both.use_up(key)

    def delete_first(fake: FakeFacilitator, document: dict[str, object]) -> Said:
        assert on_both.request("DELETE", "/v1/keys/me", key=key).status == 200
        return settlement()(fake, document)

    facilitator.next_settle.append(delete_first)
    answer = pay(on_both, payment(offer(on_both)), key=key)
    assert_problem(answer, "unknown_key")
    assert receipt(answer)["success"] is True
    assert stored(on_both) == []
    assert total(on_both, "drift_hours", "calls") == 0


def test_a_key_that_is_deleted_before_it_has_paid_pays_nothing(on_both: Live, facilitator: FakeFacilitator) -> None:
    key = on_both.new_key()
    on_both.use_up(key)

    def delete_first(fake: FakeFacilitator, document: dict[str, object]) -> Said:
        assert on_both.request("DELETE", "/v1/keys/me", key=key).status == 200
        return said(isValid=True)

    facilitator.next_verify.append(delete_first)
    assert_problem(pay(on_both, payment(offer(on_both)), key=key), "unknown_key")
    assert facilitator.moved == {}
    assert stored(on_both) == []


def test_an_unknown_payment_of_a_key_counts_when_it_is_answered(live: Live, facilitator: FakeFacilitator) -> None:
    key = live.new_key()
    live.use_up(key)
    facilitator.next_settle.append(after_moving(DUMB["502 html"]))
    sent = payment(offer(live))
    assert_problem(pay(live, sent, key=key), "payment_unknown")
    live.clock.now += 10
    assert run_job(live) == "1 asked about, 1 settled, 0 failed"
    assert me(live, key)["usage"][0]["judge"] == 100
    for _ in range(2):
        assert pay(live, sent, key=key).status == 200
        assert me(live, key)["usage"][0]["judge"] == 101
    assert total(live, "drift_hours", "calls") == 101


@pytest.mark.promise("x402.outcomes")
def test_a_settlement_that_cannot_be_noted_is_unknown_and_found_out(
    live: Live, facilitator: FakeFacilitator, tmp_path: Path
) -> None:
    """The database is locked by another process from when the money has moved."""
    locks: list[sqlite3.Connection] = []

    def lock_first(fake: FakeFacilitator, document: dict[str, object]) -> Said:
        other = sqlite3.connect(tmp_path / "screwtape.db", isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        locks.append(other)
        return settlement()(fake, document)

    sent = payment(offer(live))
    facilitator.next_settle.append(lock_first)
    answer = pay(live, sent)
    locks[0].close()
    assert_problem(answer, "payment_unknown")
    (row,) = stored(live)
    assert answer.json["payment_id"] == row["id"]
    assert_problem(pay(live, sent), "payment_in_flight")
    live.clock.now += 60
    found = pay(live, sent)
    assert found.status == 200
    assert receipt(found)["transaction"] in facilitator.moved.values()
    assert len(facilitator.moved) == 1
