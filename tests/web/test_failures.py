"""What goes wrong on our side: errors of our own, a database that fails, too much to do."""

import asyncio
import json
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tornado.httputil import HTTPHeaders

from api.logs import JsonFormatter
from api.problems import Problem
from api.service.engine_pool import INLINE_CHARACTERS, MAX_HEAVY, EnginePool
from api.service.engine_work import judge_body
from api.store.database import Tx
from api.store.group_commit import GroupCommit, QueueFull
from api.web.cors import Cors
from api.web.endpoint import Endpoint
from api.web.metrics import Metrics
from api.web.request import Request
from api.web.response import Response
from tests.examples import example
from tests.live import Answer, Live, live_server
from tests.problem_checks import assert_problem


@contextmanager
def broken(folder: Path, *statements: str) -> Iterator[None]:
    """Changes the server's database file from outside, as an operator's mistake would."""
    connection = sqlite3.connect(folder / "screwtape.db", isolation_level=None)
    try:
        for statement in statements:
            connection.execute(statement)
        yield
    finally:
        connection.close()


@pytest.mark.promise("ops.internal_error")
@pytest.mark.logs_errors
def test_an_unexpected_error_is_a_500_with_its_id_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with live_server(tmp_path) as live:
        key = live.new_key("private@example.com", "PRIVATE name")
        with broken(tmp_path, "UPDATE keys SET created_at = 'no time'"):
            answer = live.request("GET", "/v1/keys/me", key=key)
        assert_problem(answer, "internal")
        assert b"no time" not in answer.body
        logged = [record for record in caplog.records if record.levelno >= logging.ERROR]
        assert [record.__dict__["request_id"] for record in logged] == [answer.headers["x-request-id"]]
        with broken(tmp_path, "UPDATE keys SET created_at = 1796040000"):
            assert live.request("GET", "/v1/keys/me", key=key).status == 200


class FailingEngines(EnginePool):
    """An engine with a mistake whose message quotes what it could not read, as messages do."""

    async def run(self, work: Any, body: dict[str, Any]) -> dict[str, Any]:
        raise ValueError(f"can't read {body['agent_output']!r}")


class FullQueue(GroupCommit[Any, Any]):
    """A committer that takes on nothing more."""

    async def submit(self, item: Any) -> Any:
        raise QueueFull


def answer_with(live: Live, body: Any, **changed: Any) -> Answer:
    """The answer to a judge call of `live`'s services with some of them exchanged."""
    services = replace(live.app.services, **changed)
    endpoint = Endpoint(services, Cors(frozenset()), Metrics(merged=False), ())
    headers = HTTPHeaders({"Authorization": f"Bearer {live.keys[0]}", "Content-Type": "application/json"})
    request = Request("POST", "/v1/judge", "", headers, json.dumps(body).encode(), "127.0.0.1", "req_1")
    response: Response = asyncio.run_coroutine_threadsafe(endpoint.answer(request), live.loop).result(30)
    sent = {name.lower(): value for name, value in response.headers.items()}
    return Answer(
        response.status, {"x-request-id": "req_1", "x-content-type-options": "nosniff", **sent}, response.body
    )


def used(live: Live) -> int:
    return int(live.request("GET", "/v1/keys/me", key=live.keys[0]).json["free_calls"]["used"])


