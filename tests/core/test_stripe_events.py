"""What Stripe's events mean: states, whatever came before, and nothing that is not ours."""

from contextlib import suppress
from itertools import pairwise, permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.core.stripe_events import (
    Reversal,
    SessionSeen,
    UnreadableEvent,
    calls_taken,
    is_live_key,
    is_test_key,
    meaning,
    signed_at,
)

SESSION = {
    "id": "cs_test_1",
    "mode": "payment",
    "payment_status": "paid",
    "client_reference_id": "ord_1",
    "payment_intent": "pi_1",
    "amount_total": 3_000,
    "currency": "USD",
}
CHARGE = {"id": "ch_1", "payment_intent": "pi_1", "amount_refunded": 1_000, "currency": "usd"}
DISPUTE = {"id": "dp_1", "payment_intent": "pi_1", "amount": 3_000, "currency": "usd", "status": "needs_response"}
COMPLETED = "checkout.session.completed"


def read(kind: str, obj: Any) -> SessionSeen | Reversal | None:
    """The meaning of such an event."""
    return meaning({"type": kind, "data": {"object": obj}})


def test_a_paid_session() -> None:
    paid = SessionSeen("ord_1", "cs_test_1", "paid", payment_intent="pi_1", amount=3_000, currency="usd")
    assert read(COMPLETED, SESSION) == paid
    assert read("checkout.session.async_payment_succeeded", SESSION) == paid


@pytest.mark.parametrize(
    ("kind", "status", "outcome"),
    [
        ("completed", "unpaid", "processing"),
        ("completed", "no_payment_required", "processing"),
        ("async_payment_succeeded", "unpaid", "processing"),
        ("async_payment_failed", "unpaid", "failed"),
        ("async_payment_failed", "paid", "failed"),
        ("expired", "unpaid", "expired"),
        ("expired", "paid", "expired"),
    ],
)
def test_an_unpaid_session_needs_no_payment(kind: str, status: str, outcome: str) -> None:
    session = {**SESSION, "payment_status": status, "payment_intent": None, "amount_total": None, "currency": None}
    seen = read(f"checkout.session.{kind}", session)
    assert seen == SessionSeen("ord_1", "cs_test_1", outcome)  # type: ignore[arg-type]  # the table's words


@pytest.mark.parametrize(
    ("kind", "obj"),
    [
        (COMPLETED, {**SESSION, "client_reference_id": None}),
        (COMPLETED, {**SESSION, "client_reference_id": "another program's"}),
        (COMPLETED, {**SESSION, "client_reference_id": 7}),
        (COMPLETED, {**SESSION, "mode": "subscription"}),
        ("checkout.session.created", SESSION),
        ("charge.succeeded", CHARGE),
        ("charge.refund.updated", CHARGE),
        ("charge.refunded", {**CHARGE, "payment_intent": None}),
        ("charge.dispute.created", {**DISPUTE, "payment_intent": None}),
        ("customer.created", None),
    ],
)
def test_what_is_not_ours_means_nothing(kind: str, obj: Any) -> None:
    assert read(kind, obj) is None


@pytest.mark.parametrize(
    ("status", "amount", "is_final"),
    [
        ("needs_response", 3_000, False),
        ("under_review", 3_000, False),
        ("lost", 3_000, True),
        ("won", 0, True),
        ("prevented", 0, True),
        ("warning_needs_response", 0, False),
        ("warning_under_review", 0, False),
        ("warning_closed", 0, True),
        ("a status of later years", 3_000, False),
    ],
)
def test_what_a_dispute_holds_follows_from_its_status_and_not_from_its_event(
    status: str, amount: int, is_final: bool
) -> None:
    for kind in ("created", "updated", "closed", "funds_withdrawn", "funds_reinstated"):
        seen = read(f"charge.dispute.{kind}", {**DISPUTE, "status": status})
        assert seen == Reversal("dp_1", "dispute", "pi_1", amount, "usd", is_final)


