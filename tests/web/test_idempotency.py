"""Idempotency-Key over a real socket."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.examples import example
from tests.live import Answer, Live, live_server
from tests.problem_checks import assert_problem

DAY = 86_400


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with live_server(tmp_path) as server:
        server.new_key()
        yield server


def judge(live: Live, token: str, body: Any = None, key: str = "", path: str = "/v1/judge") -> Answer:
    body = example("judge") if body is None else body
    return live.request("POST", path, body, key=key or live.keys[0], headers={"Idempotency-Key": token})


def used(live: Live, key: str = "") -> int:
    return int(live.request("GET", "/v1/keys/me", key=key or live.keys[0]).json["free_calls"]["used"])


def replayed(answer: Answer) -> bool:
    assert answer.headers.get("idempotency-replayed", "true") == "true"
    return "idempotency-replayed" in answer.headers


@pytest.mark.promise("idempotency.once")
@pytest.mark.promise("idempotency.replayed")
@pytest.mark.parametrize("operation", ["judge", "consensus"])
def test_a_repeat_is_charged_once_and_has_the_first_ones_id(live: Live, operation: str) -> None:
    body, path = example(operation), f"/v1/{operation}"
    first, second = judge(live, "one", body, path=path), judge(live, "one", body, path=path)
    assert (first.status, replayed(first)) == (200, False)
    assert (second.status, replayed(second)) == (200, True)
    assert second.json == first.json
    assert second.headers["x-request-id"] == first.headers["x-request-id"] == first.json["request_id"]
    assert used(live) == 1


@pytest.mark.promise("idempotency.once")
def test_fifty_at_once_are_charged_once(live: Live) -> None:
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: judge(live, "many"), range(50)))
    assert {answer.status for answer in answers} == {200}
    assert [replayed(answer) for answer in answers].count(False) == 1
    assert len({answer.json["request_id"] for answer in answers}) == 1
    assert used(live) == 1


@pytest.mark.promise("idempotency.once")
def test_a_repeat_works_after_a_restart_and_for_24_hours(tmp_path: Path) -> None:
    with live_server(tmp_path) as live:
        key = live.new_key()
        first = judge(live, "restart")
        clock = live.clock
    with live_server(tmp_path, clock=clock) as live:
        clock.now += DAY - 1
        again = judge(live, "restart", key=key)
        assert (replayed(again), again.json["request_id"]) == (True, first.json["request_id"])
        clock.now += 1
        later = judge(live, "restart", key=key)
        assert (later.status, replayed(later)) == (200, False)
        assert later.json["request_id"] != first.json["request_id"]


@pytest.mark.promise("idempotency.once")
def test_a_repeat_of_a_used_up_key_is_still_answered(live: Live) -> None:
    first = judge(live, "last")
    for n in range(99):
        assert judge(live, f"filler-{n}").status == 200
    assert_problem(judge(live, "another"), "quota_exceeded")
    again = judge(live, "last")
    assert (again.status, replayed(again), again.json) == (200, True, first.json)


@pytest.mark.promise("idempotency.conflict")
def test_another_body_is_a_409(live: Live) -> None:
    assert judge(live, "body").status == 200
    assert_problem(judge(live, "body", {**example("judge"), "explain": True}), "idempotency_conflict")
    assert_problem(judge(live, "body", example("consensus"), path="/v1/consensus"), "idempotency_conflict")
    assert used(live) == 1


def test_the_same_json_written_otherwise_is_the_same_body(live: Live) -> None:
    first = judge(live, "order", b'{"task": "t", "agent_output": "o"}')
    again = judge(live, "order", b'{"agent_output":"\\u006f","task":"t"}')
    assert (again.status, replayed(again), again.json) == (200, True, first.json)


@pytest.mark.promise("idempotency.caller")
def test_another_key_is_another_caller(live: Live) -> None:
    other = live.new_key("other@example.com")
    assert not replayed(judge(live, "shared"))
    assert not replayed(judge(live, "shared", key=other))
    assert (used(live), used(live, other)) == (1, 1)


def test_a_rotated_key_is_the_same_caller(live: Live) -> None:
    first = judge(live, "rotated")
    secret = live.request("POST", "/v1/keys/me/rotate", key=live.keys[0]).json["key"]
    again = judge(live, "rotated", key=secret)
    assert (replayed(again), again.json["request_id"]) == (True, first.json["request_id"])


@pytest.mark.promise("idempotency.successes_only")
def test_what_was_refused_is_not_recorded(live: Live) -> None:
    assert_problem(judge(live, "retry", {"task": "t"}), "invalid_request")
    answer = judge(live, "retry")
    assert (answer.status, replayed(answer)) == (200, False)


@pytest.mark.promise("idempotency.header")
@pytest.mark.parametrize("token", ["", "x" * 256, "é", "a\tb"])
def test_a_token_that_is_not_1_to_255_printable_characters_is_a_400(live: Live, token: str) -> None:
    assert_problem(judge(live, token), "invalid_request")
    assert used(live) == 0


@pytest.mark.promise("idempotency.header")
@pytest.mark.parametrize("token", ["x", "x" * 255, "!~ #\"'"])
def test_a_token_within_the_limits_is_taken(live: Live, token: str) -> None:
    assert not replayed(judge(live, token))
    assert replayed(judge(live, token))


def test_where_no_token_is_taken_one_changes_nothing(live: Live) -> None:
    sent = {"Idempotency-Key": "x" * 300}
    assert live.request("GET", "/v1/keys/me", key=live.keys[0], headers=sent).status == 200
    assert live.request("GET", "/v1/health", headers=sent).status == 200


@pytest.mark.promise("idempotency.no_secret")
def test_a_secret_is_never_replayed(live: Live) -> None:
    sent = {"Idempotency-Key": "sign-up"}
    first = live.request("POST", "/v1/keys", example("create_key"), headers=sent)
    assert first.status == 201
    again = live.request("POST", "/v1/keys", example("create_key"), headers=sent)
    assert_problem(again, "secret_not_replayed")
    assert first.json["key"].encode() not in again.body
    other = live.request("POST", "/v1/keys", {"email": "b@example.com", "name": "x"}, headers=sent)
    assert_problem(other, "idempotency_conflict")
    # The first email has the fixture's key and this one: one is left.
    more = [live.request("POST", "/v1/keys", example("create_key")).status for _ in range(2)]
    assert more == [201, 429]


@pytest.mark.promise("idempotency.caller")
def test_the_caller_of_a_sign_up_is_its_address(tmp_path: Path) -> None:
    with live_server(tmp_path, TRUSTED_PROXIES="127.0.0.1") as live:
        statuses = [
            live.request(
                "POST",
                "/v1/keys",
                {"email": f"{n}@example.com", "name": "x"},
                headers={"Idempotency-Key": "same", "X-Forwarded-For": f"203.0.113.{n}"},
            ).status
            for n in (1, 2)
        ]
        assert statuses == [201, 201]


@pytest.mark.promise("idempotency.no_content")
def test_no_content_is_stored_for_a_repeat(tmp_path: Path) -> None:
    with live_server(tmp_path) as live:
        live.new_key()
        body = {"task": "MARKER-1", "agent_output": "MARKER-2", "evidence": ["MARKER-2"]}
        first = judge(live, "MARKER-3", body)
        assert judge(live, "MARKER-3", body).json == first.json
        for path in tmp_path.rglob("*"):
            assert not path.is_file() or b"MARKER" not in path.read_bytes(), path


@pytest.mark.promise("idempotency.replay_effects")
def test_a_repeat_keeps_the_kept_rows_id(live: Live) -> None:
    body = {**example("judge"), "retain": True}
    first, again = judge(live, "kept", body), judge(live, "kept", body)
    assert first.json["retention"]["retained"] is True
    assert again.json["retention"] == first.json["retention"]
    assert len(live.request("GET", "/v1/retention", key=live.keys[0]).json["data"]) == 1
