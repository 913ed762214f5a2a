"""The operator's routes on either database: hidden without a token, and exact in what they change."""

from pathlib import Path
from typing import Any

import pytest

from api.store import credits
from tests.live import NOON, Live
from tests.problem_checks import assert_problem
from tests.web.ledger import (
    OPERATOR,
    SMALL,
    grant,
    id_of,
    in_store,
    judge,
    ledger_server,
    many,
    me,
    operator,
    places_with,
    statuses,
    total,
)

ROUTES = (
    ("GET", "/keys"),
    ("GET", "/keys?id=key_x"),
    ("DELETE", "/keys/key_x"),
    ("GET", "/keys/key_x/credits"),
    ("POST", "/keys/key_x/credits"),
    ("GET", "/counts"),
)


@pytest.mark.promise("ops.admin_hidden")
def test_without_an_admin_token_nothing_is_there_for_anybody(tmp_path: Path, database_url: str) -> None:
    with ledger_server(tmp_path, database_url, ADMIN_TOKEN="") as live:
        key = live.new_key()
        nothing = live.request("GET", "/v1/admin/nothing").json["detail"]
        for method, path in ROUTES:
            body = {"calls": 1, "note": "x"} if method == "POST" else None
            for credential in (None, key, OPERATOR, ""):
                answer = live.request(method, f"/v1/admin{path}", body, key=credential)
                assert_problem(answer, "not_found")
                assert answer.json["detail"] == nothing, "as if the path did not exist"


@pytest.mark.promise("ops.admin")
def test_a_wrong_token_is_a_401_and_changes_nothing(ledger: Live) -> None:
    key = ledger.new_key()
    path = f"/v1/admin/keys/{id_of(ledger, key)}"
    wrong = (key, OPERATOR[:-1], OPERATOR + "x", OPERATOR.upper(), "", "x" * 5_000)
    for credential in wrong:
        assert_problem(ledger.request("DELETE", path, key=credential), "unknown_key")
        assert_problem(
            ledger.request("POST", f"{path}/credits", {"calls": 9, "note": "x"}, key=credential), "unknown_key"
        )
    for scheme in ("Basic", "Token", ""):
        refused = ledger.request("DELETE", path, headers={"Authorization": f"{scheme} {OPERATOR}".strip()})
        assert_problem(refused, "unknown_key")
    non_ascii = {"Authorization": "Bearer \xe9\xe9"}
    assert_problem(ledger.request("DELETE", path, headers=non_ascii), "unknown_key")
    assert_problem(ledger.request("DELETE", path), "missing_key")
    assert me(ledger, key)["credits"] == 0
    assert ledger.request("DELETE", path, headers={"Authorization": f"bearer  {OPERATOR}"}).status == 200


def test_the_operators_token_is_no_api_key(ledger: Live) -> None:
    assert_problem(judge(ledger, OPERATOR), "unknown_key")


def listed(live: Live, query: str = "") -> list[str]:
    answer = operator(live, "GET", f"/keys{query}")
    assert answer.status == 200, answer
    return [row["name"] for row in answer.json["data"]]


@pytest.mark.promise("ops.admin")
def test_keys_are_found_by_email_prefix_and_id(ledger: Live) -> None:
    secrets = {}
    for n, email in enumerate(("a@example.com", "A@Example.com", "b@example.com")):
        ledger.clock.now = NOON + n
        secrets[f"k{n}"] = ledger.new_key(email, f"k{n}")
    first = me(ledger, secrets["k0"])
    assert listed(ledger) == ["k2", "k1", "k0"]
    assert listed(ledger, "?email=a@example.com") == ["k1", "k0"]
    assert listed(ledger, "?email=A%40EXAMPLE.com") == ["k1", "k0"]
    assert listed(ledger, f"?prefix={secrets['k1'][:12]}") == ["k1"]
    assert listed(ledger, f"?id={first['id']}") == ["k0"]
    assert listed(ledger, f"?email=a@example.com&prefix={secrets['k0'][:12]}") == ["k0"]
    for query in ("email=a", "email=%25", "prefix=scr_", "id=key_", f"id={first['id']}&email=b@example.com"):
        assert listed(ledger, f"?{query}") == [], query
    (row,) = operator(ledger, "GET", f"/keys?id={first['id']}").json["data"]
    assert row == {
        "id": first["id"],
        "email": "a@example.com",
        "name": "k0",
        "prefix": secrets["k0"][:12],
        "created_at": "2026-11-30T12:00:00Z",
        "credits": 0,
    }
    whole = operator(ledger, "GET", "/keys").body.decode()
    assert not [secret for secret in secrets.values() if secret[12:] in whole]


