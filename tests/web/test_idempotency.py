"""Idempotency-Key over restarts and where none is taken; tests/web/test_replays.py has the rest."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples import example
from tests.live import Answer, Live, live_server

DAY = 86_400


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with live_server(tmp_path) as server:
        server.new_key()
        yield server


def judge(live: Live, token: str, key: str) -> Answer:
    return live.request("POST", "/v1/judge", example("judge"), key=key, headers={"Idempotency-Key": token})


def replayed(answer: Answer) -> bool:
    assert answer.status == 200, answer.body
    assert answer.headers.get("idempotency-replayed", "true") == "true"
    return "idempotency-replayed" in answer.headers


@pytest.mark.promise("idempotency.once")
def test_a_repeat_works_after_a_restart_and_for_24_hours(tmp_path: Path) -> None:
    with live_server(tmp_path) as live:
        key = live.new_key()
        first = judge(live, "restart", key)
        clock = live.clock
    with live_server(tmp_path, clock=clock) as live:
        clock.now += DAY - 1
        again = judge(live, "restart", key)
        assert (replayed(again), again.json["request_id"]) == (True, first.json["request_id"])
        clock.now += 1
        later = judge(live, "restart", key)
        assert not replayed(later)
        assert later.json["request_id"] != first.json["request_id"]


def test_where_no_token_is_taken_one_changes_nothing(live: Live) -> None:
    sent = {"Idempotency-Key": "x" * 300}
    assert live.request("GET", "/v1/keys/me", key=live.keys[0], headers=sent).status == 200
    assert live.request("GET", "/v1/health", headers=sent).status == 200
