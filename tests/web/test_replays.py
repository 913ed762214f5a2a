"""Idempotency-Key on either database and on two nodes: one charge, the same answer, no trace of key or body."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.examples import example
from tests.live import NOON, Answer, Live
from tests.problem_checks import assert_problem
from tests.web.ledger import SMALL, judge, ledger_server, many, me, places_with, statuses, total, use_up


def used(live: Live, key: str) -> int:
    return int(me(live, key)["free_calls"]["used"])


def is_replay(answer: Answer) -> bool:
    return "idempotency-replayed" in answer.headers


def assert_replayed(answer: Answer, first: Answer) -> None:
    """Fails unless `answer` repeats `first` and says so."""
    assert answer.status == first.status == 200
    assert answer.headers["idempotency-replayed"] == "true"
    assert not is_replay(first)
    assert answer.json == first.json
    assert answer.json["request_id"] == answer.headers["x-request-id"] == first.headers["x-request-id"]


@pytest.mark.promise("idempotency.once", "idempotency.replayed")
@pytest.mark.parametrize("operation", ["judge", "consensus"])
def test_the_same_call_again_is_charged_once_and_keeps_its_request_id(ledger: Live, operation: str) -> None:
    key, headers = ledger.new_key(), {"Idempotency-Key": "order 66"}
    body = example(operation) | {"agent_id": "a", "version": "1"}
    first = ledger.request("POST", f"/v1/{operation}", body, key=key, headers=headers)
    for _ in range(3):
        assert_replayed(ledger.request("POST", f"/v1/{operation}", body, key=key, headers=headers), first)
    assert used(ledger, key) == me(ledger, key)["usage"][0]["calls"] == 1


SAME = (
    b'{"task": "t", "agent_output": "\\u00e9/x", "evidence": ["a", "b"], "criteria": ["c"]}',
    b'{"task":"t","agent_output":"\xc3\xa9/x","evidence":["a","b"],"criteria":["c"]}',
    b'  {"criteria": ["c"],\r\n\t"evidence": ["a","b"], "agent_output": "\xc3\xa9\\/x", "task": "\\u0074"} \n',
)
OTHER = (
    b'{"task": "t", "agent_output": "e/x", "evidence": ["a", "b"], "criteria": ["c"]}',
    b'{"task": "t", "agent_output": "e\xcc\x81/x", "evidence": ["a", "b"], "criteria": ["c"]}',
    b'{"task": "t", "agent_output": "\xc3\xa9/x", "evidence": ["b", "a"], "criteria": ["c"]}',
    b'{"task": "t", "agent_output": "\xc3\xa9/x ", "evidence": ["a", "b"], "criteria": ["c"]}',
    b'{"task": "t", "agent_output": "\xc3\xa9/x", "evidence": ["a", "b"]}',
    b'{"task": "t", "agent_output": "\xc3\xa9/x", "evidence": ["a", "b"], "criteria": ["c"], "agent_id": "a"}',
)


@pytest.mark.promise("idempotency.once", "idempotency.conflict")
def test_equal_json_is_the_same_body_and_anything_else_is_another(ledger: Live) -> None:
    key = ledger.new_key()
    first = judge(ledger, key, SAME[0], Idempotency_Key="k")
    for body in SAME:
        assert_replayed(judge(ledger, key, body, Idempotency_Key="k"), first)
    for body in OTHER:
        assert_problem(judge(ledger, key, body, Idempotency_Key="k"), "idempotency_conflict")
    assert_replayed(judge(ledger, key, SAME[0], Idempotency_Key="k"), first)
    assert used(ledger, key) == 1


@pytest.mark.promise("idempotency.conflict")
def test_the_same_key_on_another_endpoint_is_a_conflict(ledger: Live) -> None:
    key, headers = ledger.new_key(), {"Idempotency-Key": "k"}
    assert ledger.request("POST", "/v1/consensus", example("consensus"), key=key, headers=headers).status == 200
    assert_problem(judge(ledger, key, Idempotency_Key="k"), "idempotency_conflict")
    assert used(ledger, key) == 1


@pytest.mark.promise("idempotency.once")
def test_fifty_at_once_are_one_charge_and_49_replays(ledger: Live) -> None:
    key = ledger.new_key()
    answers = many(50, lambda n: judge(ledger, key, Idempotency_Key="k"))
    assert statuses(answers) == [200] * 50
    assert sum(map(is_replay, answers)) == 49
    assert {answer.headers["x-request-id"] for answer in answers} == {answers[0].json["request_id"]}
    assert len({answer.body for answer in answers}) == 1
    assert used(ledger, key) == total(ledger, "drift_hours", "calls") == 1


@pytest.mark.promise("idempotency.once", "store.postgresql")
def test_fifty_at_once_on_two_nodes_are_one_charge(tmp_path: Path, database_url: str, ledger: Live) -> None:
    key = ledger.new_key()
    with ledger_server(tmp_path, database_url, clock=ledger.clock) as other:
        answers = many(50, lambda n: judge((ledger, other)[n % 2], key, Idempotency_Key="k"))
    assert statuses(answers) == [200] * 50
    assert sum(map(is_replay, answers)) == 49
    assert len({answer.json["request_id"] for answer in answers}) == 1
    assert used(ledger, key) == 1


@pytest.mark.promise("idempotency.conflict")
def test_two_bodies_at_once_under_one_key_are_one_charge_and_conflicts(ledger: Live) -> None:
    key = ledger.new_key()
    answers = many(30, lambda n: judge(ledger, key, SMALL | {"agent_id": f"a{n % 2}"}, Idempotency_Key="k"))
    assert statuses(answers) == [200] * 15 + [409] * 15
    assert used(ledger, key) == 1


@pytest.mark.promise("idempotency.once")
def test_a_key_is_remembered_for_24_hours(ledger: Live) -> None:
    key = ledger.new_key()
    first = judge(ledger, key, Idempotency_Key="k")
    ledger.clock.now = NOON + 86_399
    assert_replayed(judge(ledger, key, Idempotency_Key="k"), first)
    assert used(ledger, key) == 0, "nothing was charged on the second day"
    ledger.clock.now = NOON + 86_400
    anew = judge(ledger, key, SMALL | {"agent_id": "another-body"}, Idempotency_Key="k")
    assert (anew.status, is_replay(anew)) == (200, False)
    assert anew.json["request_id"] != first.json["request_id"]
    assert used(ledger, key) == 1


@pytest.mark.promise("idempotency.once", "idempotency.successes_only")
def test_a_replay_is_answered_when_the_free_calls_are_gone_and_a_refusal_is_not_remembered(ledger: Live) -> None:
    key = ledger.new_key()
    first = judge(ledger, key, Idempotency_Key="k")
    assert judge(ledger, key, {"task": "t"}, Idempotency_Key="later").status == 400
    use_up(ledger, key)
    assert_problem(judge(ledger, key, Idempotency_Key="later"), "quota_exceeded")
    assert_replayed(judge(ledger, key, Idempotency_Key="k"), first)
    assert_problem(judge(ledger, key, OTHER[0], Idempotency_Key="k"), "idempotency_conflict")
    ledger.clock.now = NOON + 43_200
    later = judge(ledger, key, OTHER[0], Idempotency_Key="later")
    assert (later.status, is_replay(later)) == (200, False)


@pytest.mark.promise("idempotency.caller")
def test_two_keys_are_two_callers_and_a_rotated_one_stays_the_same(ledger: Live) -> None:
    one, two = ledger.new_key(), ledger.new_key()
    first, second = (judge(ledger, key, Idempotency_Key="k") for key in (one, two))
    assert not is_replay(second)
    assert first.json["request_id"] != second.json["request_id"]
    newer = ledger.request("POST", "/v1/keys/me/rotate", key=one).json["key"]
    assert_replayed(judge(ledger, newer, Idempotency_Key="k"), first)
    assert (used(ledger, newer), used(ledger, two)) == (1, 1)


@pytest.mark.promise("idempotency.replay_effects")
def test_a_replay_keeps_the_retained_row_and_counts_in_no_drift(ledger: Live) -> None:
    key, body = ledger.new_key(), SMALL | {"retain": True, "agent_id": "a"}
    first = judge(ledger, key, body, Idempotency_Key="k")
    assert first.json["retention"]["retained"] is True
    ledger.clock.now += 60
    assert_replayed(judge(ledger, key, body, Idempotency_Key="k"), first)
    (row,) = ledger.request("GET", "/v1/retention", key=key).json["data"]
    assert (row["id"], row["response"]) == (first.json["retention"]["id"], first.json)
    assert total(ledger, "drift_hours", "calls") == 1

    assert ledger.request("DELETE", f"/v1/retention/{row['id']}", key=key).status == 200
    again = judge(ledger, key, body, Idempotency_Key="k")
    assert again.json["retention"] == {"retained": False, "reason": "The retained row has expired or was deleted."}
    assert ledger.request("GET", "/v1/retention", key=key).json["data"] == []


def test_a_replay_of_a_call_that_was_not_kept_says_why_as_the_first_answer_did(ledger: Live) -> None:
    key, body = ledger.new_key(), SMALL | {"retain": True}
    ledger.request("PATCH", "/v1/account/settings", {"retention_days": 0}, key=key)
    first = judge(ledger, key, body, Idempotency_Key="k")
    assert_replayed(judge(ledger, key, body, Idempotency_Key="k"), first)
    ledger.request("PATCH", "/v1/account/settings", {"retention_days": 1}, key=key)
    assert_replayed(judge(ledger, key, body, Idempotency_Key="k"), first)
    assert ledger.request("GET", "/v1/retention", key=key).json["data"] == []


@pytest.mark.promise("idempotency.header")
def test_a_key_is_taken_to_the_last_character_whatever_it_holds(ledger: Live) -> None:
    key = ledger.new_key()
    tokens = [
        "x" * 255,
        "x" * 254,
        "a b",
        "'; DROP TABLE idempotency; --",
        '~!@#$%^&*(){}[]:"<>?,./\\|',
        "a",
        "A",
        "%61",
    ]
    first = [judge(ledger, key, Idempotency_Key=token) for token in tokens]
    for token, answer in zip(tokens, first, strict=True):
        assert_replayed(judge(ledger, key, Idempotency_Key=token), answer)
    assert used(ledger, key) == len(tokens)
    for bad in ("", "x" * 256, "schlüssel", "a\tb"):
        assert_problem(judge(ledger, key, Idempotency_Key=bad), "invalid_request")
        assert_problem(create(ledger, bad), "invalid_request")
    assert used(ledger, key) == len(tokens)


@pytest.mark.promise("idempotency.no_content")
def test_neither_key_nor_body_is_stored_nor_a_hash_that_could_be_tried_out(ledger: Live, tmp_path: Path) -> None:
    """A plain hash of a short body would give it away to whoever guesses; an HMAC under SECRET_KEY does not."""
    key, token, text = ledger.new_key(), "idempotency-marker-17", "content-marker-17"
    body = {"task": "t", "agent_output": text}
    first = judge(ledger, key, body, Idempotency_Key=token)
    assert_replayed(judge(ledger, key, body, Idempotency_Key=token), first)
    assert places_with(ledger, tmp_path, first.json["request_id"]) != [], "the record itself is there"
    raw = [json.dumps(body), json.dumps(body, separators=(",", ":")), json.dumps(body, sort_keys=True), token, text]
    hashes = [kind(value.encode()).hexdigest() for kind in (hashlib.sha256, hashlib.sha1, hashlib.md5) for value in raw]
    for value in (token, text, *hashes):
        assert places_with(ledger, tmp_path, value) == []


@pytest.mark.promise("idempotency.no_content")
def test_under_another_secret_key_no_record_is_recognised(tmp_path: Path, database_url: str) -> None:
    """The hashes are keyed."""
    with ledger_server(tmp_path, database_url) as live:
        key = live.new_key()
        judge(live, key, Idempotency_Key="k")
    with ledger_server(tmp_path, database_url, SECRET_KEY="another secret key") as live:
        assert not is_replay(judge(live, key, Idempotency_Key="k"))
        assert used(live, key) == 2


def create(live: Live, token: str, body: Any = None, **headers: str) -> Answer:
    sent = {"Idempotency-Key": token, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return live.request("POST", "/v1/keys", body or example("create_key"), headers=sent)


@pytest.mark.promise("idempotency.no_secret")
def test_a_key_made_once_is_not_made_again_and_its_secret_not_shown_again(ledger: Live) -> None:
    first = create(ledger, "k")
    assert first.status == 201
    again = create(ledger, "k")
    assert_problem(again, "secret_not_replayed")
    assert first.json["key"] not in again.body.decode()
    assert first.headers["x-request-id"] in again.json["detail"]
    assert_problem(create(ledger, "k", {"email": "other@example.com", "name": "x"}), "idempotency_conflict")
    assert create(ledger, "another").status == 201
    ledger.clock.now = NOON + 86_400
    assert create(ledger, "k").status == 201


@pytest.mark.promise("idempotency.no_secret")
def test_fifty_sign_ups_at_once_under_one_key_make_one_key(ledger: Live) -> None:
    answers = many(50, lambda n: create(ledger, "k"))
    assert statuses(answers) == [201] + [409] * 49
    assert {answer.json["code"] for answer in answers if answer.status == 409} == {"secret_not_replayed"}
    assert total(ledger, "keys", "1") == 1


@pytest.mark.promise("idempotency.caller", "idempotency.successes_only")
def test_sign_ups_are_told_apart_by_address_and_refusals_are_not_remembered(tmp_path: Path, database_url: str) -> None:
    with ledger_server(tmp_path, database_url, TRUSTED_PROXIES="127.0.0.1", SIGNUPS_PER_HOUR="1") as live:
        assert create(live, "k", X_Forwarded_For="198.51.100.1").status == 201
        assert create(live, "k", X_Forwarded_For="198.51.100.2").status == 201
        assert_problem(create(live, "k", X_Forwarded_For="198.51.100.1"), "secret_not_replayed")
        assert_problem(create(live, "j", X_Forwarded_For="198.51.100.1"), "rate_limited")
        live.clock.now += 3_600
        assert create(live, "j", X_Forwarded_For="198.51.100.1").status == 201
