"""A model costs money: a call is reserved before it is asked, charged once when it is answered, and given back when it
is not."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from api.clients.model import HttpModel
from api.clients.ports import Unanswered
from api.service.grading import Grader
from api.service.upkeep import release_reservations
from tests.fakes.facilitator import FakeFacilitator, fake_facilitator, invalid
from tests.fakes.model import HANGS, JUDGED, PRIMARY, Asked, FakeModel, Said, always, fake_model, honest, refusing
from tests.live import NOON, FakeClock, Live
from tests.problem_checks import assert_problem
from tests.test_workers import LIMIT_S, running
from tests.web import llm
from tests.web.ledger import SECRET_KEY, SMALL, grant, id_of, in_store, ledger_server, many, me, statuses, total, use_up
from tests.web.llm import FAILED, OPERATIONS, ask, graded_server, scored
from tests.web.mcp import call as call_tool
from tests.web.test_failures import answer_with
from tests.web.x402 import offer, paid_server, pay, payment, states


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with fake_model() as fake:
        yield fake


@pytest.fixture
def live(tmp_path: Path, model: FakeModel, database_url: str) -> Iterator[Live]:
    """On SQLite and on PostgreSQL."""
    with graded_server(tmp_path, model, database_url) as server:
        yield server


@pytest.fixture
def facilitator() -> Iterator[FakeFacilitator]:
    with fake_facilitator() as fake:
        yield fake


@pytest.fixture
def paid(tmp_path: Path, model: FakeModel, facilitator: FakeFacilitator, database_url: str) -> Iterator[Live]:
    """A server that asks a model and takes payments."""
    with paid_server(tmp_path, facilitator, database_url, clock=None, **model.settings) as server:
        yield server


def used(live: Live, key: str) -> int:
    return int(me(live, key)["free_calls"]["used"])


@pytest.mark.promise("llm.reserved")
@pytest.mark.promise("charging.free_exact")
@pytest.mark.parametrize("credits", [0, 7])
def test_120_at_once_on_a_fresh_key_ask_the_model_as_often_as_it_has_calls(
    live: Live, model: FakeModel, credits: int
) -> None:
    key = live.new_key()
    if credits:
        assert grant(live, id_of(live, key), credits).status == 200
    answers = many(120, lambda n: ask(live, OPERATIONS[n % 2], key))
    assert statuses(answers) == [200] * (100 + credits) + [429] * (20 - credits)
    assert len(model.asked) == 100 + credits
    assert {answer.json["engine"] for answer in answers if answer.status == 200} == {"llm"}
    assert (used(live, key), me(live, key)["credits"]) == (100, 0)
    assert total(live, "reservations", "1") == 0


def test_a_call_is_reserved_while_the_model_works(live: Live, model: FakeModel) -> None:
    key, seen = live.new_key(), []

    def look(asked: Asked) -> Said:
        seen.append((used(live, key), total(live, "reservations", "1"), me(live, key)["usage"][0]["calls"]))
        return honest(asked)

    model.next_of[PRIMARY].append(look)
    assert ask(live, "judge", key).status == 200
    assert seen == [(1, 1, 0)], "taken, and not answered yet"
    assert (used(live, key), total(live, "reservations", "1"), me(live, key)["usage"][0]["calls"]) == (1, 0, 1)


def test_a_key_with_nothing_left_has_no_model_asked(live: Live, model: FakeModel) -> None:
    key = live.new_key()
    use_up(live, key)
    assert_problem(ask(live, "judge", key), "quota_exceeded")
    assert_problem(ask(live, "judge", key, {"task": "t"}), "invalid_request")
    assert ask(live, "judge", "scr_wrong").status == 401
    assert model.asked == []


@pytest.mark.promise("idempotency.no_content")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_replay_asks_no_model_and_is_deterministic(live: Live, model: FakeModel, operation: str) -> None:
    key = live.new_key()
    first = ask(live, operation, key, Idempotency_Key="k")
    again = ask(live, operation, key, Idempotency_Key="k")
    assert (first.json["engine"], again.json["engine"]) == ("llm", "deterministic")
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json["request_id"] == first.json["request_id"]
    assert len(model.asked) == 1
    assert used(live, key) == 1


@pytest.mark.promise("idempotency.once")
def test_thirty_at_once_under_one_key_are_one_charge_and_one_request(live: Live, model: FakeModel) -> None:
    key = live.new_key()
    answers = many(30, lambda n: ask(live, "judge", key, Idempotency_Key="k"))
    assert statuses(answers) == [200] * 30
    assert len({answer.json["request_id"] for answer in answers}) == 1
    assert len(model.asked) == 1
    assert (used(live, key), total(live, "drift_hours", "calls"), total(live, "reservations", "1")) == (1, 1, 0)


def test_a_repeat_while_the_model_works_uses_the_last_free_call_that_is_reserved(live: Live, model: FakeModel) -> None:
    key, inner = live.new_key(), []

    def repeat(asked: Asked) -> Said:
        inner.append(ask(live, "judge", key, Idempotency_Key="k"))
        return honest(asked)

    use_up(live, key)
    assert grant(live, id_of(live, key), 1).status == 200
    model.next_of[PRIMARY].append(repeat)
    outer = ask(live, "judge", key, Idempotency_Key="k")
    assert [outer.status, inner[0].status] == [200, 200]
    assert outer.json["request_id"] == inner[0].json["request_id"]
    assert me(live, key)["credits"] == 0
    assert len(model.asked) == 1


def test_a_key_that_is_deleted_meanwhile_gets_no_answer(live: Live, model: FakeModel) -> None:
    key = live.new_key()

    def delete(asked: Asked) -> Said:
        assert live.request("DELETE", "/v1/keys/me", key=key).status == 200
        return honest(asked)

    model.next_of[PRIMARY].append(delete)
    answer = ask(live, "judge", key)
    assert_problem(answer, "unknown_key")
    assert JUDGED["reasons"][0] not in answer.body.decode()
    for table in ("reservations", "daily_use", "drift_hours"):
        assert total(live, table, "1") == 0


class Broken(Grader):
    """One with a mistake."""

    def __init__(self) -> None:
        """Needs nothing."""

    @property
    def work_s(self) -> float:
        return 1

    async def grade(self, operation: str, body: Any, checked: Any) -> Any:
        raise ValueError("a mistake")


@pytest.mark.logs_errors
def test_work_that_fails_gives_back_what_was_reserved(live: Live) -> None:
    key = live.new_key()
    assert_problem(answer_with(live, SMALL, grader=Broken()), "internal")
    assert (used(live, key), total(live, "reservations", "1")) == (0, 0)


@pytest.mark.promise("llm.reserved")
@pytest.mark.promise("charging.kill_safe")
def test_a_reservation_left_by_a_crash_is_released(tmp_path: Path, model: FakeModel, database_url: str) -> None:
    with running(database_url, workers=1, SECRET_KEY=SECRET_KEY, **model.settings) as server:
        key = server.new_key()

        def kill(_: Asked) -> Said:
            os.kill(server.process.pid, signal.SIGKILL)
            server.process.wait(LIMIT_S)
            return Said(closes=True)

        model.next_of[PRIMARY].append(kill)
        with pytest.raises((HTTPException, OSError)):
            server.request("POST", "/v1/judge", SMALL, key)
    with ledger_server(tmp_path, database_url, clock=FakeClock(time.time())) as live:
        asyncio.run_coroutine_threadsafe(live.app.jobs.stop(), live.loop).result(30)
        assert (used(live, key), total(live, "reservations", "1")) == (1, 1)

        def release() -> str:
            now = int(live.clock())
            return in_store(live, lambda _: release_reservations(live.app.services, now))

        assert release() == ""
        live.clock.now += 2 * 20 + 60 + 5
        assert release() == "1 released"
        assert total(live, "reservations", "1") == 0


@pytest.mark.promise("x402.order")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_payment_pays_for_a_model_and_a_resend_asks_none(
    paid: Live, model: FakeModel, facilitator: FakeFacilitator, operation: str
) -> None:
    sent = payment(offer(paid, operation))
    first = pay(paid, sent, operation)
    assert first.json["engine"] == "llm"
    again = pay(paid, sent, operation)
    assert (again.status, again.json["engine"]) == (200, "deterministic")
    assert again.json["request_id"] == first.json["request_id"]
    assert len(model.asked) == len(facilitator.moved) == 1


@pytest.mark.promise("idempotency.no_content")
def test_a_paid_replay_asks_no_model_and_takes_no_second_payment(
    paid: Live, model: FakeModel, facilitator: FakeFacilitator
) -> None:
    first = pay(paid, payment(offer(paid)), Idempotency_Key="k")
    again = pay(paid, payment(offer(paid)), Idempotency_Key="k")
    assert (first.json["engine"], again.json["engine"]) == ("llm", "deterministic")
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json["request_id"] == first.json["request_id"]
    assert len(model.asked) == len(facilitator.moved) == 1


@pytest.mark.logs_errors
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_failure_of_the_model_is_settled_once_all_the_same(
    paid: Live, model: FakeModel, facilitator: FakeFacilitator, operation: str
) -> None:
    model.next_of[PRIMARY].append(refusing(429))
    answer = pay(paid, payment(offer(paid, operation)), operation)
    assert (answer.status, answer.json["engine"], answer.json["reasons"][-1]) == (200, "deterministic", FAILED)
    assert len(facilitator.moved) == 1


def test_no_model_is_asked_for_a_payment_that_is_not_good(
    paid: Live, model: FakeModel, facilitator: FakeFacilitator
) -> None:
    facilitator.next_verify.append(invalid("insufficient_funds"))
    assert_problem(pay(paid, payment(offer(paid))), "payment_refused")
    assert model.asked == []
    assert states(paid) == []


@pytest.mark.promise("x402.margin")
def test_a_payment_must_outlast_two_requests(paid: Live, model: FakeModel) -> None:
    margin = 10 + 2 * 20
    answer = pay(paid, payment(offer(paid), valid_before=int(NOON) + margin - 1))
    assert_problem(answer, "payment_refused")
    assert model.asked == []
    assert pay(paid, payment(offer(paid), valid_before=int(NOON) + margin + 1)).status == 200


def test_a_key_without_quota_pays_for_the_model_by_its_payment(
    paid: Live, model: FakeModel, facilitator: FakeFacilitator
) -> None:
    key = paid.new_key()
    use_up(paid, key)
    answer = pay(paid, payment(offer(paid)), key=key)
    assert (answer.status, answer.json["engine"]) == (200, "llm")
    assert len(model.asked) == len(facilitator.moved) == 1


@pytest.mark.parametrize("operation", OPERATIONS)
def test_mcp_has_the_model_too_and_is_charged_once(live: Live, model: FakeModel, operation: str) -> None:
    key = live.new_key()
    found = call_tool(live, operation, key=key).json["result"]
    assert found["isError"] is False
    assert scored(found["structuredContent"]) == scored(ask(live, operation, key).json)
    assert found["structuredContent"]["reasons"][-1] == {"judge": llm.JUDGED, "consensus": llm.COMPARED}[operation]
    assert (used(live, key), len(model.asked)) == (2, 2)


@pytest.mark.logs_errors
def test_mcp_says_when_a_model_fails(live: Live, model: FakeModel) -> None:
    key = live.new_key()
    model.next_of[PRIMARY].append(refusing(400))
    found = call_tool(live, key=key).json["result"]
    assert (found["isError"], found["structuredContent"]["reasons"][-1]) == (False, FAILED)
    assert used(live, key) == 1


@pytest.mark.logs_errors
def test_a_hung_model_holds_up_nobody_and_is_given_up_at_a_stop(tmp_path: Path, model: FakeModel) -> None:
    model.next_of[PRIMARY].append(always(HANGS))
    with graded_server(tmp_path, model) as live, live.wire() as wire:
        key = live.new_key()
        body = b'{"task": "t", "agent_output": "o"}'
        wire.send_request("POST", "/v1/judge", body, Authorization=f"Bearer {key}", Content_Type="application/json")
        assert model.arrived.acquire(timeout=LIMIT_S)
        assert ask(live, "judge", key).json["engine"] == "llm"
        grader = live.app.services.grader
        assert grader is not None
        live.loop.call_soon_threadsafe(grader.abandon)
        answer = wire.receive()
        assert (answer.status, answer.json["reasons"][-1]) == (200, FAILED)
        assert ask(live, "judge", key).json["reasons"][-1] == FAILED, "nobody is asked from then on"
        assert used(live, key) == 3
    assert len(model.asked) == 2


def test_the_places_at_a_model_are_limited_and_the_wait_counts(tmp_path: Path, model: FakeModel) -> None:
    async def scenario() -> list[str]:
        client = HttpModel(model.url, "k", 0.4, concurrent=1)
        model.next_of["m"].append(always(HANGS))
        document = '{"model": "m", "messages": [{"content": ""}, {"content": ""}]}'

        async def one() -> str:
            try:
                await client.complete(document)
            except Unanswered as error:
                return str(error)
            return "answered"

        first, second = await asyncio.gather(one(), one())
        client.close()
        return [first, second]

    assert asyncio.run(scenario()) == ["TimeoutError", "TimeoutError"]
    assert len(model.asked) == 1, "the second one never had a place"


@pytest.mark.promise("llm.one_request")
def test_a_kept_connection_that_is_closed_on_a_question_has_it_asked_once() -> None:
    """The server answers the first question, reads the second one whole, and closes."""
    read = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            read.append(await reader.readexactly(int(length.split(b":")[1])))
            if len(read) > 1:
                break
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            await writer.drain()
        writer.close()

    async def scenario() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        client = HttpModel(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", "k", 20)
        try:
            assert (await client.complete("1")).status == 200
            with pytest.raises(Unanswered):
                await client.complete("2")
        finally:
            client.close()
            server.close()
            await server.wait_closed()

    asyncio.run(scenario())
    assert read == [b"1", b"2"]


def test_services_know_of_no_model_without_a_key(tmp_path: Path, model: FakeModel) -> None:
    with graded_server(tmp_path, model, LLM_API_KEY="") as live:
        assert live.app.services.grader is None
        assert ask(live, "judge", live.new_key()).json["engine"] == "deterministic"
    assert model.asked == []
