"""Kept content over real sockets: only what a call asked for, for 24 hours, for its key alone, and then nowhere."""

import logging
from pathlib import Path
from typing import Any

import pytest

from api.service import upkeep
from api.store import retention
from api.store.retention import Retained
from tests.examples import example, the_contract
from tests.live import NOON, Live
from tests.problem_checks import assert_problem
from tests.stored import files_with
from tests.web.ledger import SMALL, grant, id_of, in_store, judge, ledger_server, me, places_with, total, use_up

MARKER = "quartz-meridian-8816"


def kept(live: Live, key: str, query: str = "") -> Any:
    answer = live.request("GET", f"/v1/retention{query}", key=key)
    assert answer.status == 200, answer
    assert the_contract().body_schema("RetainedPage").faults(answer.json) == []
    return answer.json


def keep(live: Live, key: str, **fields: Any) -> str:
    """The id of the row that one more call left."""
    answer = judge(live, key, SMALL | {"retain": True} | fields)
    assert answer.json["retention"]["retained"] is True, answer
    return str(answer.json["retention"]["id"])


@pytest.mark.promise("retention.list", "retention.retained")
@pytest.mark.parametrize("operation", ["judge", "consensus"])
def test_a_kept_call_is_listed_as_it_was(ledger: Live, operation: str) -> None:
    key, body = ledger.new_key(), example(operation) | {"retain": True, "agent_id": "a", "version": "1.0 ü"}
    answer = ledger.request("POST", f"/v1/{operation}", body, key=key)
    row_id = answer.json["retention"]["id"]
    assert answer.json["retention"] == {"retained": True, "id": row_id, "expires_at": "2026-12-01T12:00:00Z"}
    assert list(answer.json["retention"]) == ["retained", "id", "expires_at"]
    row = {
        "id": row_id,
        "endpoint": operation,
        "created_at": "2026-11-30T12:00:00Z",
        "expires_at": "2026-12-01T12:00:00Z",
        "request": body,
        "response": answer.json,
    }
    assert kept(ledger, key) == {"data": [row], "next_cursor": None}
    (shown,) = kept(ledger, key)["data"]
    assert list(shown) == list(row)
    assert list(shown["request"]) == list(body)
    assert list(shown["response"]) == list(answer.json)


@pytest.mark.promise("retention.list")
def test_a_call_is_kept_only_when_it_asks_for_it(ledger: Live) -> None:
    key = ledger.new_key()
    for body in (SMALL, SMALL | {"retain": False}):
        assert judge(ledger, key, body).json["retention"] == {"retained": False}
    assert judge(ledger, key, SMALL | {"retain": True, "task": ""}).status == 400
    assert kept(ledger, key) == {"data": [], "next_cursor": None}
    assert total(ledger, "retained", "1") == 0


def test_a_refused_call_keeps_nothing(ledger: Live) -> None:
    key = ledger.new_key()
    use_up(ledger, key)
    assert judge(ledger, key, SMALL | {"retain": True, "agent_output": MARKER}).status == 429
    assert total(ledger, "retained", "1") == 0


@pytest.mark.promise("retention.off", "settings.fields")
def test_with_retention_days_0_nothing_is_kept_and_the_answer_says_so(ledger: Live) -> None:
    key = ledger.new_key()
    keep(ledger, key)
    assert ledger.request("PATCH", "/v1/account/settings", {"retention_days": 0}, key=key).status == 200
    off = judge(ledger, key, SMALL | {"retain": True})
    assert off.json["retention"] == {"retained": False, "reason": "Retention is off for this key."}
    assert judge(ledger, key).json["retention"] == {"retained": False}
    assert total(ledger, "retained", "1") == 1
    assert total(ledger, "drift_hours", "calls") == 3, "counts hold no content and go on"
    ledger.request("PATCH", "/v1/account/settings", {"retention_days": 1}, key=key)
    keep(ledger, key)