@pytest.mark.promise("ops.admin", "http.lists")
def test_keys_come_in_pages_without_doubles_or_gaps(ledger: Live) -> None:
    for n in range(11):
        ledger.clock.now = NOON + n // 4
        ledger.new_key(f"k{n}@example.com", f"k{n}")
    seen, query = [], "?limit=3"
    while True:
        page = operator(ledger, "GET", f"/keys{query}").json
        seen += [row["name"] for row in page["data"]]
        if page["next_cursor"] is None:
            break
        assert len(page["data"]) == 3
        assert len(seen) < 20, "rows come again"
        query = f"?limit=3&cursor={page['next_cursor']}"
        ledger.clock.now += 60
        ledger.new_key(f"later{len(seen)}@example.com", "later")
    assert sorted(seen) == sorted(f"k{n}" for n in range(11))
    for query in ("limit=0", "limit=101", "cursor=x", f"email={'x' * 255}", f"prefix={'x' * 13}", f"id={'x' * 101}"):
        assert_problem(operator(ledger, "GET", f"/keys?{query}"), "invalid_request")
    assert_problem(operator(ledger, "GET", "/keys?id=%00"), "invalid_request")


@pytest.mark.promise("ops.admin")
def test_a_revoked_key_is_dead_at_once_and_leaves_nothing(ledger: Live, tmp_path: Path) -> None:
    key, stays = ledger.new_key("revoked@example.com", "revoked"), ledger.new_key()
    key_id = id_of(ledger, key)
    grant(ledger, key_id, 3)
    assert judge(ledger, key, SMALL | {"retain": True}, Idempotency_Key="k").status == 200
    revoked = operator(ledger, "DELETE", f"/keys/{key_id}")
    assert (revoked.status, revoked.json) == (200, {"id": key_id, "deleted": True})
    for answer in (judge(ledger, key), judge(ledger, key, SMALL, Idempotency_Key="k"), judge(ledger, key, {})):
        assert_problem(answer, "unknown_key")
    assert_problem(ledger.request("GET", "/v1/keys/me", key=key), "unknown_key")
    assert_problem(operator(ledger, "DELETE", f"/keys/{key_id}"), "not_found")
    assert_problem(operator(ledger, "GET", f"/keys/{key_id}/credits"), "not_found")
    assert_problem(grant(ledger, key_id, 1), "not_found")
    assert places_with(ledger, tmp_path, key_id) == places_with(ledger, tmp_path, "revoked") == []
    assert judge(ledger, stays).status == 200


@pytest.mark.promise("ops.admin")
def test_credits_are_granted_and_corrected_with_a_note_and_may_end_below_zero(ledger: Live) -> None:
    key = ledger.new_key()
    key_id = id_of(ledger, key)
    empty = operator(ledger, "GET", f"/keys/{key_id}/credits").json
    assert empty == {"id": key_id, "credits": 0, "entries": []}
    steps = [(100, "welcome", None), (-30, "a mistake “x”", "fix 1"), (-100, "refund", "refund 1"), (5, "gift", None)]
    for n, (calls, note, reference) in enumerate(steps):
        ledger.clock.now = NOON + n
        fields = {"note": note} | ({"reference": reference} if reference else {})
        answer = operator(ledger, "POST", f"/keys/{key_id}/credits", {"calls": calls, **fields})
        assert answer.json == {"id": key_id, "credits": [100, 70, -30, -25][n]}
    ledger_read = operator(ledger, "GET", f"/keys/{key_id}/credits").json
    assert ledger_read["credits"] == me(ledger, key)["credits"] == -25
    entries = ledger_read["entries"]
    assert [(entry["calls"], entry["note"]) for entry in entries] == [(calls, note) for calls, note, _ in steps]
    assert [entry["reason"] for entry in entries] == ["grant", "correction", "correction", "grant"]
    assert [entry["reference"] for entry in entries][1:3] == ["fix 1", "refund 1"]
    assert [entry["created_at"] for entry in entries] == [f"2026-11-30T12:00:0{n}Z" for n in range(4)]
    assert len({entry["id"] for entry in entries}) == 4


