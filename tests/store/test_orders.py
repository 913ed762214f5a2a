"""Orders in the store: credited once on any number of nodes, and taken back as far as the payment was."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import count, permutations

import pytest

from api.core.stripe_events import Outcome, Reversal, SessionSeen
from api.store import credits, keys, orders
from api.store.credits import Entry
from api.store.database import Database
from api.store.orders import KEPT_S, Order
from tests.databases import Run
from tests.store.ledger import DAY_S, NOW, a_mark, another_node, hash_of, left, open_key, rows_in

_ids = count()

PAID = SessionSeen("ord_1", "cs_1", "paid", payment_intent="pi_1", amount=3_000, currency="usd")
REFUND = Reversal("ch_1", "refund", "pi_1", 1_500, "usd", is_final=False)
OPENED = Reversal("dp_1", "dispute", "pi_1", 600, "usd", is_final=False)
LOST = replace(OPENED, is_final=True)
WON = replace(OPENED, amount=0, is_final=True)


def new_id() -> str:
    """The id of a ledger entry."""
    return f"cre_{next(_ids)}"


def an_order(order_id: str = "ord_1", name: str = "one", created_at: int = NOW) -> Order:
    """An order of the key `name`: 10,000 calls for $30."""
    return Order(order_id, f"key_{name}", created_at, "starter", 10_000, 3_000, "usd", 0)


async def see(database: Database, *states: SessionSeen | Reversal, now: int = NOW) -> None:
    """Takes in one state after the other."""
    for state in states:
        if isinstance(state, SessionSeen):
            await database.write(orders.see_session, state, now, new_id)
        else:
            await database.write(orders.see_reversal, state, now, new_id)


async def found(database: Database, order_id: str = "ord_1") -> Order:
    """The order, which must be there."""
    order = await database.read(orders.find, order_id)
    assert order is not None
    return order


async def entries(database: Database, name: str = "one") -> list[Entry]:
    """The key's ledger, which must add up."""
    assert await database.read(credits.faults) == []
    return await database.read(credits.entries, f"key_{name}")


async def ordered(database: Database, *given: Order) -> None:
    """A key with these orders."""
    await open_key(database)
    for order in given or (an_order(),):
        assert await database.write(orders.add, order, None)


def of_its_own(state: SessionSeen | Reversal, number: int) -> SessionSeen | Reversal:
    """The state, of the order ord_nNUMBER and its payment."""
    payment = f"pi_{number}"
    if isinstance(state, SessionSeen):
        return replace(state, order_id=f"ord_n{number}", session_id=f"cs_{number}", payment_intent=payment)
    return replace(state, id=f"{state.id}_{number}", payment_intent=payment)


