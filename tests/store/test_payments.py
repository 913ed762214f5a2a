"""The states of an x402 payment, on both databases: who may move it on, and what nobody can undo."""

import asyncio
from dataclasses import replace
from itertools import count

import pytest

from api.store import idempotency, keys, paid_calls, payments
from api.store.database import Database
from api.store.idempotency import Mark
from api.store.paid_calls import PaidCall
from api.store.payments import NEVER, Arrival, Payment, Place
from tests.databases import Run
from tests.store.ledger import DAY_S, NOW, PASSED, a_mark, a_row, another_node, counted, hash_of, open_key, rows_in

PLACE = Place("eip155:8453", "0xasset", "0xpayer", "0xnonce")
TX = "0x" + "1" * 64
HELD = NOW + 60
_numbers = count(1)


def an_arrival(request_id: str = "req_1", **changes: object) -> Arrival:
    """A payment that has come with the call `request_id`."""
    arrival = Arrival(
        id=f"pay_{next(_numbers)}",
        place=PLACE,
        identifier=None,
        payload_hash="payload",
        binding="binding",
        endpoint="judge",
        amount="5000",
        payer_shown="0xPayer",
        valid_before=NOW + 120,
        request_id=request_id,
        key_id=None,
        document='{"signature": "0x12"}',
    )
    return replace(arrival, **changes)  # type: ignore[arg-type]  # the names are checked as the test runs


async def reserve(database: Database, arrival: Arrival, now: int = NOW, held_until: int = HELD) -> list[Payment]:
    return await database.write(payments.reserve, arrival, now, held_until)


async def begin(database: Database, arrival: Arrival, mark: Mark | None = None, now: int = NOW) -> str:
    return await database.write(payments.begin_settling, arrival.id, arrival.request_id, mark, now, now + 60)


async def settling(database: Database, arrival: Arrival, mark: Mark | None = None) -> Arrival:
    """A payment that was sent to be settled."""
    assert await reserve(database, arrival) == []
    assert await begin(database, arrival, mark) == "begun"
    return arrival


async def settled(database: Database, arrival: Arrival, mark: Mark | None = None) -> Arrival:
    await settling(database, arrival, mark)
    await database.write(payments.settle, arrival.id, TX, NOW)
    return arrival


async def in_doubt(database: Database, arrival: Arrival, transaction: str = "") -> Arrival:
    await settling(database, arrival)
    await database.write(payments.doubt, arrival.id, arrival.request_id, "why", transaction, NOW)
    return arrival


async def get(database: Database, arrival: Arrival) -> Payment:
    found = await database.read(payments.get, arrival.id)
    assert found is not None
    return found


@pytest.mark.promise("x402.reservation")
def test_a_payment_is_reserved_once(database: Database, run: Run) -> None:
    async def scenario() -> None:
        first = an_arrival()
        assert await reserve(database, first) == []
        (standing,) = await reserve(database, an_arrival("req_2"))
        assert (standing.id, standing.state, standing.request_id) == (first.id, "reserved", "req_1")
        (standing,) = await database.read(payments.find, PLACE, None, NOW)
        assert standing == await get(database, first)
        for place in (
            replace(PLACE, network="eip155:1"),
            replace(PLACE, asset="0xother"),
            replace(PLACE, payer="0xother"),
            replace(PLACE, nonce="0xother"),
        ):
            assert await reserve(database, an_arrival(place=place)) == []
        assert await rows_in(database, "payments") == 5

    run(scenario())


@pytest.mark.promise("x402.once")
def test_of_many_reservations_at_once_one_is_made(database: Database, database_url: str, run: Run) -> None:
    async def scenario() -> None:
        async with another_node(database_url) as other:
            attempts = [
                reserve((database, other)[number % 2], an_arrival(f"req_{number}", identifier="an identifier"))
                for number in range(12)
            ]
            outcomes = await asyncio.gather(*attempts)
        assert sum(outcome == [] for outcome in outcomes) == 1
        assert len({payment.id for outcome in outcomes for payment in outcome}) == 1
        assert await rows_in(database, "payments") == 1

    run(scenario())


@pytest.mark.promise("x402.resend")
def test_an_identifier_stands_for_one_payment(database: Database, run: Run) -> None:
    async def scenario() -> None:
        named = an_arrival(identifier="an identifier")
        assert await reserve(database, named) == []
        other = an_arrival(place=replace(PLACE, nonce="0xother"), identifier="an identifier")
        (standing,) = await reserve(database, other)
        assert standing.id == named.id
        plain = an_arrival(place=other.place)
        assert await reserve(database, plain) == []
        both = await database.read(payments.find, other.place, "an identifier", NOW)
        assert {payment.id for payment in both} == {named.id, plain.id}

    run(scenario())


