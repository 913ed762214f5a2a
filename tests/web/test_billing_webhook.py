"""Stripe's webhook over real sockets: what is taken, what is refused, and that each payment counts once."""

import json
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from api.core.stripe_events import SessionSeen, meaning
from api.store import orders
from tests.fakes.stripe import WEBHOOK_SECRET, Json, charge, dispute, event, signature
from tests.live import Answer
from tests.problem_checks import assert_problem
from tests.web.billing import COMPLETED, Shop, post_event, shop_server
from tests.web.ledger import in_store, judge, many, operator

SUCCEEDED = "checkout.session.async_payment_succeeded"
FAILED = "checkout.session.async_payment_failed"
EXPIRED = "checkout.session.expired"
REFUNDED = "charge.refunded"
OPENED, CLOSED = "charge.dispute.created", "charge.dispute.closed"


@pytest.fixture
def shop(tmp_path: Path, database_url: str) -> Iterator[Shop]:
    """A server that sells packs: the test runs once on SQLite and once on PostgreSQL."""
    with shop_server(tmp_path, database_url) as made:
        yield made


@pytest.fixture
def small_shop(tmp_path: Path) -> Iterator[Shop]:
    """A server that sells packs, on SQLite, for tests in which the database does not matter."""
    with shop_server(tmp_path, f"sqlite:///{tmp_path}/screwtape.db") as made:
        yield made


