"""Kept calls and settings over a real socket."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.examples import example
from tests.live import Answer, Live, live_server
from tests.problem_checks import assert_problem

URL = "https://hooks.example.com/screwtape"


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with live_server(tmp_path) as server:
        server.new_key()
        yield server


def keep(live: Live, operation: str = "judge", key: str = "", **more: Any) -> Any:
    body = {**example(operation), "retain": True, **more}
    answer = live.request("POST", f"/v1/{operation}", body, key=key or live.keys[0])
    assert answer.status == 200, answer.body
    return answer.json


def kept(live: Live, query: str = "", key: str = "") -> Any:
    answer = live.request("GET", f"/v1/retention{query}", key=key or live.keys[0])
    assert answer.status == 200, answer.body
    return answer.json


@pytest.mark.promise("retention.retained")
@pytest.mark.promise("retention.list")
@pytest.mark.promise("facts.retention_hours")
@pytest.mark.parametrize("operation", ["judge", "consensus"])
def test_a_kept_call_is_listed_as_it_was(live: Live, operation: str) -> None:
    answer = keep(live, operation, agent_id="a", version="é")
    retention = answer["retention"]
    assert list(retention) == ["retained", "id", "expires_at"]
    assert (retention["retained"], retention["expires_at"]) == (True, "2026-12-01T12:00:00Z")
    page = kept(live)
    assert page["next_cursor"] is None
    (row,) = page["data"]
    assert list(row) == ["id", "endpoint", "created_at", "expires_at", "request", "response"]
    assert (row["id"], row["endpoint"]) == (retention["id"], operation)
    assert (row["created_at"], row["expires_at"]) == ("2026-11-30T12:00:00Z", "2026-12-01T12:00:00Z")
    assert row["request"] == {**example(operation), "retain": True, "agent_id": "a", "version": "é"}
    assert row["response"].items() <= answer.items()
    assert row["response"]["request_id"] == answer["request_id"]


@pytest.mark.promise("facts.retention_hours")
def test_nothing_is_kept_unasked(live: Live) -> None:
    for more in ({}, {"retain": False}):
        answer = live.request("POST", "/v1/judge", {**example("judge"), **more}, key=live.keys[0])
        assert answer.json["retention"] == {"retained": False}
    assert kept(live) == {"data": [], "next_cursor": None}


@pytest.mark.promise("retention.expiry")
def test_a_kept_call_is_gone_after_24_hours(live: Live) -> None:
    row = keep(live)["retention"]["id"]
    live.clock.now += 86_399
    assert [each["id"] for each in kept(live)["data"]] == [row]
    live.clock.now += 1
    assert kept(live)["data"] == []
    assert_problem(live.request("DELETE", f"/v1/retention/{row}", key=live.keys[0]), "not_found")


@pytest.mark.promise("retention.delete")
def test_a_kept_call_is_removed_once_and_by_its_key_only(tmp_path: Path) -> None:
    with live_server(tmp_path) as live:
        key, other = live.new_key(), live.new_key("other@example.com")
        row = keep(live, task="MARKER task")["retention"]["id"]
        for path in (f"/v1/retention/{row}x", "/v1/retention/%2e%2e", "/v1/retention/ret_unknown"):
            assert_problem(live.request("DELETE", path, key=key), "not_found")
        assert_problem(live.request("DELETE", f"/v1/retention/{row}", key=other), "not_found")
        removed = live.request("DELETE", f"/v1/retention/{row}", key=key)
        assert (removed.status, removed.json) == (200, {"id": row, "deleted": True})
        assert_problem(live.request("DELETE", f"/v1/retention/{row}", key=key), "not_found")
        for path_on_disk in tmp_path.iterdir():
            assert b"MARKER" not in path_on_disk.read_bytes()


@pytest.mark.promise("retention.list")
def test_a_key_sees_its_own_rows_only(live: Live) -> None:
    other = live.new_key("other@example.com")
    keep(live)
    assert kept(live, key=other)["data"] == []


@pytest.mark.promise("http.lists")
@pytest.mark.promise("retention.list")
def test_pages_follow_each_other_newest_first(live: Live) -> None:
    made = []
    for n in range(25):
        made.append(keep(live)["retention"]["id"])
        live.clock.now += n % 2  # some share a second
    pages, query = [], ""
    while True:
        page = kept(live, query)
        pages.append([row["id"] for row in page["data"]])
        if page["next_cursor"] is None:
            break
        query = f"?cursor={page['next_cursor']}"
    assert [len(page) for page in pages] == [20, 5]
    listed = [row for page in pages for row in page]
    assert sorted(listed) == sorted(made)
    times = [row["created_at"] for row in kept(live, "?limit=100")["data"]]
    assert times == sorted(times, reverse=True)
    first = kept(live, "?limit=3")
    # A new row at the top moves nothing between the pages.
    keep(live)
    second = kept(live, f"?limit=3&cursor={first['next_cursor']}")
    assert [row["id"] for row in first["data"] + second["data"]] == listed[:6]


@pytest.mark.promise("http.lists")
@pytest.mark.parametrize(
    "query", ["limit=0", "limit=101", "limit=x", "limit=1.5", "limit=", "cursor=nonsense", "cursor="]
)
def test_a_page_that_cannot_be_is_a_400(live: Live, query: str) -> None:
    answer = live.request("GET", f"/v1/retention?{query}", key=live.keys[0])
    assert_problem(answer, "invalid_request")
    assert query.partition("=")[0] in answer.json["detail"]


def change(live: Live, **body: Any) -> Answer:
    return live.request("PATCH", "/v1/account/settings", body, key=live.keys[0])


def settings(live: Live) -> Any:
    return live.request("GET", "/v1/account/settings", key=live.keys[0]).json


@pytest.mark.promise("settings.fields")
def test_settings_have_their_defaults_and_change_one_by_one(live: Live) -> None:
    assert settings(live) == {"alert_webhook_url": "", "retention_days": 1}
    assert change(live, retention_days=0).json == {"alert_webhook_url": "", "retention_days": 0}
    assert change(live, alert_webhook_url=URL).json["retention_days"] == 0
    assert settings(live) == {"alert_webhook_url": URL, "retention_days": 0}
    assert change(live, alert_webhook_url="").json == {"alert_webhook_url": "", "retention_days": 0}
    assert settings(live) == {"alert_webhook_url": "", "retention_days": 0}


@pytest.mark.promise("settings.webhook_secret")
def test_a_saved_webhook_gets_a_new_secret_that_is_shown_once(tmp_path: Path) -> None:
    with live_server(tmp_path) as live:
        live.new_key()
        secrets = [change(live, alert_webhook_url=URL).json["alert_webhook_secret"] for _ in range(2)]
        assert all(secret.startswith("whsec_") for secret in secrets)
        assert secrets[0] != secrets[1]
        assert "alert_webhook_secret" not in settings(live)
        assert "alert_webhook_secret" not in change(live, retention_days=1).json
        assert "alert_webhook_secret" not in change(live, alert_webhook_url="").json
        stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert not [secret for secret in secrets if secret.encode() in stored or secret[6:].encode() in stored]


@pytest.mark.promise("settings.fields")
@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"alert_webhook_url": "http://hooks.example.com/x"}, "/alert_webhook_url"),
        ({"alert_webhook_url": "hooks.example.com"}, "/alert_webhook_url"),
        ({"alert_webhook_url": "https://127.0.0.1/x"}, "/alert_webhook_url"),
        ({"alert_webhook_url": "https://[::1]/x"}, "/alert_webhook_url"),
        ({"alert_webhook_url": "https://169.254.169.254/latest"}, "/alert_webhook_url"),
        ({"alert_webhook_url": "https://localhost/x"}, "/alert_webhook_url"),
        ({"alert_webhook_url": "https://2130706433/x"}, "/alert_webhook_url"),
        ({"alert_webhook_url": "https://user@hooks.example.com/"}, "/alert_webhook_url"),
        ({"alert_webhook_url": None}, "/alert_webhook_url"),
        ({"retention_days": 2}, "/retention_days"),
        ({"retention_days": -1}, "/retention_days"),
        ({"retention_days": True}, "/retention_days"),
        ({"retention_days": "1"}, "/retention_days"),
        ({"retention_day": 1}, "/retention_day"),
    ],
)
def test_a_setting_that_cannot_be_is_a_400_and_changes_nothing(live: Live, body: dict[str, Any], path: str) -> None:
    answer = change(live, **body)
    assert_problem(answer, "invalid_request")
    assert path in [error["path"] for error in answer.json["errors"]]
    assert settings(live) == {"alert_webhook_url": "", "retention_days": 1}


@pytest.mark.promise("retention.off")
def test_with_retention_off_nothing_is_kept_whatever_a_call_asks(live: Live) -> None:
    row = keep(live)["retention"]["id"]
    change(live, retention_days=0)
    assert keep(live)["retention"] == {"retained": False, "reason": "Retention is off for this key."}
    plain = live.request("POST", "/v1/judge", example("judge"), key=live.keys[0]).json
    assert plain["retention"] == {"retained": False}
    change(live, retention_days=1)
    assert keep(live)["retention"]["retained"] is True
    assert row in [each["id"] for each in kept(live)["data"]] or len(kept(live)["data"]) == 1


@pytest.mark.promise("keys.delete_ledger")
def test_deleting_a_key_leaves_nothing_of_it_in_the_files(tmp_path: Path) -> None:
    with live_server(tmp_path) as live:
        key = live.new_key("marker@example.com", "MARKER name")
        other = live.new_key("other@example.com")
        keep(live, key=key, task="MARKER task")
        keep(live, key=other, task="KEPT task")
        sent = {"Idempotency-Key": "token"}
        live.request("POST", "/v1/judge", example("judge"), key=key, headers=sent)
        change(live, alert_webhook_url="https://hooks.marker.example/MARKER")
        assert live.request("DELETE", "/v1/keys/me", key=key).status == 200
        stored = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        assert not [name for name, content in stored.items() if b"marker" in content.lower()]
        assert [row["request"]["task"] for row in kept(live, key=other)["data"]] == ["KEPT task"]