def test_a_reservation_is_given_up_by_its_holder_only(database: Database, run: Run) -> None:
    async def scenario() -> None:
        arrival = an_arrival()
        await reserve(database, arrival)
        assert not await database.write(payments.release, arrival.id, "req_2")
        assert await database.write(payments.release, arrival.id, "req_1")
        assert not await database.write(payments.release, arrival.id, "req_1")
        await settling(database, again := an_arrival())
        assert not await database.write(payments.release, again.id, "req_1")
        assert (await get(database, again)).state == "settling"

    run(scenario())


def test_a_reservation_whose_time_is_over_makes_room(database: Database, run: Run) -> None:
    async def scenario() -> None:
        dead = an_arrival(identifier="an identifier")
        await reserve(database, dead)
        late = an_arrival("req_2", identifier="an identifier")
        assert len(await reserve(database, late, HELD - 1)) == 1
        assert await database.read(payments.find, PLACE, "an identifier", HELD) == []
        assert await reserve(database, late, HELD, HELD + 60) == []
        assert await begin(database, dead) == "lost"
        assert await begin(database, late) == "begun"

    run(scenario())


def test_what_was_sent_to_be_settled_makes_no_room(database: Database, run: Run) -> None:
    async def scenario() -> None:
        arrival = await settling(database, an_arrival())
        for now in (NOW, NOW + 60, NOW + 400 * DAY_S):
            (standing,) = await reserve(database, an_arrival("req_2"), now)
            assert standing.id == arrival.id
        assert await begin(database, arrival) == "lost"

    run(scenario())


def test_a_settled_payment_stays_so(database: Database, run: Run) -> None:
    async def scenario() -> None:
        arrival = await settled(database, an_arrival())
        before = await get(database, arrival)
        assert (before.state, before.transaction, before.document) == ("settled", TX, "")
        await database.write(payments.fail, arrival.id, "req_1", "insufficient_funds", NOW)
        await database.write(payments.doubt, arrival.id, "req_1", "why", "", NOW)
        await database.write(payments.settle, arrival.id, "0x" + "2" * 64, NOW)
        assert await database.write(payments.claim, arrival.id, "req_2", NOW + 1_000, NOW + 2_000) is None
        assert await get(database, arrival) == before

    run(scenario())


@pytest.mark.promise("x402.outcomes")
def test_a_failed_payment_makes_room_for_itself_and_for_its_identifier(database: Database, run: Run) -> None:
    async def scenario() -> None:
        failed = await settling(database, an_arrival(identifier="an identifier"))
        await database.write(payments.fail, failed.id, "req_2", "another's word", NOW)
        assert (await get(database, failed)).state == "settling"
        await database.write(payments.fail, failed.id, "req_1", "insufficient_funds", NOW)
        assert ((await get(database, failed)).state, (await get(database, failed)).document) == ("failed", "")
        assert await database.read(payments.find, PLACE, "an identifier", NOW) == []
        other = an_arrival(place=replace(PLACE, nonce="0xother"), identifier="an identifier")
        assert await reserve(database, other) == []
        assert await reserve(database, an_arrival("req_3")) == []
        assert await rows_in(database, "payments") == 2

    run(scenario())


@pytest.mark.promise("x402.outcomes")
def test_a_payment_in_doubt_is_claimed_by_one(database: Database, database_url: str, run: Run) -> None:
    async def scenario() -> None:
        arrival = await in_doubt(database, an_arrival(), TX)
        async with another_node(database_url) as other:
            claims = [
                (database, other)[number % 2].write(payments.claim, arrival.id, f"req_{number}", NOW, NOW + 60)
                for number in range(8)
            ]
            claimed = [found for found in await asyncio.gather(*claims) if found is not None]
        assert [(one.attempts, one.transaction, one.document) for one in claimed] == [(2, TX, arrival.document)]
        assert await database.write(payments.claim, arrival.id, "late", NOW + 59, NOW + 90) is None
        taken_over = await database.write(payments.claim, arrival.id, "late", NOW + 60, NOW + 120)
        assert taken_over is not None
        assert taken_over.attempts == 3

    run(scenario())


def test_a_settlement_that_is_heard_of_late_counts(database: Database, run: Run) -> None:
    """A process that was taken for dead comes back with a transaction."""

    async def scenario() -> None:
        arrival = await settling(database, an_arrival())
        assert await database.write(payments.claim, arrival.id, "req_2", NOW + 60, NOW + 120) is not None
        await database.write(payments.doubt, arrival.id, "req_1", "its own time-out", "", NOW + 61)
        assert (await get(database, arrival)).state == "settling"
        await database.write(payments.settle, arrival.id, TX, NOW + 61)
        found = await database.write(payments.doubt, arrival.id, "req_2", "why", "", NOW + 62)
        assert found is not None
        assert (found.state, found.transaction) == ("settled", TX)

    run(scenario())


