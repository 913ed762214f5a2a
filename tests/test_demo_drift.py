"""The command that fills a scratch database: what a server then shows of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from api.__main__ import main
from tests.live import NOON, FakeClock, live_server

Made = Callable[..., tuple[int, str, str]]
NOW = ("--now", "2026-11-30T12:00:00Z")


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Made:
    """Runs `python -m api demo-drift ...` in a folder of the test's own; exit status and what was printed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(["demo-drift", *arguments])
        return status, *capsys.readouterr()

    return run


@pytest.mark.promise("ops.cli_jobs")
def test_it_prints_a_key_that_shows_a_month_that_drifts(tmp_path: Path, demo: Made) -> None:
    database = f"sqlite:///{tmp_path}/screwtape.db"
    status, out, err = demo("--database", database, *NOW)
    assert status == 0, err
    assert not (tmp_path / "var").exists(), "the default database is not touched"
    with live_server(tmp_path, clock=FakeClock(NOON + 60)) as live:
        drift = live.request("GET", "/v1/drift", key=out.strip()).json
        assert [(alert["agent_id"], alert["metric"], alert["trigger"]) for alert in drift["alerts"]] == [
            ("planner", "fail_rate", "new_version"),
            ("support", "fail_rate", "window"),
            ("swarm", "false_consensus_risk", "window"),
        ]
        assert {agent["agent_id"] for agent in drift["agents"]} == {"planner", "support", "swarm"}
        assert all(day["judge_calls"] and day["consensus_calls"] for day in drift["series"])
        assert main(["jobs", "run", "drift_alerts", "--now", "2026-11-30T12:30:00Z"]) == 0
        assert len(live.request("GET", "/v1/alerts", key=out.strip()).json["data"]) == 3, "none of them again"


def test_it_replaces_its_own_key_and_no_other(tmp_path: Path, demo: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.commands.demo_drift.DAYS", 1)
    database = f"sqlite:///{tmp_path}/screwtape.db"
    _, first, _ = demo("--database", database, *NOW)
    _, second, _ = demo("--database", database, *NOW)
    with live_server(tmp_path) as live:
        assert live.request("GET", "/v1/keys/me", key=first.strip()).status == 401
        assert live.request("GET", "/v1/keys/me", key=second.strip()).status == 200
        other = live.new_key()
        status, out, err = demo("--database", database, *NOW)
        assert (status, out) == (1, "")
        assert "did not make" in err
        assert live.request("GET", "/v1/keys/me", key=second.strip()).status == 200, "nothing was touched"
        assert demo("--database", database, *NOW, "--force")[0] == 0
        assert live.request("GET", "/v1/keys/me", key=other).status == 200


@pytest.mark.parametrize(
    "arguments", [("--database", "screwtape.db"), ("--database", "sqlite:///x.db", "--now", "soon")]
)
def test_it_says_what_is_wrong(tmp_path: Path, demo: Made, arguments: tuple[str, ...]) -> None:
    status, out, err = demo(*arguments)
    assert (status, out) == (1, "")
    assert "--" in err
    assert list(tmp_path.iterdir()) == []


def test_it_wants_to_be_told_which_database(demo: Made) -> None:
    with pytest.raises(SystemExit):
        demo()
