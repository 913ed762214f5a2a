"""One server as a real process: started, stopped, killed and looked at from outside."""

import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from api.__main__ import COMMANDS, main
from tests.examples import ROOT, example
from tests.live import Wire
from tests.test_workers import LIMIT_S, STOP_LIMIT_S, Server, running

CLIENTS = 6


def url_in(folder: Path) -> str:
    return f"sqlite:///{folder}/screwtape.db"


def new_keys(server: Server, count: int) -> list[str]:
    made = [server.request("POST", "/v1/keys", {"email": f"dev{n}@example.com", "name": "Load"}) for n in range(count)]
    assert [status for status, _ in made] == [201] * count
    return [str(body["key"]) for _, body in made]


@dataclass
class Client:
    """A keep-alive client that calls without a pause, and what it saw."""

    port: int
    key: str
    answered: int = 0
    last_headers: dict[str, str] | None = None
    error: Exception | None = None

    def call_until(self, is_over: Callable[["Client"], bool]) -> None:
        """Calls until `is_over` says so after an answer, the server closes the connection, or a call fails."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        body = json.dumps(example("consensus"))
        sent = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        try:
            while not is_over(self):
                connection.request("POST", "/v1/consensus", body, sent)
                response = connection.getresponse()
                response.read()
                self.last_headers = {name.lower(): value for name, value in response.getheaders()}
                self.answered += response.status == 200
                if self.last_headers.get("connection") == "close":
                    return
        except (OSError, http.client.HTTPException) as error:
            self.error = error
        finally:
            connection.close()


class Load:
    """Clients in threads of their own. `under_way` is set once each of them had an answer."""

    def __init__(self, server: Server, keys: list[str]) -> None:
        self.clients = [Client(server.port, key) for key in keys]
        self.under_way = threading.Event()
        self._pool = ThreadPoolExecutor(len(keys))
        self._running = [self._pool.submit(client.call_until, self._look) for client in self.clients]

    def _look(self, client: Client) -> bool:
        if all(each.answered >= 3 for each in self.clients):
            self.under_way.set()
        return False

    def wait(self) -> None:
        for running_client in self._running:
            running_client.result(LIMIT_S)
        self._pool.shutdown()


@pytest.mark.promise("ops.graceful_stop")
def test_sigterm_under_load_answers_what_was_sent_and_exits_0(tmp_path: Path) -> None:
    with running(url_in(tmp_path), workers=1) as server:
        keys = new_keys(server, CLIENTS)
        with Wire(server.port) as idle:
            idle.send_request("GET", "/v1/health")
            assert idle.receive().status == 200
            load = Load(server, keys)
            assert load.under_way.wait(LIMIT_S)
            server.process.terminate()
            load.wait()
            assert server.process.wait(STOP_LIMIT_S) == 0
            assert idle.is_closed()
    for client in load.clients:
        assert client.error is None
        assert client.last_headers is not None
        assert client.last_headers["connection"] == "close"
    with running(url_in(tmp_path), workers=1) as server:
        assert [server.used(key) for key in keys] == [client.answered for client in load.clients]


@pytest.mark.promise("ops.graceful_stop")
def test_sigterm_waits_for_a_request_that_is_being_sent(tmp_path: Path) -> None:
    body = json.dumps(example("judge")).encode()
    with running(url_in(tmp_path), workers=1) as server, Wire(server.port) as wire:
        (key,) = new_keys(server, 1)
        head = "POST /v1/judge HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
        wire.send(f"{head}Authorization: Bearer {key}\r\nContent-Length: {len(body)}\r\n\r\n".encode())
        assert wire.receive().status == 100  # the server knows of the request
        server.process.terminate()
        server.wait_for("^stopping")
        wire.send(body)
        answer = wire.receive()
        assert (answer.status, answer.json["verdict"], answer.headers["connection"]) == (200, "pass", "close")
        assert server.process.wait(STOP_LIMIT_S) == 0


@pytest.mark.promise("ops.second_signal")
@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_it_at_once(tmp_path: Path, second: signal.Signals) -> None:
    with running(url_in(tmp_path), workers=1) as server, Wire(server.port) as wire:
        wire.send(
            b"POST /v1/keys HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
            b"Expect: 100-continue\r\nContent-Length: 100\r\n\r\n"
        )
        assert wire.receive().status == 100  # a stop would wait for this body
        server.process.terminate()
        server.wait_for("^stopping")
        server.process.send_signal(second)
        assert server.process.wait(LIMIT_S) != 0
        assert integrity(tmp_path) == "ok"


def integrity(folder: Path) -> str:
    with sqlite3.connect(folder / "screwtape.db") as connection:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])


@pytest.mark.promise("charging.kill_safe")
def test_kill_9_under_load_loses_no_charge_and_makes_none(tmp_path: Path) -> None:
    with running(url_in(tmp_path), workers=1) as server:
        keys = new_keys(server, CLIENTS)
        load = Load(server, keys)
        assert load.under_way.wait(LIMIT_S)
        server.process.kill()
        load.wait()
    assert integrity(tmp_path) == "ok"
    assert any(client.error for client in load.clients)
    with running(url_in(tmp_path), workers=1) as server:
        for key, client in zip(keys, load.clients, strict=True):
            # A client has one call in flight at most: it may have been charged without its answer getting through.
            assert client.answered <= server.used(key) <= client.answered + 1
        status, _ = server.request("POST", "/v1/consensus", example("consensus"), keys[0])
        assert status == 200


def run_api(*arguments: str, folder: Path, **settings: str) -> "subprocess.CompletedProcess[str]":
    """Runs a command in `folder` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "api", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **settings},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