def test_pauses_double_up_to_an_hour() -> None:
    assert [payments.pause_s(attempts) for attempts in range(1, 11)] == [
        10,
        20,
        40,
        80,
        160,
        320,
        640,
        1280,
        2560,
        3600,
    ]
    assert payments.pause_s(10_000) == 3_600


def test_payments_in_doubt_are_due_after_their_pause(database: Database, run: Run) -> None:
    async def scenario() -> None:
        doubtful = await in_doubt(database, an_arrival())
        dead = await settling(database, an_arrival(place=replace(PLACE, nonce="0xdead")))
        await settled(database, an_arrival(place=replace(PLACE, nonce="0xsettled")))
        await reserve(database, an_arrival(place=replace(PLACE, nonce="0xreserved")), NOW, NOW + 1)
        assert await database.read(payments.due, NOW + 9, 10) == []
        assert await database.read(payments.due, NOW + 10, 10) == [doubtful.id]
        assert await database.read(payments.due, NOW + 60, 10) == [doubtful.id, dead.id]
        assert await database.read(payments.due, NOW + 60, 1) == [doubtful.id]

    run(scenario())


@pytest.mark.promise("x402.outcomes")
def test_once_it_has_expired_nobody_asks_again(database: Database, run: Run) -> None:
    async def scenario() -> None:
        arrival = await in_doubt(database, an_arrival(valid_before=NOW + 120))
        claimed = await database.write(payments.claim, arrival.id, "job_1", NOW + 119, NOW + 150)
        assert claimed is not None
        found = await database.write(payments.doubt, arrival.id, "job_1", "why", "", NOW + 119)
        assert found is not None
        assert not found.is_closed
        assert await database.write(payments.claim, arrival.id, "job_2", NOW + 300, NOW + 400) is not None
        found = await database.write(payments.doubt, arrival.id, "job_2", "why", "", NOW + 300)
        assert found is not None
        assert found.is_closed
        assert await database.read(payments.due, NOW + DAY_S, 10) == []
        assert await database.write(payments.claim, arrival.id, "job_3", NOW + DAY_S, NOW + DAY_S) is None
        (standing,) = await reserve(database, an_arrival("req_9"), NOW + DAY_S)
        assert standing.is_closed

    run(scenario())


def test_an_authorization_without_an_end_can_be_stored(database: Database, run: Run) -> None:
    async def scenario() -> None:
        arrival = an_arrival(valid_before=2**256 - 1)
        assert await reserve(database, arrival) == []
        assert (await get(database, arrival)).valid_before == NEVER

    run(scenario())


@pytest.mark.promise("idempotency.caller")
def test_an_idempotency_key_is_settled_for_once(database: Database, run: Run) -> None:
    async def scenario() -> None:
        mark = a_mark(name="payer")
        first = await settling(database, an_arrival(), mark)
        second = an_arrival("req_2", place=replace(PLACE, nonce="0xother"))
        await reserve(database, second)
        assert await begin(database, second, mark) == "busy"
        await database.write(payments.settle, first.id, TX, NOW)
        record = await database.read(idempotency.find, mark, NOW)
        assert record is not None
        assert record.request_id == "req_1"
        assert await begin(database, second, mark) == "busy"
        assert await begin(database, second, a_mark("another", name="payer")) == "begun"

    run(scenario())


def test_a_settlement_that_failed_frees_its_idempotency_key(database: Database, run: Run) -> None:
    async def scenario() -> None:
        mark = a_mark(name="payer")
        first = await settling(database, an_arrival(), mark)
        await database.write(payments.fail, first.id, "req_1", "insufficient_funds", NOW)
        second = an_arrival("req_2", place=replace(PLACE, nonce="0xother"))
        await reserve(database, second)
        assert await begin(database, second, mark) == "begun"

    run(scenario())


@pytest.mark.promise("charging.key_pays_x402")
def test_a_paid_call_of_a_key_counts_once_and_takes_nothing_of_it(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database, calls=2)
        arrival = await settling(database, an_arrival(key_id="key_one"))
        call = PaidCall(arrival.id, "req_1", PASSED, hash_of("one"), a_mark(), a_row())
        outcome = await database.write(paid_calls.settle, call, TX, NOW)
        assert outcome.answered == "first"
        assert outcome.payment is not None
        assert (outcome.payment.state, outcome.payment.retained_id) == ("settled", "ret_1")
        again = await database.write(paid_calls.record, replace(call, retained=a_row("ret_2")), NOW)
        assert again.answered == "before"
        assert await counted(database) == (0, 0, 1, 0)
        assert (await rows_in(database, "retained"), await rows_in(database, "drift_hours")) == (1, 1)
        record = await database.read(idempotency.find, a_mark(), NOW)
        assert record is not None
        assert (record.request_id, record.retained_id) == ("req_1", "ret_1")

    run(scenario())


