"""The operator's routes over a real socket."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.examples import example
from tests.live import Answer, Live, live_server
from tests.problem_checks import assert_problem

TOKEN = "operator-token-of-these-tests"


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with live_server(tmp_path, ADMIN_TOKEN=TOKEN) as server:
        server.new_key()
        yield server


def ask(live: Live, method: str, path: str, body: Any = None, token: str = TOKEN) -> Answer:
    return live.request(method, f"/v1/admin/{path}", body, key=token)


def key_id(live: Live, key: str = "") -> str:
    return str(live.request("GET", "/v1/keys/me", key=key or live.keys[0]).json["id"])


ROUTES = [
    ("GET", "keys"),
    ("DELETE", "keys/x"),
    ("GET", "keys/x/credits"),
    ("POST", "keys/x/credits"),
    ("GET", "counts"),
]


@pytest.mark.promise("ops.admin_hidden")
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_without_a_token_the_routes_do_not_exist(tmp_path: Path, method: str, path: str) -> None:
    with live_server(tmp_path) as live:
        for token in ("", TOKEN, live.new_key()):
            assert_problem(ask(live, method, path, token=token), "not_found")


@pytest.mark.promise("ops.admin")
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_another_credential_is_a_401(live: Live, method: str, path: str) -> None:
    for token in (TOKEN + "x", TOKEN[:-1], live.keys[0]):
        assert_problem(ask(live, method, path, token=token), "unknown_key")
    assert_problem(live.request(method, f"/v1/admin/{path}"), "missing_key")


@pytest.mark.promise("ops.admin")
def test_keys_are_listed_and_found(live: Live) -> None:
    for n in range(3):
        live.clock.now += 1
        live.new_key(f"Dev{n}@example.com", f"key {n}")
    page = ask(live, "GET", "keys?limit=3").json
    assert [row["name"] for row in page["data"]] == ["key 2", "key 1", "key 0"]
    rest = ask(live, "GET", f"keys?limit=3&cursor={page['next_cursor']}").json
    assert ([row["name"] for row in rest["data"]], rest["next_cursor"]) == (["Local dev"], None)
    one = ask(live, "GET", "keys?email=DEV1@example.com").json["data"]
    assert [row["email"] for row in one] == ["dev1@example.com"]
    assert ask(live, "GET", f"keys?prefix={live.keys[2][:12]}").json["data"] == one
    assert ask(live, "GET", f"keys?id={one[0]['id']}").json["data"] == one
    assert ask(live, "GET", "keys?email=nobody@example.com").json["data"] == []
    assert live.keys[0].encode() not in ask(live, "GET", "keys").body


@pytest.mark.promise("ops.admin")
@pytest.mark.promise("charging.free_then_credits")
@pytest.mark.promise("facts.credits_after_free")
def test_granted_credits_are_used_after_the_free_calls_and_do_not_expire(live: Live) -> None:
    key, name = live.keys[0], key_id(live)
    granted = ask(live, "POST", f"keys/{name}/credits", {"calls": 7, "note": "A test"})
    assert (granted.status, granted.json) == (200, {"id": name, "credits": 7})
    live.use_up(key)
    assert live.request("GET", "/v1/keys/me", key=key).json["credits"] == 7
    statuses = [live.request("POST", "/v1/judge", example("judge"), key=key).status for _ in range(8)]
    assert statuses == [200] * 7 + [429]
    assert live.request("GET", "/v1/keys/me", key=key).json["credits"] == 0
    ask(live, "POST", f"keys/{name}/credits", {"calls": 2, "note": "More"})
    live.clock.now += 400 * 86_400
    read = live.request("GET", "/v1/keys/me", key=key).json
    assert (read["credits"], read["free_calls"]["remaining"]) == (2, 100)
    assert live.request("POST", "/v1/judge", example("judge"), key=key).status == 200
    assert live.request("GET", "/v1/keys/me", key=key).json["credits"] == 2


@pytest.mark.promise("ops.admin")
def test_credits_are_corrected_and_the_ledger_says_why(live: Live) -> None:
    name = key_id(live)
    for calls, note in ((10, "Grant"), (-4, "Counted twice"), (-10, "All of it")):
        assert ask(live, "POST", f"keys/{name}/credits", {"calls": calls, "note": note}).status == 200
        live.clock.now += 1
    ledger = ask(live, "GET", f"keys/{name}/credits").json
    assert ledger["credits"] == -4
    assert [(entry["calls"], entry["note"]) for entry in ledger["entries"]] == [
        (10, "Grant"),
        (-4, "Counted twice"),
        (-10, "All of it"),
    ]
    # A balance below zero stops paid calls and no free ones.
    assert live.request("POST", "/v1/judge", example("judge"), key=live.keys[0]).status == 200


@pytest.mark.promise("ops.admin")
def test_a_reference_counts_once(live: Live) -> None:
    name, body = key_id(live), {"calls": 5, "note": "Order", "reference": "order-1"}
    assert [ask(live, "POST", f"keys/{name}/credits", body).json["credits"] for _ in range(2)] == [5, 5]


@pytest.mark.parametrize(
    "body",
    [{"calls": 0, "note": "x"}, {"calls": 1}, {"note": "x"}, {"calls": 1.5, "note": "x"}, {"calls": 1, "note": ""}],
)
def test_a_grant_that_cannot_be_is_a_400(live: Live, body: dict[str, Any]) -> None:
    assert_problem(ask(live, "POST", f"keys/{key_id(live)}/credits", body), "invalid_request")


@pytest.mark.promise("ops.admin")
def test_a_revoked_key_is_dead_at_once(live: Live) -> None:
    name = key_id(live)
    assert live.request("POST", "/v1/judge", example("judge"), key=live.keys[0]).status == 200
    assert ask(live, "DELETE", f"keys/{name}").json == {"id": name, "deleted": True}
    assert_problem(live.request("POST", "/v1/judge", example("judge"), key=live.keys[0]), "unknown_key")
    assert_problem(ask(live, "DELETE", f"keys/{name}"), "not_found")
    assert_problem(ask(live, "GET", f"keys/{name}/credits"), "not_found")
    assert_problem(ask(live, "POST", f"keys/{name}/credits", {"calls": 1, "note": "x"}), "not_found")


@pytest.mark.promise("ops.admin")
def test_calls_are_counted(live: Live) -> None:
    live.request("POST", "/v1/judge", example("judge"), key=live.keys[0])
    live.request("POST", "/v1/consensus", example("consensus"), key=live.new_key("b@example.com"))
    counts = ask(live, "GET", "counts").json
    assert counts["keys"] == 2
    assert counts["usage"][0] == {"date": "2026-11-30", "calls": 2, "judge": 1, "consensus": 1}
    assert len(counts["usage"]) == 30


@pytest.mark.promise("ops.ready")
def test_ready_asks_the_database(live: Live) -> None:
    answer = live.request("GET", "/v1/ready")
    assert (answer.status, answer.json) == (200, {"status": "ready"})


@pytest.mark.promise("ops.metrics")
def test_metrics_are_the_operators_and_hold_no_content(live: Live) -> None:
    body = {"task": "MARKER", "agent_output": "MARKER", "agent_id": "MARKER"}
    live.request("POST", "/v1/judge", body, key=live.keys[0])
    live.request("GET", "/v1/MARKER?MARKER=MARKER", headers={"User-Agent": "MARKER"})
    for token in (None, TOKEN + "x", live.keys[0]):
        # Answered as any path of the site would be, which is not built here.
        assert_problem(live.request("GET", "/metrics", key=token), "site_unavailable")
    answer = live.request("GET", "/metrics", key=TOKEN)
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain")
    assert b"judge" in answer.body
    assert b"MARKER" not in answer.body
    assert live.keys[0][12:].encode() not in answer.body


@pytest.mark.promise("ops.metrics")
def test_metrics_do_not_exist_without_a_token(tmp_path: Path) -> None:
    with live_server(tmp_path) as live:
        assert_problem(live.request("GET", "/metrics", key=TOKEN), "site_unavailable")