@pytest.mark.promise("ops.admin")
def test_the_same_reference_counts_once_for_a_key_also_at_once(ledger: Live) -> None:
    one, two = (id_of(ledger, ledger.new_key()) for _ in range(2))
    answers = many(20, lambda n: grant(ledger, one, 10, reference="order 1"))
    assert [answer.json["credits"] for answer in answers] == [10] * 20
    assert grant(ledger, one, 99, reference="order 1").json["credits"] == 10
    assert grant(ledger, two, 10, reference="order 1").json["credits"] == 10
    assert grant(ledger, one, 1).json["credits"] == 11
    assert grant(ledger, one, 1).json["credits"] == 12
    assert total(ledger, "credit_entries", "calls") == 22
    assert in_store(ledger, lambda database: database.read(credits.faults)) == []


def test_whole_numbers_are_taken_however_they_are_written(ledger: Live) -> None:
    key_id = id_of(ledger, ledger.new_key())
    for written, balance in ((b"5.0", 5), (b"1e2", 105), (b"-5", 100)):
        body = b'{"calls": ' + written + b', "note": "x"}'
        answer = operator(ledger, "POST", f"/keys/{key_id}/credits", body)
        assert answer.json["credits"] == balance
        assert b'"credits":%d}' % balance in answer.body
    entries = operator(ledger, "GET", f"/keys/{key_id}/credits")
    assert b'"calls":5,' in entries.body


BAD: dict[str, Any] = {
    "nothing": {},
    "no note": {"calls": 1},
    "no calls": {"note": "x"},
    "an empty note": {"calls": 1, "note": ""},
    "a long note": {"calls": 1, "note": "x" * 501},
    "no change": {"calls": 0, "note": "x"},
    "half a call": {"calls": 0.5, "note": "x"},
    "a text": {"calls": "1", "note": "x"},
    "too many": {"calls": 100_000_001, "note": "x"},
    "too many back": {"calls": -100_000_001, "note": "x"},
    "an empty reference": {"calls": 1, "note": "x", "reference": ""},
    "a long reference": {"calls": 1, "note": "x", "reference": "x" * 201},
    "an unknown field": {"calls": 1, "note": "x", "reason": "gift"},
}


def test_a_change_that_cannot_be_is_a_400(ledger: Live) -> None:
    key_id = id_of(ledger, ledger.new_key())
    for body in BAD.values():
        assert_problem(operator(ledger, "POST", f"/keys/{key_id}/credits", body), "invalid_request")
    assert total(ledger, "credit_entries", "1") == 0


@pytest.mark.promise("ops.admin")
def test_calls_and_keys_are_counted(ledger: Live) -> None:
    one, two = ledger.new_key(), ledger.new_key()
    many(12, lambda n: judge(ledger, (one, two)[n % 2]))
    ledger.clock.now += 86_400
    body = {"task": "t", "answers": [{"output": "a"}, {"output": "b"}]}
    assert ledger.request("POST", "/v1/consensus", body, key=one).status == 200
    assert judge(ledger, one, {}).status == 400
    counts = operator(ledger, "GET", "/counts").json
    assert counts["keys"] == 2
    assert len(counts["usage"]) == 30
    assert counts["usage"][:3] == [
        {"date": "2026-12-01", "calls": 1, "judge": 0, "consensus": 1},
        {"date": "2026-11-30", "calls": 12, "judge": 12, "consensus": 0},
        {"date": "2026-11-29", "calls": 0, "judge": 0, "consensus": 0},
    ]
    ledger.request("DELETE", "/v1/keys/me", key=two)
    counts = operator(ledger, "GET", "/counts").json
    assert (counts["keys"], counts["usage"][1]["calls"]) == (1, 6)


def test_operators_on_two_nodes_see_the_same(tmp_path: Path, database_url: str, ledger: Live) -> None:
    with ledger_server(tmp_path, database_url, clock=ledger.clock) as other:
        key = ledger.new_key()
        key_id = id_of(ledger, key)
        answers = many(20, lambda n: grant((ledger, other)[n % 2], key_id, 1))
        assert statuses(answers) == [200] * 20
        assert sorted(answer.json["credits"] for answer in answers) == list(range(1, 21))
        assert operator(other, "DELETE", f"/keys/{key_id}").status == 200
        assert_problem(judge(ledger, key), "unknown_key")