@pytest.mark.promise("retention.off", "store.postgresql")
def test_a_setting_made_on_one_node_holds_on_the_other_at_once(tmp_path: Path, database_url: str, ledger: Live) -> None:
    key = ledger.new_key()
    with ledger_server(tmp_path, database_url, clock=ledger.clock) as other:
        keep(other, key)
        ledger.request("PATCH", "/v1/account/settings", {"retention_days": 0}, key=key)
        off = judge(other, key, SMALL | {"retain": True, "agent_output": MARKER})
        assert off.json["retention"] == {"retained": False, "reason": "Retention is off for this key."}
    assert places_with(ledger, tmp_path, MARKER) == []


@pytest.mark.promise("http.lists", "retention.list")
def test_pages_follow_each_other_newest_first_while_rows_are_added(ledger: Live) -> None:
    key = ledger.new_key()
    made = []
    for n in range(23):
        # Three rows a second: within one the order is the ids'.
        ledger.clock.now = NOON + n // 3
        made.append(keep(ledger, key, agent_id=f"a{n}"))
    seen, query, sizes = [], "?limit=5", []
    while True:
        page = kept(ledger, key, query)
        seen += page["data"]
        sizes.append(len(page["data"]))
        assert len(sizes) < 20, "rows come again"
        if page["next_cursor"] is None:
            break
        query = f"?limit=5&cursor={page['next_cursor']}"
        ledger.clock.now += 60
        keep(ledger, key)
    assert sizes == [5, 5, 5, 5, 3]
    ids = [row["id"] for row in seen]
    assert sorted(ids) == sorted(made), "no double, no gap, none of the rows added meanwhile"
    assert [(row["created_at"], row["id"]) for row in seen] == sorted(
        [(row["created_at"], row["id"]) for row in seen], reverse=True
    )


@pytest.mark.promise("http.lists")
def test_a_page_has_20_rows_unless_asked_and_100_at_most(ledger: Live) -> None:
    key = ledger.new_key()
    key_id = id_of(ledger, key)
    rows = [Retained(f"ret_{n}", key_id, "judge", int(NOON) - n, int(NOON) + 9, "{}", "{}") for n in range(101)]
    in_store(ledger, lambda database: database.write(retention.add_all, rows))
    assert [len(kept(ledger, key, query)["data"]) for query in ("", "?limit=1", "?limit=100")] == [20, 1, 100]
    first = kept(ledger, key, "?limit=100")
    last = kept(ledger, key, f"?limit=100&cursor={first['next_cursor']}")
    assert (len(last["data"]), last["next_cursor"]) == (1, None)
    assert not {row["id"] for row in first["data"]} & {row["id"] for row in last["data"]}


BAD_QUERIES = {
    "limit=0": "limit",
    "limit=101": "limit",
    "limit=-1": "limit",
    "limit=": "limit",
    "limit=ten": "limit",
    "limit=1.5": "limit",
    "limit=1e1": "limit",
    "limit=99999999999999999999999": "limit",
    "limit=%00": None,
    "cursor=": "cursor",
    "cursor=x": "cursor",
    "cursor=bm93OnJldF8x": "cursor",
    "cursor=LTE6cmV0XzE": "cursor",
    "cursor=NDYxMTY4NjAxODQyNzM4NzkwNDpyZXQ": "cursor",
    "cursor=%F0%9F%98%80": "cursor",
    f"cursor={'MTo' * 100}": "cursor",
    "limit=0&cursor=x": "limit",
}


@pytest.mark.promise("http.lists")
def test_a_page_that_cannot_be_is_a_400_that_names_the_parameter(ledger: Live) -> None:
    key = ledger.new_key()
    for query, name in BAD_QUERIES.items():
        answer = ledger.request("GET", f"/v1/retention?{query}", key=key)
        assert_problem(answer, "invalid_request")
        if name is not None:
            assert name in [error["path"].strip("/") for error in answer.json["errors"]], query


def test_a_limit_with_two_signs_is_a_400(ledger: Live) -> None:
    assert_problem(ledger.request("GET", "/v1/retention?limit=--5", key=ledger.new_key()), "invalid_request")


