"""The hourly check: which alerts it raises, each once, and how they are listed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.jobs import JOBS
from api.store.drift import Observation
from tests.live import Live
from tests.problem_checks import assert_problem
from tests.web.drift import DAY, HOUR, agreed, alerts, check, count, judged, read
from tests.web.ledger import ledger_server


@pytest.fixture
def ledger(tmp_path: Path, database_url: str) -> Iterator[Live]:
    with ledger_server(tmp_path, database_url) as live:
        live.new_key()
        yield live


def seen(live: Live, key: str = "") -> list[tuple[str, str, str]]:
    found = alerts(live, key or live.keys[0])
    return sorted((alert["agent_id"], alert["metric"], alert["trigger"]) for alert in found)


@pytest.mark.promise("alerts.fail_rate")
@pytest.mark.promise("alerts.false_consensus")
def test_both_metrics_are_compared_with_the_30_days_before(ledger: Live) -> None:
    key = ledger.keys[0]
    # 0.10 before; 4/20 is twice that and 0.10 above it, 3/20 is neither.
    for agent_id, fails in (("worse", 4), ("steady", 3)):
        judged(ledger, key, agent_id, 9 * DAY, 100, 10)
        judged(ledger, key, agent_id, HOUR, 20, fails)
    agreed(ledger, key, "swarm", 9 * DAY, 100, 10)
    agreed(ledger, key, "swarm", HOUR, 20, 4)
    assert check(ledger) == "2 raised"
    assert seen(ledger) == [("swarm", "false_consensus_risk", "window"), ("worse", "fail_rate", "window")]
    alert = next(one for one in alerts(ledger, key) if one["agent_id"] == "worse")
    assert alert["window"] == {"calls": 20, "rate": 0.2, "from": "2026-11-29T13:00:00Z", "to": "2026-11-30T13:00:00Z"}
    assert alert["baseline"] == {
        "calls": 100,
        "rate": 0.1,
        "from": "2026-10-30T13:00:00Z",
        "to": "2026-11-29T13:00:00Z",
    }
    assert (alert["created_at"], alert["delivery"]) == ("2026-11-30T12:00:00Z", None)
    assert "version" not in alert


@pytest.mark.promise("alerts.no_baseline")
def test_without_baseline_calls_of_the_endpoint_there_is_no_alert(ledger: Live) -> None:
    key = ledger.keys[0]
    judged(ledger, key, "a", HOUR, 50, 50)
    agreed(ledger, key, "a", 9 * DAY, 100, 0)
    judged(ledger, key, "b", 40 * DAY, 100, 0)
    judged(ledger, key, "b", HOUR, 50, 50)
    assert check(ledger) == ""


@pytest.mark.promise("alerts.new_version")
def test_a_new_versions_first_20_are_compared_with_the_version_before(ledger: Live) -> None:
    """The new version's fails come first and are lost in the window: only its first 20 calls show them."""
    key = ledger.keys[0]
    judged(ledger, key, "a", 40 * DAY, 50, 50, "1")
    judged(ledger, key, "a", 9 * DAY, 100, 10, "2")
    judged(ledger, key, "a", 5 * HOUR, 19, 10, "3")
    assert check(ledger, -4 * HOUR) == "", "not before it has 20"
    judged(ledger, key, "a", 3 * HOUR, 1, 0, "3")
    judged(ledger, key, "a", 2 * HOUR, 400, 0, "3")
    assert check(ledger) == "1 raised"
    (alert,) = alerts(ledger, key)
    assert (alert["trigger"], alert["version"], alert["previous_version"]) == ("new_version", "3", "2")
    assert alert["window"] == {"calls": 20, "rate": 0.5, "from": "2026-11-30T07:00:00Z", "to": "2026-11-30T09:00:00Z"}
    assert alert["baseline"] == {
        "calls": 100,
        "rate": 0.1,
        "from": "2026-10-31T13:00:00Z",
        "to": "2026-11-30T13:00:00Z",
    }


def test_a_version_is_new_for_a_day_and_its_predecessors_calls_older_than_30_days_count_for_nothing(
    ledger: Live,
) -> None:
    key = ledger.keys[0]
    judged(ledger, key, "late", 9 * DAY, 100, 0, "1")
    judged(ledger, key, "late", DAY, 20, 10, "2")
    judged(ledger, key, "late", 23 * HOUR, 400, 0, "2")
    judged(ledger, key, "asleep", 40 * DAY, 100, 0, "1")
    judged(ledger, key, "asleep", 20 * DAY, 100, 0, "")
    judged(ledger, key, "asleep", HOUR, 20, 20, "2")
    judged(ledger, key, "forgotten", 40 * DAY, 100, 0, "1")
    judged(ledger, key, "forgotten", HOUR, 20, 20, "2")
    assert check(ledger) == "1 raised"
    assert [(one["agent_id"], one["previous_version"]) for one in alerts(ledger, key)] == [("asleep", "")]