@pytest.mark.promise("ops.clear_start_failure")
def test_a_taken_port_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = run_api("serve", folder=tmp_path, PORT=str(port))
    assert ended.returncode == 1
    assert f"Can't listen on 127.0.0.1:{port}" in ended.stderr
    assert "Set HOST or PORT" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.promise("ops.clear_start_failure")
@pytest.mark.promise("ops.config_faults")
def test_bad_settings_are_all_listed(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PORT=x\nLOG_LEVEL=info\n", encoding="utf-8")
    ended = run_api("serve", folder=tmp_path, LOG_LEVEL="loud", TRUSTED_PROXIES="all")
    assert ended.returncode == 1
    lines = ended.stderr.splitlines()
    assert [line.split()[0] for line in lines] == ["PORT", "TRUSTED_PROXIES", "LOG_LEVEL"]
    assert list(tmp_path.iterdir()) == [tmp_path / ".env"]


@pytest.mark.promise("ops.clear_start_failure")
def test_a_database_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = run_api("serve", folder=tmp_path, PORT="0", DATABASE_URL="sqlite:///file/screwtape.db", SECRET_KEY="s" * 20)
    assert ended.returncode == 1
    assert "Check DATABASE_URL" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.promise("ops.secret_key")
@pytest.mark.promise("ops.clear_start_failure")
def test_a_secret_key_that_cannot_be_kept_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = run_api("serve", folder=tmp_path, PORT="0", DATABASE_URL="sqlite:///file/screwtape.db")
    assert ended.returncode == 1
    assert "DATABASE_URL" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.promise("store.newer_schema")
def test_a_database_of_a_later_version_is_refused(tmp_path: Path) -> None:
    with running(url_in(tmp_path), workers=1) as server:
        server.process.terminate()
        assert server.process.wait(STOP_LIMIT_S) == 0
    with sqlite3.connect(tmp_path / "screwtape.db") as connection:
        connection.execute("INSERT INTO schema_version (version) VALUES (999)")
    connection.close()
    ended = run_api("serve", folder=tmp_path, PORT="0", DATABASE_URL=url_in(tmp_path))
    assert ended.returncode == 1
    assert "999" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.promise("ops.secret_key")
def test_a_secret_key_is_made_once_and_kept_for_its_owner_only(tmp_path: Path) -> None:
    kept = []
    for _ in range(2):
        with running(url_in(tmp_path), workers=1, SECRET_KEY="") as server:
            server.process.terminate()
            assert server.process.wait(STOP_LIMIT_S) == 0
        kept.append((tmp_path / "secret.key").read_bytes())
    assert kept[0] == kept[1]
    assert len(kept[0]) >= 32
    assert (tmp_path / "secret.key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*filter(None, [command]), "--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr()
    assert not printed.err
    assert f"python -m api {command}".strip() in printed.out
    if not command:
        assert all(name in printed.out for name in COMMANDS)


def test_an_unknown_command_is_refused(tmp_path: Path) -> None:
    ended = run_api("sevre", folder=tmp_path)
    assert ended.returncode == 2
    assert "serve" in ended.stderr


@pytest.mark.promise("ops.logs")
@pytest.mark.promise("retention.nowhere")
@pytest.mark.parametrize("level", ["info", "debug"])
def test_no_log_line_holds_a_key_or_what_was_judged(tmp_path: Path, level: str) -> None:
    with running(url_in(tmp_path), workers=1, LOG_LEVEL=level) as server:
        status, made = server.request("POST", "/v1/keys", {"email": "marker@example.com", "name": "MARKER name"})
        assert status == 201
        key = made["key"]
        large = "MARKER " * 3_000
        requests: list[tuple[str, str, Any]] = [
            ("POST", "/v1/judge", {"task": "MARKER t", "agent_output": "MARKER o", "evidence": ["MARKER e"]}),
            ("POST", "/v1/judge", {"task": "MARKER t", "agent_output": large, "criteria": ["MARKER c"]}),
            ("POST", "/v1/judge", {"task": "MARKER t", "MARKER": "MARKER"}),
            ("POST", "/v1/consensus", {"task": "MARKER", "answers": [{"output": "MARKER"}, {"output": "MARKER"}]}),
            ("POST", "/v1/judge?MARKER=MARKER", {"task": "MARKER", "agent_output": ""}),
            ("GET", "/v1/keys/me", None),
            ("GET", "/v1/MARKER", None),
            ("POST", "/v1/keys/me/rotate", None),
        ]
        statuses = [server.request(method, path, body, key)[0] for method, path, body in requests]
        assert statuses == [200, 200, 400, 200, 200, 200, 404, 200]
        assert server.request("GET", "/v1/keys/me", key=key)[0] == 401
        with Wire(server.port) as wire:
            wire.send_request("POST", "/v1/judge", b'{"task": "MARKER', Authorization=f"Bearer {key}")
            wire.receive()
            wire.send(b"MARKER MARKER\r\nMARKER: MARKER\r\n\r\n")
            wire.is_closed()
        server.process.terminate()
        assert server.process.wait(STOP_LIMIT_S) == 0
        lines = []
        while (line := server.lines.get(timeout=LIMIT_S)) is not None:
            lines.append(line)
    assert lines
    for line in lines:
        assert json.loads(line).keys() >= {"time", "level", "logger", "message"}
        assert key[12:] not in line
        assert "MARKER" not in line
        assert "marker@" not in line