@pytest.mark.promise("http.lists")
def test_a_cursor_whose_row_is_gone_still_goes_on_from_its_place(ledger: Live) -> None:
    key = ledger.new_key()
    for n in range(5):
        ledger.clock.now = NOON + n
        keep(ledger, key)
    first = kept(ledger, key, "?limit=2")
    rest = kept(ledger, key)["data"][2:]
    for row in first["data"]:
        assert ledger.request("DELETE", f"/v1/retention/{row['id']}", key=key).status == 200
    assert kept(ledger, key, f"?cursor={first['next_cursor']}")["data"] == rest


@pytest.mark.promise("retention.expiry", "facts.retention_hours")
def test_a_row_is_gone_after_24_hours_to_the_second(ledger: Live, tmp_path: Path) -> None:
    key = ledger.new_key()
    row_id = keep(ledger, key, agent_output=MARKER)
    ledger.clock.now = NOON + 86_399
    assert len(kept(ledger, key)["data"]) == 1
    ledger.clock.now = NOON + 86_400
    assert kept(ledger, key)["data"] == []
    assert_problem(ledger.request("DELETE", f"/v1/retention/{row_id}", key=key), "not_found")


def test_what_the_job_expires_leaves_nothing(ledger: Live, tmp_path: Path) -> None:
    key = ledger.new_key()
    row_id = keep(ledger, key, agent_output=MARKER)
    assert places_with(ledger, tmp_path, MARKER) != []
    services = ledger.app.services
    assert in_store(ledger, lambda database: upkeep.expire_retained(services, int(NOON) + 86_399)) == ""
    assert in_store(ledger, lambda database: upkeep.expire_retained(services, int(NOON) + 86_400)) == "1 removed"
    assert places_with(ledger, tmp_path, MARKER) == []
    assert places_with(ledger, tmp_path, row_id) == []


@pytest.mark.promise("retention.delete")
def test_a_row_is_removed_once_by_its_own_key_and_leaves_nothing(ledger: Live, tmp_path: Path) -> None:
    key, other = ledger.new_key(), ledger.new_key()
    row_id, stays = keep(ledger, key, agent_output=MARKER), keep(ledger, key)
    keep(ledger, other)
    refused = ledger.request("DELETE", f"/v1/retention/{row_id}", key=other)
    unknown = ledger.request("DELETE", "/v1/retention/ret_0000000000000000", key=other)
    assert_problem(refused, "not_found")
    assert_problem(unknown, "not_found")
    assert refused.json["detail"] == unknown.json["detail"], "it doesn't tell that the row is another's"
    gone = ledger.request("DELETE", f"/v1/retention/{row_id}", key=key)
    assert (gone.status, gone.json) == (200, {"id": row_id, "deleted": True})
    assert_problem(ledger.request("DELETE", f"/v1/retention/{row_id}", key=key), "not_found")
    assert [row["id"] for row in kept(ledger, key)["data"]] == [stays]
    assert len(kept(ledger, other)["data"]) == 1
    assert places_with(ledger, tmp_path, MARKER) == places_with(ledger, tmp_path, row_id) == []


NO_IDS = ("%00", "%0a", "%ff", "%F0%9F%98%80", "'", "%25", "%2F", "..", "x" * 500, "ret_%5f")


def test_an_id_that_names_nothing_is_a_404(ledger: Live) -> None:
    key = ledger.new_key()
    keep(ledger, key)
    for row_id in NO_IDS:
        assert_problem(ledger.request("DELETE", f"/v1/retention/{row_id}", key=key), "not_found")
    assert len(kept(ledger, key)["data"]) == 1


def test_nobody_sees_another_keys_rows(ledger: Live) -> None:
    one, two = ledger.new_key(), ledger.new_key()
    keep(ledger, one)
    for n in range(3):
        ledger.clock.now += n
        keep(ledger, one)
    cursor = kept(ledger, one, "?limit=1")["next_cursor"]
    assert kept(ledger, two)["data"] == kept(ledger, two, f"?cursor={cursor}")["data"] == []