def test_an_order_is_kept_as_it_was_given(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await ordered(database)
        assert await found(database) == an_order()
        assert await database.read(orders.find, "ord_2") is None
        assert not await database.write(orders.add, an_order("ord_2", "nobody"), None)
        assert await rows_in(database, "orders") == 1

    run(scenario())


def test_the_order_of_an_idempotency_key_is_found_again(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await ordered(database)
        for number, created_at in enumerate((NOW - DAY_S, NOW)):
            await database.write(orders.add, an_order(f"ord_m{number}", created_at=created_at), a_mark())
        newest = await database.read(orders.marked, a_mark(), 0)
        assert newest is not None
        assert newest.id == "ord_m1"
        assert await database.read(orders.marked, a_mark(), NOW) is None
        for other in (a_mark("another"), a_mark(body="another"), a_mark(name="two")):
            assert await database.read(orders.marked, other, 0) is None

    run(scenario())


def test_a_session_is_noted_and_a_refused_attempt_is_counted_once(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await ordered(database)
        for _ in range(2):
            await database.write(orders.next_attempt, "ord_1", 1)
        assert (await found(database)).attempt == 2
        assert await database.write(orders.open_session, "ord_1", "cs_1", "https://checkout")
        order = await found(database)
        assert (order.session_id, order.checkout_url, order.status) == ("cs_1", "https://checkout", "open")
        await see(database, PAID)
        assert not await database.write(orders.open_session, "ord_1", "cs_2", "https://other")
        assert (await found(database)).session_id == "cs_1"

    run(scenario())


@pytest.mark.promise("stripe.once")
def test_many_nodes_credit_a_session_once(database: Database, database_url: str, run: Run) -> None:
    async def scenario() -> None:
        await ordered(database)
        async with another_node(database_url) as node:
            states: Sequence[SessionSeen | Reversal] = (PAID, REFUND, LOST, PAID, REFUND)
            await asyncio.gather(*[see(one, state) for state in states for one in (database, node) for _ in range(4)])
        assert (await left(database)).credits == 3_000
        assert sorted(entry.reason for entry in await entries(database)) == ["dispute", "pack", "refund"]

    run(scenario())


@pytest.mark.promise("stripe.once")
@pytest.mark.promise("stripe.refunds")
def test_every_order_of_states_comes_to_the_same_balance(database: Database, run: Run) -> None:
    async def scenario() -> None:
        states: tuple[SessionSeen | Reversal, ...] = (PAID, REFUND, OPENED, LOST)
        for number, order in enumerate(permutations(states)):
            name = f"n{number}"
            await open_key(database, name)
            await database.write(orders.add, an_order(f"ord_{name}", name), None)
            for state in order:
                await see(database, of_its_own(state, number))
            assert (await left(database, name)).credits == 3_000, order
            await entries(database, name)

    run(scenario())


@pytest.mark.promise("stripe.refunds")
def test_a_won_dispute_gives_back_what_is_not_refunded(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await ordered(database)
        await see(database, PAID, OPENED, replace(REFUND, amount=3_000), WON, OPENED, WON)
        assert (await left(database)).credits == 0
        taken = sorted((entry.reason, entry.calls, entry.reference) for entry in await entries(database))
        assert taken == [
            ("dispute", -2_000, "dp_1:600"),
            ("pack", 10_000, "cs_1"),
            ("refund", -8_000, "ch_1:3000"),
        ]

    run(scenario())


@pytest.mark.promise("stripe.right_session")
def test_another_amount_or_currency_is_noted_and_not_credited(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await ordered(database, an_order("ord_1"), an_order("ord_2"))
        await see(
            database, replace(PAID, amount=2_999), replace(PAID, order_id="ord_2", session_id="cs_2", currency="eur")
        )
        assert [(await found(database, name)).status for name in ("ord_1", "ord_2")] == ["mismatch"] * 2
        assert (await found(database)).note == "Paid 2999 usd, ordered 3000 usd."
        assert await entries(database) == []
        await see(database, REFUND, LOST)
        assert await entries(database) == []

    run(scenario())


def test_what_comes_late_does_not_undo_a_payment(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await ordered(database)
        outcomes: tuple[Outcome, ...] = ("processing", "failed", "expired")
        unpaid = [SessionSeen("ord_1", "cs_1", outcome) for outcome in outcomes]
        statuses = [await database.write(orders.see_session, state, NOW, new_id) for state in unpaid]
        assert statuses == ["processing", "failed", "failed"]
        await see(database, PAID, *unpaid)
        assert (await found(database)).status == "paid"
        assert (await left(database)).credits == 10_000

    run(scenario())


def test_a_session_that_nobody_was_sent_to_ends_no_order(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await ordered(database)
        await database.write(orders.open_session, "ord_1", "cs_2", "https://checkout")
        await see(database, SessionSeen("ord_1", "cs_1", "expired"))
        assert (await found(database)).status == "open"
        assert await database.write(orders.see_session, replace(PAID, order_id="ord_9"), NOW, new_id) is None

    run(scenario())


@pytest.mark.promise("stripe.deleted_key")
def test_a_deleted_key_takes_its_orders_along_but_not_those_in_flight(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await ordered(database, *[an_order(f"ord_{n}") for n in range(1, 5)])
        await open_key(database, "two")
        await database.write(orders.add, an_order("ord_two", "two"), None)
        await see(database, PAID, REFUND, SessionSeen("ord_2", "cs_2", "expired"))
        await see(database, replace(PAID, order_id="ord_3", session_id="cs_3", payment_intent="pi_3", amount=1))
        assert await database.write(keys.delete, hash_of("one")) == "key_one"
        kept = {order.id: order for order, _ in await database.read(orders.page, None, None, 10, None)}
        assert {name: order.key_id for name, order in kept.items()} == {
            "ord_3": None,
            "ord_4": None,
            "ord_two": "key_two",
        }
        assert await rows_in(database, "reversals") == 0
        await see(database, replace(PAID, order_id="ord_4", session_id="cs_4", payment_intent="pi_4"))
        assert (await found(database, "ord_4")).status == "orphaned"
        assert await rows_in(database, "credit_entries") == 0

    run(scenario())


def test_old_orders_that_were_never_paid_go(database: Database, run: Run) -> None:
    async def scenario() -> None:
        old = NOW - KEPT_S
        names = ("open", "failed", "paid", "mismatch")
        await ordered(database, *[an_order(f"ord_{name}", created_at=old) for name in names], an_order("ord_new"))
        await see(database, SessionSeen("ord_failed", "cs_failed", "failed"))
        await see(database, replace(PAID, order_id="ord_paid"), REFUND, replace(LOST, payment_intent="pi_x"), now=old)
        await see(database, replace(PAID, order_id="ord_mismatch", session_id="cs_m", payment_intent="pi_m", amount=1))
        assert await database.write(orders.prune, NOW - 1) == 0
        assert await database.write(orders.prune, NOW) == 3
        left_over = [order.id for order, _ in await database.read(orders.page, None, None, 10, None)]
        assert left_over == ["ord_new", "ord_paid", "ord_mismatch"]
        assert await rows_in(database, "reversals") == 1

    run(scenario())
