"""GET /v1/drift: what calls leave behind, day by day, and nothing of their content."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.examples import example
from tests.live import Live
from tests.problem_checks import assert_problem
from tests.web.drift import DAY, HOUR, agreed, alerts, check, judged, read
from tests.web.ledger import judge, ledger_server, places_with, total
from tests.web.mcp import call

EMPTY = {
    "judge_calls": 0,
    "pass": 0,
    "fail": 0,
    "retry": 0,
    "fail_rate": None,
    "retry_rate": None,
    "average_score": None,
    "consensus_calls": 0,
    "false_consensus_risk": None,
}


@pytest.fixture
def ledger(tmp_path: Path, database_url: str) -> Iterator[Live]:
    with ledger_server(tmp_path, database_url) as live:
        live.new_key()
        yield live


def some(counts: Any, *names: str) -> list[Any]:
    return [counts[name] for name in names]


@pytest.mark.promise("drift.read")
def test_a_key_without_calls_has_every_day_and_no_rates(ledger: Live) -> None:
    drift = read(ledger, ledger.keys[0])
    assert [row["date"] for row in drift["series"]][:2] == ["2026-11-01", "2026-11-02"]
    assert [row["date"] for row in drift["series"]][-1] == "2026-11-30"
    assert len(drift["series"]) == 30
    assert all({"date": row["date"], **EMPTY} == row for row in drift["series"])
    assert drift["baseline"] == drift["last_24h"] == EMPTY
    assert (drift["agent_id"], drift["days"]) == (None, 30)
    assert drift["versions"] == drift["alerts"] == drift["agents"] == []


@pytest.mark.promise("drift.counts")
def test_rest_and_mcp_calls_are_counted_alike(ledger: Live) -> None:
    key, tags = ledger.keys[0], {"agent_id": "a", "version": "1"}
    judge(ledger, key, {**example("judge"), **tags})
    call(ledger, "judge", {**example("judge"), **tags}, key=key)
    ledger.request("POST", "/v1/consensus", {**example("consensus"), **tags}, key=key)
    call(ledger, "consensus", {**example("consensus"), **tags}, key=key)
    assert judge(ledger, key, {"task": "t"}).status == 400, "an error counts nowhere"
    today = read(ledger, key, "?agent_id=a&days=1")["series"][0]
    assert some(today, "judge_calls", "pass", "consensus_calls", "false_consensus_risk") == [2, 2, 2, 1]


@pytest.mark.promise("drift.no_content")
def test_content_is_not_stored_and_retention_off_counts_too(ledger: Live, tmp_path: Path) -> None:
    key = ledger.keys[0]
    ledger.request("PATCH", "/v1/account/settings", {"retention_days": 0}, key=key)
    judge(ledger, key, {"task": "a-task-to-forget", "agent_output": "an-output-to-forget", "agent_id": "kept-tag"})
    assert read(ledger, key, "?agent_id=kept-tag")["last_24h"]["judge_calls"] == 1
    assert places_with(ledger, tmp_path, "kept-tag")
    assert not places_with(ledger, tmp_path, "a-task-to-forget")
    assert not places_with(ledger, tmp_path, "an-output-to-forget")


@pytest.mark.promise("drift.rates")
@pytest.mark.promise("drift.read")
def test_days_window_and_baseline_hold_what_they_should(ledger: Live) -> None:
    """At noon the window is 13:00 of the day before to 13:00, and the baseline the 720 hours before it."""
    key = ledger.keys[0]
    for ago, fails in ((0, 1), (12 * HOUR, 2), (22 * HOUR, 3), (23 * HOUR, 4), (24 * HOUR, 5)):
        judged(ledger, key, "a", ago, 10, fails)
    judged(ledger, key, "a", 10 * DAY, 10, 6)
    judged(ledger, key, "a", 743 * HOUR, 10, 7)
    judged(ledger, key, "a", 744 * HOUR, 10, 8)
    agreed(ledger, key, "a", HOUR, 4, 1)
    drift = read(ledger, key, "?agent_id=a&days=90")
    # The bucket of 23 hours ago began at 13:00 and is the window's first.
    assert some(drift["last_24h"], "judge_calls", "fail", "fail_rate") == [40, 10, 0.25]
    assert some(drift["last_24h"], "consensus_calls", "false_consensus_risk") == [4, 0.25]
    assert some(drift["baseline"], "judge_calls", "fail", "consensus_calls") == [30, 5 + 6 + 7, 0]
    days = {row["date"]: row for row in drift["series"]}
    assert len(days) == 90
    assert some(days["2026-11-30"], "judge_calls", "fail", "pass", "average_score") == [20, 3, 17, 0.78]
    assert some(days["2026-11-29"], "judge_calls", "fail") == [30, 12]
    assert some(days["2026-10-30"], "judge_calls", "fail") == [20, 15]
    assert some(days["2026-11-28"], "judge_calls", "fail_rate", "retry_rate") == [0, None, None]


@pytest.mark.promise("drift.agents")
@pytest.mark.promise("drift.untagged")
def test_all_calls_together_list_the_tags_and_untagged_ones_are_a_group(ledger: Live) -> None:
    key = ledger.keys[0]
    judged(ledger, key, "a", HOUR, 3, 1, "1")
    judged(ledger, key, "b", 2 * HOUR, 5, 5, "1")
    judged(ledger, key, "", 60, 7, 0)
    judged(ledger, key, "old", 60 * DAY, 2, 0)
    drift = read(ledger, key)
    assert some(drift["last_24h"], "judge_calls", "fail") == [15, 6]
    assert drift["agents"] == [
        {"agent_id": "", "calls": 7, "last_used_at": "2026-11-30T11:59:00Z"},
        {"agent_id": "a", "calls": 3, "last_used_at": "2026-11-30T11:00:00Z"},
        {"agent_id": "b", "calls": 5, "last_used_at": "2026-11-30T10:00:00Z"},
        {"agent_id": "old", "calls": 0, "last_used_at": "2026-10-01T12:00:00Z"},
    ]
    assert [(row["agent_id"], row["version"]) for row in drift["versions"]] == [("", ""), ("a", "1"), ("b", "1")]
    assert read(ledger, key, "?agent_id=")["last_24h"] == drift["last_24h"], "an empty agent_id is none"
    groups = (("?untagged=true", "", 7), ("?agent_id=a", "a", 3), ("?agent_id=nobody", "nobody", 0))
    for query, agent_id, calls in groups:
        one = read(ledger, key, query)
        assert (one["agent_id"], one["last_24h"]["judge_calls"]) == (agent_id, calls)
        assert "agents" not in one


def test_versions_have_their_first_call_and_the_counts_of_the_days(ledger: Live) -> None:
    key = ledger.keys[0]
    judged(ledger, key, "a", 40 * DAY, 10, 10, "1")
    judged(ledger, key, "a", 5 * DAY, 4, 1, "1")
    agreed(ledger, key, "a", DAY, 2, 1, "2")
    two, one = read(ledger, key, "?agent_id=a&days=7")["versions"]
    assert (one["version"], one["first_call_at"], one["last_call_at"]) == (
        "1",
        "2026-10-21T12:00:00Z",
        "2026-11-25T12:00:00Z",
    )
    assert some(one, "judge_calls", "fail_rate", "consensus_calls") == [4, 0.25, 0]
    assert some(two, "version", "judge_calls", "fail_rate", "false_consensus_risk") == ["2", 0, None, 0.5]


def test_other_keys_see_nothing(ledger: Live) -> None:
    judged(ledger, ledger.keys[0], "a", HOUR, 3, 1, "1")
    other = read(ledger, ledger.new_key("other@example.com"))
    assert other["last_24h"] == EMPTY
    assert other["agents"] == other["versions"] == []


@pytest.mark.parametrize(
    "query",
    ["?days=0", "?days=91", "?days=x", "?agent_id=a%20b", "?untagged=1", "?agent_id=a&untagged=true", "?days=1.5"],
)
def test_wrong_parameters_are_named(live: Live, query: str) -> None:
    answer = live.request("GET", f"/v1/drift{query}", key=live.new_key())
    assert_problem(answer, "invalid_request")
    assert answer.json["errors"]


@pytest.mark.promise("keys.delete_drift")
def test_a_deleted_key_leaves_no_counts_and_no_alerts(ledger: Live, tmp_path: Path) -> None:
    key = ledger.new_key("gone@example.com")
    judged(ledger, key, "tag-to-forget", 5 * DAY, 100, 5)
    judged(ledger, key, "tag-to-forget", HOUR, 20, 15)
    check(ledger)
    assert len(alerts(ledger, key)) == 1
    assert set(places_with(ledger, tmp_path, "tag-to-forget")) >= {"drift_hours", "drift_days", "alerts"}
    assert ledger.request("DELETE", "/v1/keys/me", key=key).status == 200
    assert places_with(ledger, tmp_path, "tag-to-forget") == []
    assert total(ledger, "drift_firsts", "calls") == 0