@pytest.mark.parametrize("event", [None, [], "x", 1, {}, {"type": None}, {"type": "charge.refunded", "data": {}}])
def test_what_is_no_event_is_said(event: Any) -> None:
    with pytest.raises(UnreadableEvent):
        meaning(event)


REQUIRED = [
    (COMPLETED, SESSION, ("id", "payment_intent", "amount_total", "currency")),
    ("charge.refunded", CHARGE, ("id", "amount_refunded", "currency")),
    ("charge.dispute.created", DISPUTE, ("id", "amount", "currency", "status")),
]


@pytest.mark.parametrize("value", [None, "", "é", "a\u0000", "x" * 256, [], {}, -1, 1.5, True, 2**53])
@pytest.mark.parametrize(
    ("kind", "obj", "name"), [(kind, obj, name) for kind, obj, names in REQUIRED for name in names]
)
def test_a_field_that_cannot_be_is_said(kind: str, obj: dict[str, Any], name: str, value: Any) -> None:
    with pytest.raises(UnreadableEvent, match=name):
        read(kind, {**obj, name: value})


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda s: st.dictionaries(st.text(), s)))
def test_any_object_is_read_or_refused(obj: Any) -> None:
    for kind in (COMPLETED, "charge.refunded", "charge.dispute.closed"):
        with suppress(UnreadableEvent):
            assert read(kind, obj) is None


def final_state(states: tuple[Reversal, ...]) -> Reversal:
    """What is left when the states come in this order."""
    known = states[0]
    for seen in states[1:]:
        known = seen if seen.supersedes(known) else known
    return known


def dispute(amount: int, *, is_final: bool) -> Reversal:
    """A dispute that holds so much."""
    return Reversal("dp_1", "dispute", "pi_1", amount, "usd", is_final)


@pytest.mark.promise("stripe.once")
def test_the_order_of_states_does_not_matter() -> None:
    for last in (dispute(0, is_final=True), dispute(3_000, is_final=True)):
        states = (dispute(0, is_final=False), dispute(3_000, is_final=False), last, last)
        assert {final_state(order) for order in permutations(states)} == {last}
    refunds = tuple(Reversal("ch_1", "refund", "pi_1", amount, "usd", False) for amount in (0, 500, 500, 3_000))
    assert {final_state(order) for order in permutations(refunds)} == {refunds[-1]}
    assert len({state.reference for state in (*states, *refunds)}) == 6


@pytest.mark.promise("stripe.refunds")
@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_calls_go_in_proportion_and_all_of_them_with_the_whole_payment(calls: int, amount: int) -> None:
    assert calls_taken(calls, amount, 0) == calls_taken(calls, amount, -1) == 0
    assert calls_taken(calls, amount, amount) == calls_taken(calls, amount, amount + 1) == calls
    steps = [calls_taken(calls, amount, amount * part // 7) for part in range(8)]
    assert all(0 <= one <= other <= calls for one, other in pairwise(steps))


def test_keys_of_test_mode() -> None:
    for key in ("sk_test_x", "rk_test_x"):
        assert (is_test_key(key), is_live_key(key)) == (True, False)
    for key in ("sk_live_x", "rk_live_x"):
        assert (is_test_key(key), is_live_key(key)) == (False, True)
    for key in ("", "pk_test_x", " sk_test_x", "SK_TEST_x", "sk_testx", "xsk_test_x"):
        assert (is_test_key(key), is_live_key(key)) == (False, False)


@pytest.mark.parametrize(
    ("header", "second"),
    [
        ("t=1796040000,v1=00", 1_796_040_000),
        ("v1=00,t=5", 5),
        ("t=5,t=6,v1=00", 5),
        ("", None),
        ("v1=00", None),
        ("t=", None),
        ("t=-5", None),
        ("t=5=6", None),
        ("t=٥", None),
        ("t=" + "9" * 16, None),
        (" t=5", None),
    ],
)
def test_the_time_of_a_signature(header: str, second: int | None) -> None:
    assert signed_at(header) == second