@pytest.mark.promise("alerts.daily_cap")
def test_one_alert_a_day_for_each_key_agent_and_metric(ledger: Live) -> None:
    first, second = ledger.keys[0], ledger.new_key("other@example.com")
    for key in (first, second):
        for agent_id in ("a", ""):
            judged(ledger, key, agent_id, 9 * DAY, 100, 0, "1")
            agreed(ledger, key, agent_id, 9 * DAY, 100, 0, "1")
            judged(ledger, key, agent_id, HOUR, 20, 20, "2")
            agreed(ledger, key, agent_id, HOUR, 20, 20, "2")
    assert check(ledger) == "8 raised"
    assert check(ledger) == ""
    metrics = ("fail_rate", "false_consensus_risk")
    assert seen(ledger, first) == [(agent, metric, "new_version") for agent in ("", "a") for metric in metrics]
    assert seen(ledger, second) == seen(ledger, first)
    # A day later the version is not new, but the day before is still bad against the 30 days before that.
    for key in (first, second):
        judged(ledger, key, "a", -23 * HOUR, 30, 30, "2")
    assert check(ledger, 24 * HOUR - 1) == ""
    assert check(ledger, 24 * HOUR) == "2 raised"


def test_a_clock_that_jumps_sends_nothing_twice(ledger: Live) -> None:
    key = ledger.keys[0]
    judged(ledger, key, "a", 9 * DAY, 100, 0)
    judged(ledger, key, "a", 2 * HOUR, 30, 30)
    assert check(ledger) == "1 raised"
    assert check(ledger, -HOUR) == "", "back an hour"
    assert check(ledger, 2 * DAY) == "", "forward two days, where no calls are"
    assert check(ledger, HOUR) == ""
    # Calls while the clock is two days ahead are of that day, and its alert counts when the clock is set right.
    judged(ledger, key, "a", -2 * DAY, 30, 30)
    assert check(ledger, 2 * DAY) == "1 raised"
    judged(ledger, key, "a", -25 * HOUR, 100, 100)
    assert check(ledger, 26 * HOUR) == ""
    assert len(alerts(ledger, key)) == 2


@pytest.mark.promise("alerts.list")
def test_alerts_are_listed_newest_first_page_by_page(ledger: Live) -> None:
    key = ledger.keys[0]
    for agent_id in ("a", "b", ""):
        judged(ledger, key, agent_id, 9 * DAY, 1_000, 0)
        for day in range(3):
            judged(ledger, key, agent_id, -day * DAY, 30, 30)
    for day in range(3):
        assert check(ledger, day * DAY + HOUR) == "3 raised"
    listed, query = [], "?limit=4"
    while query:
        page = ledger.request("GET", f"/v1/alerts{query}", key=key).json
        listed += page["data"]
        query = page["next_cursor"] and f"?limit=4&cursor={page['next_cursor']}"
    assert len({alert["id"] for alert in listed}) == len(listed) == 9
    times = [alert["created_at"] for alert in listed]
    assert times == sorted(times, reverse=True)
    assert [one["agent_id"] for one in alerts(ledger, key, "?agent_id=b")] == ["b"] * 3
    assert [one["agent_id"] for one in alerts(ledger, key, "?agent_id=")] == [""] * 3
    assert alerts(ledger, ledger.new_key("other@example.com")) == []
    assert [one["agent_id"] for one in read(ledger, key, "?agent_id=a")["alerts"]] == ["a"] * 3
    assert len(read(ledger, key)["alerts"]) == 9
    assert_problem(ledger.request("GET", "/v1/alerts?cursor=x", key=key), "invalid_request")


def test_the_check_is_a_job_of_every_hour() -> None:
    assert {job.name: job.every for job in JOBS}["drift_alerts"] == 3_600


def test_many_agents_are_looked_at_in_batches(ledger: Live) -> None:
    key = ledger.keys[0]
    names = [f"agent-{number}" for number in range(130)]
    count(ledger, key, 9 * DAY, [Observation(name, "", "judge", "pass", 0.9) for name in names])
    count(ledger, key, HOUR, [Observation(name, "", "judge", "fail", 0.1) for name in names] * 20)
    assert check(ledger) == "130 raised"