@pytest.mark.promise("ops.internal_error")
@pytest.mark.logs_errors
def test_a_mistake_in_an_engine_is_logged_without_what_was_judged(live: Live, caplog: pytest.LogCaptureFixture) -> None:
    live.new_key()
    body = {"task": "MARKER task", "agent_output": "MARKER output"}
    answer = answer_with(live, body, engines=FailingEngines(0))
    assert_problem(answer, "internal")
    assert b"MARKER" not in answer.body
    lines = [JsonFormatter().format(record) for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(lines) == 1
    written = json.loads(lines[0])
    assert (written["message"], written["request_id"]) == ("internal error", "req_1")
    assert "ValueError" in lines[0]
    assert "test_failures.py" in lines[0]
    assert "MARKER" not in lines[0]
    assert used(live) == 0


def allow_pages(live: Live, count: int) -> None:
    """Lets the database file grow to that many pages, and never makes it smaller: 1 fills it, as a disk would be."""

    async def limit(tx: Tx) -> None:
        await tx.run(f"PRAGMA max_page_count={count}")

    asyncio.run_coroutine_threadsafe(live.app.services.database.write(limit), live.loop).result(30)


@pytest.mark.promise("ops.storage_unavailable")
@pytest.mark.promise("http.retry_after")
def test_a_full_disk_is_a_503_and_the_server_recovers_without_a_restart(live: Live) -> None:
    key = live.new_key()
    to_keep = {"task": "t", "agent_output": "o", "evidence": ["e" * 4_000] * 2, "retain": True}
    allow_pages(live, 1)
    answers = [live.request("POST", "/v1/judge", to_keep, key=key) for _ in range(4)]
    assert_problem(answers[-1], "storage_unavailable")
    assert b"full" not in answers[-1].body
    assert b"verdict" not in answers[-1].body
    assert used(live) == [answer.status for answer in answers].count(200)
    assert live.request("GET", "/v1/health").status == 200
    before = used(live)
    allow_pages(live, 100_000)
    assert live.request("POST", "/v1/judge", to_keep, key=key).status == 200
    assert used(live) == before + 1


@pytest.mark.promise("ops.storage_unavailable")
@pytest.mark.logs_errors
def test_an_answer_whose_charge_fails_is_not_given(tmp_path: Path) -> None:
    with live_server(tmp_path) as live:
        key = live.new_key()
        trigger = "CREATE TRIGGER refuse BEFORE INSERT ON daily_use BEGIN SELECT RAISE(FAIL, 'refused'); END"
        with broken(tmp_path, trigger):
            answer = live.request("POST", "/v1/judge", example("judge"), key=key)
            assert_problem(answer, "internal")
            assert b"verdict" not in answer.body
        with broken(tmp_path, "DROP TRIGGER refuse"):
            assert used(live) == 0


@pytest.mark.promise("ops.overload")
def test_a_full_queue_is_a_503_and_free(live: Live) -> None:
    live.new_key()
    answer = answer_with(live, example("judge"), charges=FullQueue(_never))
    assert_problem(answer, "overloaded")
    assert b"verdict" not in answer.body
    assert used(live) == 0


async def _never(items: Any) -> Any:
    raise AssertionError("nothing is committed")


@pytest.mark.promise("ops.overload")
def test_only_so_much_large_work_is_taken_on() -> None:
    """All are asked for before the first can end, so that exactly the one beyond the bound is refused."""
    body = {"task": "t", "agent_output": "word " * (INLINE_CHARACTERS // 4), "evidence": [], "criteria": []}

    async def ask() -> list[Any]:
        pool = EnginePool(1)
        try:
            asked = [pool.run(judge_body, dict(body)) for _ in range(MAX_HEAVY + 1)]
            return list(await asyncio.gather(*asked, return_exceptions=True))
        finally:
            pool.close()

    *taken, refused = asyncio.run(ask())
    assert all(result["verdict"] == "retry" for result in taken)
    assert isinstance(refused, Problem)
    assert (refused.code, refused.headers["Retry-After"]) == ("overloaded", "1")


@pytest.mark.promise("ops.overload")
def test_small_work_goes_on_beside_large_work() -> None:
    async def ask() -> str:
        pool = EnginePool(1)
        try:
            large = {"task": "t", "agent_output": "word " * 12_000}
            waiting = [asyncio.ensure_future(pool.run(judge_body, dict(large))) for _ in range(4)]
            await asyncio.sleep(0)  # all have begun
            small = await pool.run(judge_body, {"task": "t", "agent_output": "o"})
            assert not waiting[-1].done()
            await asyncio.gather(*waiting)
            return str(small["verdict"])
        finally:
            pool.close()

    assert asyncio.run(ask()) == "retry"