def test_a_paid_call_without_a_key_counts_nowhere(database: Database, run: Run) -> None:
    async def scenario() -> None:
        arrival = await settling(database, an_arrival())
        outcome = await database.write(paid_calls.settle, PaidCall(arrival.id, "req_1", PASSED), TX, NOW)
        assert outcome.answered == "first"
        for table in ("daily_use", "drift_hours", "retained", "idempotency"):
            assert await rows_in(database, table) == 0

    run(scenario())


@pytest.mark.promise("keys.delete_ledger")
@pytest.mark.promise("keys.delete_payment_in_flight")
def test_a_deleted_keys_payments_go_when_they_are_final(database: Database, run: Run) -> None:
    async def scenario() -> None:
        await open_key(database)
        await settled(database, an_arrival(key_id="key_one"))
        doubtful = await in_doubt(database, an_arrival(place=replace(PLACE, nonce="0xdoubt"), key_id="key_one"))
        flying = await settling(
            database, an_arrival(place=replace(PLACE, nonce="0xflying"), key_id="key_one"), a_mark()
        )
        reserved = an_arrival(place=replace(PLACE, nonce="0xreserved"), key_id="key_one")
        await reserve(database, reserved)
        keyless = await settled(database, an_arrival(place=replace(PLACE, nonce="0xkeyless")))
        assert await database.write(keys.delete, hash_of("one")) == "key_one"
        left = await database.read(payments.page, None, NOW, 10, None)
        assert {one.id for one in left} == {doubtful.id, flying.id, reserved.id, keyless.id}
        assert {one.key_id for one in left} == {None}
        assert await begin(database, reserved) == "lost"
        call = PaidCall(flying.id, "req_1", PASSED, hash_of("one"))
        outcome = await database.write(paid_calls.settle, call, TX, NOW)
        assert (outcome.answered, outcome.payment) == ("unknown_key", None)
        assert await rows_in(database, "idempotency") == 0
        await database.write(payments.claim, doubtful.id, "job", NOW + 1, NOW + 60)
        await database.write(payments.fail, doubtful.id, "job", "insufficient_funds", NOW + 1)
        await database.write(payments.release, reserved.id, "req_1")
        assert [one.id for one in await database.read(payments.page, None, NOW, 10, None)] == [keyless.id]

    run(scenario())


def test_what_is_over_is_forgotten_in_its_time(database: Database, run: Run) -> None:
    async def scenario() -> None:
        kept = await in_doubt(database, an_arrival())
        await settled(database, an_arrival(place=replace(PLACE, nonce="0xsettled")))
        failed = await settling(database, an_arrival(place=replace(PLACE, nonce="0xfailed")))
        await database.write(payments.fail, failed.id, "req_1", "insufficient_funds", NOW)
        await reserve(database, an_arrival(place=replace(PLACE, nonce="0xreserved")))
        assert await database.write(payments.prune, HELD - 1) == 0
        assert await database.write(payments.prune, HELD) == 1
        assert await database.write(payments.prune, NOW + DAY_S) == 1
        assert await database.write(payments.prune, NOW + 90 * DAY_S) == 1
        assert await database.write(payments.prune, NOW + 900 * DAY_S) == 0
        assert [one.id for one in await database.read(payments.page, None, NOW, 10, None)] == [kept.id]

    run(scenario())


@pytest.mark.promise("ops.admin_payments")
def test_pages_go_on_where_they_ended_and_know_states(database: Database, run: Run) -> None:
    async def scenario() -> None:
        made = []
        for number in range(5):
            arrival = an_arrival(place=replace(PLACE, nonce=f"0x{number}"))
            await reserve(database, arrival, NOW + number // 2)
            made.append(arrival.id)
        newest_first = sorted(made, key=lambda one: (made.index(one) // 2, one), reverse=True)
        first = await database.read(payments.page, None, NOW, 3, None)
        place = (first[-1].created_at, first[-1].id)
        second = await database.read(payments.page, None, NOW, 3, place)
        assert [one.id for one in (*first, *second)] == newest_first
        dead = await settling(database, an_arrival(place=replace(PLACE, nonce="0xdead")))
        doubtful = await in_doubt(database, an_arrival(place=replace(PLACE, nonce="0xdoubt")))
        assert {one.id for one in await database.read(payments.page, "unknown", NOW, 10, None)} == {doubtful.id}
        later = await database.read(payments.page, "unknown", NOW + 60, 10, None)
        assert {one.id for one in later} == {dead.id, doubtful.id}
        assert len(await database.read(payments.page, "reserved", NOW, 10, None)) == 5

    run(scenario())