def raw(shop: Shop, body: bytes, **headers: str) -> Answer:
    """A webhook request as it is, without a signature of ours."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return shop.live.request("POST", "/v1/billing/webhook", body, headers=sent)


@pytest.mark.promise("stripe.webhook_credits")
@pytest.mark.promise("facts.packs")
@pytest.mark.parametrize(("pack", "calls"), [("starter", 10_000), ("builder", 50_000)])
def test_a_paid_session_credits_its_pack_which_is_used_after_the_free_calls(shop: Shop, pack: str, calls: int) -> None:
    session = shop.session(pack)
    assert shop.credits == 0
    shop.deliver(COMPLETED, session)
    assert shop.credits == calls
    assert shop.entries == [("pack", calls)]
    (order,) = shop.orders()
    assert (order["status"], order["payment_intent"], order["reversed"]) == ("paid", "pi_test_1", 0)
    shop.live.use_up(shop.key)
    assert shop.credits == calls
    assert judge(shop.live, shop.key).status == 200
    assert shop.credits == calls - 1


@pytest.mark.promise("stripe.once")
def test_twenty_deliveries_at_once_credit_once(shop: Shop) -> None:
    session = shop.session()
    sent = [event((COMPLETED, SUCCEEDED)[n % 2], session, id=f"evt_{n // 2}") for n in range(20)]
    answers = many(20, lambda n: post_event(shop.live, sent[n]))
    assert {answer.status for answer in answers} == {200}
    assert (shop.credits, shop.entries) == (10_000, [("pack", 10_000)])


@pytest.mark.promise("stripe.once")
def test_a_crash_between_the_credit_and_the_answer_credits_nothing_again(tmp_path: Path, database_url: str) -> None:
    """The commit stands before the answer leaves: here it is made, and no answer ever leaves."""
    with shop_server(tmp_path, database_url) as shop:
        session, key = shop.session(), shop.key
        seen = meaning(event(COMPLETED, session))
        assert isinstance(seen, SessionSeen)
        now = int(shop.live.clock.now)
        in_store(shop.live, lambda database: database.write(orders.see_session, seen, now, lambda: "cre_of_the_crash"))
    with shop_server(tmp_path, database_url) as again:
        shop = Shop(again.live, again.stripe, key)
        for kind in (COMPLETED, SUCCEEDED, COMPLETED):
            shop.deliver(kind, session, id="evt_other")
        assert (shop.credits, shop.entries) == (10_000, [("pack", 10_000)])


@pytest.mark.promise("stripe.once")
def test_two_sessions_credit_two_packs(shop: Shop) -> None:
    first, second = shop.session("starter"), shop.session("builder")
    for session in (second, first, second, first):
        shop.deliver(COMPLETED, session)
    assert shop.credits == 60_000


@pytest.mark.promise("stripe.once")
@pytest.mark.parametrize("order", [*permutations([COMPLETED, SUCCEEDED, EXPIRED])], ids=" ".join)
def test_a_late_payment_is_credited_whatever_comes_first(small_shop: Shop, order: tuple[str, ...]) -> None:
    session = small_shop.session()
    seen = {COMPLETED: {**session, "payment_status": "unpaid"}, EXPIRED: {**session, "payment_status": "unpaid"}}
    for kind in order:
        small_shop.deliver(kind, seen.get(kind, session))
        small_shop.deliver(kind, seen.get(kind, session))
    assert (small_shop.credits, small_shop.orders()[0]["status"]) == (10_000, "paid")


@pytest.mark.promise("stripe.right_session")
@pytest.mark.parametrize(
    ("kind", "changes", "status"),
    [
        (COMPLETED, {"payment_status": "unpaid"}, "processing"),
        (COMPLETED, {"payment_status": "no_payment_required"}, "processing"),
        (COMPLETED, {"payment_status": None}, "processing"),
        (SUCCEEDED, {"payment_status": "unpaid"}, "processing"),
        (FAILED, {"payment_status": "unpaid"}, "failed"),
        (FAILED, {"payment_status": "paid"}, "failed"),
        (EXPIRED, {"payment_status": "unpaid"}, "expired"),
        (COMPLETED, {"mode": "subscription"}, "open"),
        (COMPLETED, {"mode": "setup", "amount_total": None, "currency": None}, "open"),
        (COMPLETED, {"amount_total": 2_999}, "mismatch"),
        (COMPLETED, {"amount_total": 10_000}, "mismatch"),
        (COMPLETED, {"amount_total": 0}, "mismatch"),
        (COMPLETED, {"currency": "eur"}, "mismatch"),
        (COMPLETED, {"currency": "jpy"}, "mismatch"),
        (COMPLETED, {"client_reference_id": None}, "open"),
        (COMPLETED, {"client_reference_id": "ord_unknown"}, "open"),
        (COMPLETED, {"client_reference_id": "somebody-else's"}, "open"),
        ("checkout.session.invented", {}, "open"),
        ("payment_intent.succeeded", {}, "open"),
    ],
)
def test_only_a_paid_session_of_the_order_credits(
    small_shop: Shop, kind: str, changes: dict[str, Any], status: str
) -> None:
    small_shop.deliver(kind, small_shop.session(**changes))
    (order,) = small_shop.orders()
    assert (small_shop.credits, small_shop.entries, order["status"]) == (0, [], status)
    if status == "mismatch":
        assert order["note"].startswith("Paid ")
        assert [one["id"] for one in small_shop.orders("status=mismatch")] == [order["id"]]


@pytest.mark.promise("stripe.right_session")
def test_a_session_pays_for_one_order(small_shop: Shop) -> None:
    first, second = small_shop.session(), small_shop.session("builder")
    small_shop.deliver(COMPLETED, {**first, "client_reference_id": second["client_reference_id"]})
    assert small_shop.credits == 0
    small_shop.deliver(COMPLETED, first)
    assert small_shop.credits == 10_000


@pytest.mark.promise("stripe.refunds")
def test_refunds_take_calls_back_in_proportion_and_once(shop: Shop) -> None:
    session = shop.paid()
    for refunded, left in ((1_000, 6_667), (1_000, 6_667), (2_000, 3_334), (1_000, 3_334), (3_000, 0), (3_000, 0)):
        shop.live.clock.now += 1
        shop.deliver(REFUNDED, charge(session, refunded))
        assert shop.credits == left
    assert shop.entries == [("pack", 10_000), ("refund", -3_333), ("refund", -3_333), ("refund", -3_334)]
    assert shop.orders()[0]["reversed"] == 3_000
    shop.deliver(COMPLETED, session)
    assert shop.credits == 0


@pytest.mark.promise("stripe.refunds")
def test_a_refund_of_used_calls_leaves_a_debt_and_stops_paid_calls(shop: Shop) -> None:
    session = shop.paid()
    shop.live.use_up(shop.key)
    assert [judge(shop.live, shop.key).status for _ in range(3)] == [200] * 3
    shop.deliver(REFUNDED, charge(session, 3_000))
    assert shop.credits == -3
    assert_problem(judge(shop.live, shop.key), "quota_exceeded")
    shop.live.clock.now += 86_400
    assert judge(shop.live, shop.key).status == 200
    shop.paid()
    assert shop.credits == 9_997


@pytest.mark.promise("stripe.refunds")
def test_a_dispute_takes_calls_and_a_won_one_gives_them_back(shop: Shop) -> None:
    session = shop.paid()
    for kind, status, left in (
        (OPENED, "needs_response", 0),
        (OPENED, "needs_response", 0),
        ("charge.dispute.updated", "under_review", 0),
        (CLOSED, "won", 10_000),
        (CLOSED, "won", 10_000),
        (OPENED, "needs_response", 10_000),
    ):
        shop.live.clock.now += 1
        shop.deliver(kind, dispute(session, status))
        assert shop.credits == left
    assert shop.entries == [("pack", 10_000), ("dispute", -10_000), ("dispute", 10_000)]


@pytest.mark.promise("stripe.refunds")
def test_a_lost_dispute_and_an_inquiry(small_shop: Shop) -> None:
    first, second = small_shop.paid(), small_shop.paid()
    small_shop.deliver(OPENED, dispute(second, "warning_needs_response"))
    small_shop.deliver(CLOSED, dispute(second, "warning_closed"))
    assert small_shop.credits == 20_000
    small_shop.deliver(CLOSED, dispute(first, "lost"))
    small_shop.deliver(OPENED, dispute(first, "needs_response"))
    assert small_shop.credits == 10_000


@pytest.mark.promise("stripe.refunds")
def test_what_is_refunded_and_disputed_is_taken_once(small_shop: Shop) -> None:
    session = small_shop.paid()
    small_shop.deliver(REFUNDED, charge(session, 1_500))
    small_shop.deliver(OPENED, dispute(session, "needs_response"))
    assert small_shop.credits == 0
    small_shop.deliver(CLOSED, dispute(session, "won"))
    assert small_shop.credits == 5_000


STEPS: dict[str, Callable[[Json], Json]] = {
    COMPLETED: lambda session: session,
    REFUNDED: lambda session: charge(session, 1_500),
    OPENED: lambda session: dispute(session, "needs_response", 600),
    CLOSED: lambda session: dispute(session, "lost", 600),
}


@pytest.mark.promise("stripe.once")
@pytest.mark.promise("stripe.refunds")
def test_every_order_of_events_comes_to_the_same(small_shop: Shop) -> None:
    for number, order in enumerate(permutations(STEPS), 1):
        session = small_shop.session()
        for kind in order:
            small_shop.deliver(kind, STEPS[kind](session))
        assert small_shop.credits == 3_000 * number, order


@pytest.mark.promise("stripe.once")
@pytest.mark.promise("stripe.refunds")
def test_all_events_at_once_and_twice_come_to_the_same(shop: Shop) -> None:
    session = shop.session()
    sent = [event(kind, make(session)) for kind, make in STEPS.items()] * 2
    assert {answer.status for answer in many(len(sent), lambda n: post_event(shop.live, sent[n]))} == {200}
    assert shop.credits == 3_000


def test_a_refund_in_another_currency_takes_nothing_and_shows(small_shop: Shop) -> None:
    small_shop.deliver(REFUNDED, charge(small_shop.paid(), 3_000, currency="eur"))
    assert (small_shop.credits, small_shop.orders()[0]["reversed"]) == (10_000, 3_000)


def test_a_refund_of_something_else_is_taken_in_and_does_nothing(small_shop: Shop) -> None:
    session = small_shop.paid()
    small_shop.deliver(REFUNDED, charge(session, 3_000, id="ch_x", payment_intent="pi_somebody_else's"))
    small_shop.deliver(REFUNDED, charge(session, 3_000, id="ch_y", payment_intent=None))
    small_shop.deliver(OPENED, dispute(session, "lost", id="dp_y", payment_intent=None))
    assert small_shop.credits == 10_000


@pytest.mark.promise("stripe.deleted_key")
def test_a_payment_for_a_deleted_key_is_noted_and_credits_nothing(shop: Shop) -> None:
    session, other = shop.session(), shop.live.new_key("other@example.com")
    assert shop.live.request("DELETE", "/v1/keys/me", key=shop.key).status == 200
    assert [order["key_id"] for order in shop.orders()] == [None]
    for kind in (COMPLETED, SUCCEEDED, COMPLETED):
        shop.deliver(kind, session)
    (order,) = shop.orders("status=orphaned")
    assert (order["key_id"], order["session_id"], order["amount"]) == (None, session["id"], 3_000)
    assert "deleted" in order["note"]
    assert Shop(shop.live, shop.stripe, other).credits == 0
    shop.deliver(REFUNDED, charge(session, 3_000))
    assert shop.orders()[0]["reversed"] == 3_000


@pytest.mark.promise("stripe.deleted_key")
def test_events_about_an_order_that_went_with_its_key_do_nothing(shop: Shop) -> None:
    session = shop.paid()
    shop.deliver(REFUNDED, charge(session, 1_000))
    assert shop.live.request("DELETE", "/v1/keys/me", key=shop.key).status == 200
    assert shop.orders() == []
    for kind in (COMPLETED, SUCCEEDED, EXPIRED):
        shop.deliver(kind, session)
    shop.deliver(REFUNDED, charge(session, 3_000))
    assert shop.orders() == []


GOOD = json.dumps(event(COMPLETED, {"id": "x"})).encode()


@pytest.mark.promise("stripe.webhook_signature")
@pytest.mark.parametrize(
    "header",
    [
        "",
        "v1=00",
        "t=1796040000",
        "t=1796040000,v0=00",
        "t=1796040000,v1=",
        "t=1796040000,v1=é",
        "t=1796040000,v1=" + "0" * 64,
        "t=,v1=00",
        "t=x,v1=00",
        "t=-1,v1=00",
        "t=1e9,v1=00",
        "t=" + "9" * 5_000 + ",v1=00",
        "=,=,=",
        ",",
        "t",
        "v1",
    ],
)
def test_a_signature_that_does_not_hold_is_a_400(small_shop: Shop, header: str) -> None:
    answer = raw(small_shop, GOOD, Stripe_Signature=header.encode().decode("latin-1"))
    assert_problem(answer, "webhook_refused")


@pytest.mark.promise("stripe.webhook_signature")
def test_the_signature_is_checked_on_the_bytes_that_came(shop: Shop) -> None:
    session, now = shop.session(), shop.live.clock.now
    body = json.dumps(event(COMPLETED, session)).encode()
    assert_problem(raw(shop, body), "webhook_refused")
    for secret in ("", "whsec_another", WEBHOOK_SECRET + "x", WEBHOOK_SECRET[:-1]):
        assert_problem(post_event(shop.live, body, secret=secret), "webhook_refused")
    signed = signature(body, now)
    for changed in (body + b" ", b" " + body, body.replace(b'": "', b'":"'), body[:-1], b""):
        assert_problem(raw(shop, changed, Stripe_Signature=signed), "webhook_refused")
    assert_problem(raw(shop, body, Stripe_Signature=signed.replace("t=1", "t=2")), "webhook_refused")
    assert shop.credits == 0
    # Neither the media type nor a second signature, of a secret being rolled, matters.
    answer = raw(shop, body, Stripe_Signature=f"{signed},v1={'0' * 64}", Content_Type="text/plain")
    assert (answer.status, shop.credits) == (200, 10_000)


@pytest.mark.promise("stripe.webhook_signature")
def test_a_signature_is_good_for_five_minutes_either_way(shop: Shop) -> None:
    session, now = shop.session(), shop.live.clock.now
    for at in (now - 301, now + 301, now - 86_400, now + 86_400, 0, 10**14):
        assert_problem(post_event(shop.live, event(COMPLETED, session), at=at), "webhook_refused")
    assert shop.credits == 0
    for at in (now - 300, now + 300):
        assert post_event(shop.live, event(COMPLETED, session), at=at).status == 200
    assert shop.credits == 10_000


@pytest.mark.promise("stripe.webhook_signature")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"garbage",
        b"\xff\xfe{}",
        b'{"a": "\xff"}',
        b"\xef\xbb\xbf{}",
        b"[" * 100_000,
        b"1" * 10_000,
        b"null",
        b"[]",
        b'"event"',
        b"{}",
        b'{"livemode": false}',
        b'{"livemode": false, "type": 1}',
        b'{"livemode": false, "type": "\\u0000"}',
        b'{"livemode": false, "type": "charge.refunded"}',
        b'{"livemode": false, "type": "charge.refunded", "data": []}',
        b'{"livemode": false, "type": "charge.refunded", "data": {"object": 1}}',
    ],
)
def test_a_signed_body_that_is_no_event_is_a_400(small_shop: Shop, body: bytes) -> None:
    assert_problem(post_event(small_shop.live, body), "webhook_refused")


@pytest.mark.promise("stripe.test_mode_only")
@pytest.mark.parametrize("livemode", [True, None, "false", 0, 1])
def test_events_of_live_mode_are_refused(small_shop: Shop, livemode: Any) -> None:
    answer = post_event(small_shop.live, event(COMPLETED, small_shop.session(), livemode=livemode))
    assert_problem(answer, "webhook_refused")
    assert small_shop.credits == 0


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        (COMPLETED, {"id": None}),
        (COMPLETED, {"id": "x" * 256}),
        (COMPLETED, {"id": "cs\u0000"}),
        (COMPLETED, {"payment_intent": None}),
        (COMPLETED, {"payment_intent": {"id": "pi_1"}}),
        (COMPLETED, {"amount_total": None}),
        (COMPLETED, {"amount_total": 3000.0}),
        (COMPLETED, {"amount_total": "3000"}),
        (COMPLETED, {"amount_total": True}),
        (COMPLETED, {"amount_total": -3000}),
        (COMPLETED, {"amount_total": 10**30}),
        (COMPLETED, {"currency": None}),
        (COMPLETED, {"client_reference_id": "ord_é"}),
    ],
)
def test_an_event_without_what_it_must_have_is_a_400(small_shop: Shop, kind: str, changes: dict[str, Any]) -> None:
    assert_problem(post_event(small_shop.live, event(kind, small_shop.session(**changes))), "webhook_refused")
    assert small_shop.credits == 0


def test_orders_are_listed_newest_first_by_state_and_by_key(small_shop: Shop) -> None:
    shop = small_shop
    key_id = str(shop.live.request("GET", "/v1/keys/me", key=shop.key).json["id"])
    for n in range(3):
        shop.live.clock.now += 1
        shop.session()
        if n == 1:
            shop.deliver(COMPLETED, shop.stripe.session("cs_test_2"))
    shop.buy(key=shop.live.new_key("other@example.com"))
    assert {order["session_id"] for order in shop.orders()} == {f"cs_test_{n}" for n in (1, 2, 3, 4)}
    mine = [order["session_id"] for order in shop.orders(f"key_id={key_id}")]
    assert mine == ["cs_test_3", "cs_test_2", "cs_test_1"]
    assert [order["session_id"] for order in shop.orders("status=paid")] == ["cs_test_2"]
    page = operator(shop.live, "GET", f"/orders?limit=2&key_id={key_id}").json
    assert [order["session_id"] for order in page["data"]] == mine[:2]
    rest = operator(shop.live, "GET", f"/orders?limit=2&key_id={key_id}&cursor={page['next_cursor']}").json
    assert ([order["session_id"] for order in rest["data"]], rest["next_cursor"]) == (mine[2:], None)
    assert_problem(operator(shop.live, "GET", "/orders?status=lost"), "invalid_request")