@pytest.mark.promise("retention.nowhere")
def test_what_is_not_kept_is_nowhere(
    ledger: Live, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither in a table, nor in the files beside SQLite, nor in any log line, at the most talkative level."""
    caplog.set_level(logging.DEBUG)
    key = ledger.new_key()
    marked = {
        "task": f"task {MARKER}",
        "agent_output": f"output {MARKER}",
        "evidence": [f"evidence {MARKER}"],
        "criteria": [f"criterion {MARKER}"],
    }
    answers = {"task": MARKER, "answers": [{"output": f"{MARKER} {n}", "agent_id": f"agent-{n}"} for n in range(3)]}
    assert judge(ledger, key, marked).status == 200
    assert judge(ledger, key, marked | {"explain": True}, Idempotency_Key="k").status == 200
    assert judge(ledger, key, marked | {"explain": True}, Idempotency_Key="k").status == 200
    assert ledger.request("POST", "/v1/consensus", answers, key=key).status == 200
    assert judge(ledger, key, marked | {"unknown": MARKER}).status == 400
    assert judge(ledger, key, marked | {"agent_id": f"{MARKER} is no tag"}).status == 400
    ledger.request("PATCH", "/v1/account/settings", {"retention_days": 0}, key=key)
    assert judge(ledger, key, marked | {"retain": True}).status == 200
    assert me(ledger, key)["free_calls"]["used"] == 4
    assert places_with(ledger, tmp_path, MARKER) == []
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith(("aiosqlite", "asyncpg"))]
    assert not [message for message in ours if MARKER in message]
    printed = capfd.readouterr()
    assert MARKER not in printed.out + printed.err


@pytest.mark.promise("keys.delete_ledger")
def test_a_deleted_key_leaves_no_trace(ledger: Live, tmp_path: Path) -> None:
    """Its id, email, name, prefix, kept content, counts, settings, credits and records: in no table and in no file."""
    stays = ledger.new_key("stays@example.com", "stays")
    keep(ledger, stays)
    made = ledger.request("POST", "/v1/keys", {"email": "trace@example.com", "name": "trace of a name"}).json
    key, key_id = made["key"], made["id"]
    grant(ledger, key_id, 5, reference="trace of a reference")
    row_id = keep(ledger, key, agent_output=MARKER * 1_000, agent_id="trace-of-an-agent")
    judge(ledger, key, SMALL | {"agent_id": "trace-of-an-agent"}, Idempotency_Key="k")
    url = "https://hooks.example.com/trace-of-a-url"
    ledger.request("PATCH", "/v1/account/settings", {"alert_webhook_url": url}, key=key)
    traces = (key_id, "trace@example.com", "trace", made["prefix"], row_id, MARKER)
    for trace in traces:
        assert places_with(ledger, tmp_path, trace) != [], trace
    assert ledger.request("DELETE", "/v1/keys/me", key=key).json == {"id": key_id, "deleted": True}
    for trace in (*traces, key):
        assert places_with(ledger, tmp_path, trace) == [], trace
    assert len(kept(ledger, stays)["data"]) == 1
    for table, rows in (("keys", 1), ("daily_use", 1), ("drift_hours", 1), ("retained", 1), ("idempotency", 0)):
        assert total(ledger, table, "1") == rows, table


def test_sqlite_has_no_trace_of_a_deleted_key_after_a_stop_either(tmp_path: Path) -> None:
    with ledger_server(tmp_path, f"sqlite:///{tmp_path}/screwtape.db") as live:
        key = live.new_key("trace@example.com", "trace")
        keep(live, key, agent_output=MARKER)
        key_id = id_of(live, key)
        assert live.request("DELETE", "/v1/keys/me", key=key).status == 200
    for trace in (key_id, "trace", MARKER):
        assert files_with(tmp_path, trace) == []
