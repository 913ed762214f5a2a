"""The operator's commands, on the database of a running server."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from api.__main__ import COMMANDS, main
from tests.examples import example
from tests.live import Live, live_server


@dataclass(frozen=True)
class Ended:
    """What a command left: its exit status and what it printed."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ended]


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with live_server(tmp_path) as server:
        server.new_key()
        yield server


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `python -m api ...` on the server's database, in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path}/screwtape.db")

    def run(*arguments: str) -> Ended:
        capsys.readouterr()
        status = main(list(arguments))
        printed = capsys.readouterr()
        return Ended(status, printed.out, printed.err)

    return run


def key_of(live: Live, key: str = "") -> Any:
    return live.request("GET", "/v1/keys/me", key=key or live.keys[0]).json


@pytest.mark.promise("ops.cli")
@pytest.mark.parametrize(
    "command", ["serve", "keys", "credits", "receipts", "jobs", "demo-drift", "backup", "check", "settings"]
)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    listed = capsys.readouterr().out
    assert end.value.code == 0
    assert re.search(rf"^ +{command}( +[A-Z]|$)", listed, re.MULTILINE)
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert COMMANDS[command].HELP.split()[0] in capsys.readouterr().out


@pytest.mark.promise("ops.cli_grant")
def test_credits_are_granted_corrected_and_shown(live: Live, command: Run) -> None:
    name = key_of(live)["id"]
    assert command("credits", "grant", name, "10", "--note", "Welcome").json == {"id": name, "credits": 10}
    assert key_of(live)["credits"] == 10
    assert command("credits", "correct", name, "4", "--note", "Too many").json == {"id": name, "credits": 6}
    shown = command("credits", "show", name).json
    assert shown["credits"] == 6
    assert sorted((entry["calls"], entry["note"]) for entry in shown["entries"]) == [(-4, "Too many"), (10, "Welcome")]
    again = [command("credits", "grant", name, "5", "--note", "Order", "--reference", "order-1") for _ in range(2)]
    assert [each.json["credits"] for each in again] == [11, 11]


@pytest.mark.parametrize("calls", ["0", "-5"])
@pytest.mark.parametrize("action", ["grant", "correct"])
def test_a_grant_and_a_correction_are_above_zero(live: Live, command: Run, action: str, calls: str) -> None:
    name = key_of(live)["id"]
    try:
        status = command("credits", action, name, calls, "--note", "A slip").status
    except SystemExit as ended:
        status = int(str(ended.code))
    assert status != 0
    assert key_of(live)["credits"] == 0


def test_an_unknown_key_is_said(live: Live, command: Run) -> None:
    for arguments in (
        ("credits", "show", "key_unknown"),
        ("credits", "grant", "key_unknown", "1", "--note", "x"),
        ("keys", "revoke", "key_unknown"),
    ):
        ended = command(*arguments)
        assert (ended.status, ended.out) == (1, "")
        assert "No key has this id" in ended.err


@pytest.mark.promise("ops.admin")
def test_keys_are_found_and_revoked(live: Live, command: Run) -> None:
    live.new_key("other@example.com", "other")
    listed = command("keys", "list").json
    assert {row["name"] for row in listed["data"]} == {"Local dev", "other"}
    (row,) = command("keys", "list", "--email", "OTHER@example.com").json["data"]
    assert live.keys[1] not in json.dumps(listed)
    assert live.request("POST", "/v1/judge", example("judge"), key=live.keys[1]).status == 200
    assert command("keys", "revoke", row["id"]).json == {"id": row["id"], "deleted": True}
    assert live.request("POST", "/v1/judge", example("judge"), key=live.keys[1]).status == 401
    assert live.request("POST", "/v1/judge", example("judge"), key=live.keys[0]).status == 200


@pytest.mark.promise("ops.backup")
def test_a_backup_of_a_running_server_is_whole_and_serves(live: Live, command: Run, tmp_path: Path) -> None:
    for _ in range(3):
        assert live.request("POST", "/v1/judge", example("judge"), key=live.keys[0]).status == 200
    target = tmp_path / "backups" / "screwtape.db"
    target.parent.mkdir()
    ended = command("backup", str(target))
    assert (ended.status, ended.err) == (0, "")
    assert live.request("POST", "/v1/judge", example("judge"), key=live.keys[0]).status == 200
    assert [path.name for path in target.parent.iterdir()] == ["screwtape.db"]
    with live_server(target.parent) as restored:
        assert key_of(restored, live.keys[0])["free_calls"]["used"] == 3
    assert command("backup", str(target)).status == 1  # never over an older one
    missing = command("backup", str(tmp_path / "nowhere" / "x.db"))
    assert missing.status == 1
    assert "No backup was made" in missing.err


def test_check_finds_a_balance_that_does_not_follow(live: Live, command: Run, tmp_path: Path) -> None:
    name = key_of(live)["id"]
    command("credits", "grant", name, "10", "--note", "Welcome")
    assert command("check").status == 0
    connection = sqlite3.connect(tmp_path / "screwtape.db")
    with connection:
        connection.execute("UPDATE keys SET credits = 11")
    connection.close()
    ended = command("check")
    assert ended.status == 1
    assert name in ended.err
    assert "11" in ended.err


def test_jobs_are_listed_and_run(live: Live, command: Run) -> None:
    listed = command("jobs", "list").json
    names = [row["job"] for row in listed]
    assert "expire_retained" in names
    body = {**example("judge"), "retain": True}
    live.request("POST", "/v1/judge", body, key=live.keys[0])
    for name in names:
        assert command("jobs", "run", name, "--now", "2026-12-02T12:00:00Z").status == 0, name
    assert live.request("GET", "/v1/retention", key=live.keys[0]).json["data"] == []
    assert command("jobs", "run", names[0], "--now", "tomorrow").status == 1


@pytest.mark.promise("store.sqlite")
def test_a_server_makes_its_own_file_in_wal_mode(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "by the server"
    with live_server(folder) as live:
        live.new_key()
        connection = sqlite3.connect(folder / "screwtape.db")
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        connection.close()
    assert {path.name for path in folder.iterdir()} <= {"screwtape.db", "secret.key"}
