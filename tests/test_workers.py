"""Many processes on one port, as real processes: they are started, killed and stopped from outside."""

import http.client
import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.databases import ROOT
from tests.examples import example

LIMIT_S = 30
"""How long anything may take before a test gives up on it."""
STOP_LIMIT_S = 10
"""What PRODUCT.md section 12 allows for a graceful stop."""


@dataclass
class Server:
    """A server of several processes, and what it has logged. `wait_for` reads on; `pids` are the workers by number."""

    process: subprocess.Popen[str]
    lines: "queue.Queue[str | None]" = field(default_factory=queue.Queue)
    pids: dict[int, int] = field(default_factory=dict)
    port: int = 0
    log: list[str] = field(default_factory=list)

    def read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line)
            self.lines.put(line)
        self.lines.put(None)

    def wait_for(self, pattern: str) -> str:
        """The next logged message that matches."""
        seen: list[str] = []
        while (line := self.lines.get(timeout=LIMIT_S)) is not None:
            seen.append(line)
            message: str = json.loads(line)["message"] if line.startswith("{") else line
            started = re.fullmatch(r"worker (\d+) is process (\d+)", message)
            if started:
                self.pids[int(started[1])] = int(started[2])
            if re.search(pattern, message):
                return message
        raise AssertionError(f"{pattern!r} was never logged: {seen}")

    def wait_for_all_to_end(self) -> None:
        """Waits until no process holds the log open: the parent, the workers, and all that they started."""
        while self.lines.get(timeout=LIMIT_S) is not None:
            pass

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)

    def request(self, method: str, path: str, body: Any = None, key: str = "") -> tuple[int, Any]:
        """On a connection of its own, so that the kernel chooses a worker."""
        connection = self.connect()
        try:
            return exchange(connection, method, path, body, key)
        finally:
            connection.close()

    def new_key(self) -> str:
        status, made = self.request("POST", "/v1/keys", {"email": "dev@example.com", "name": "Load"})
        assert status == 201, made
        return str(made["key"])

    def used(self, key: str) -> int:
        status, shown = self.request("GET", "/v1/keys/me", key=key)
        assert status == 200, shown
        return int(shown["free_calls"]["used"])


def exchange(
    connection: http.client.HTTPConnection, method: str, path: str, body: Any = None, key: str = ""
) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    if body is not None:
        headers["Content-Type"] = "application/json"
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    return response.status, json.loads(response.read())


@contextmanager
def running(database_url: str, workers: int = 3, **settings: str) -> Iterator[Server]:
    """A running server, whose processes all end with the block."""
    with TemporaryDirectory() as folder:
        # Killed processes leave their temporary files behind.
        yield from _running(database_url, workers, {**settings, "TMPDIR": folder})


def _running(database_url: str, workers: int, settings: dict[str, str]) -> Iterator[Server]:
    environment = {
        **os.environ,
        "PORT": "0",
        "WORKERS": str(workers),
        "DATABASE_URL": database_url,
        "SECRET_KEY": "only for tests",
        "SIGNUPS_PER_HOUR": "0",
        "KEY_REQUESTS_PER_SECOND": "0",
        **settings,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "api", "serve"],
        cwd=ROOT,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    server = Server(process)
    reader = threading.Thread(target=server.read)
    reader.start()
    try:
        server.port = int(server.wait_for("^serving").split(":")[2].split()[0])
        yield server
    finally:
        process.kill()
        process.wait()
        # Ends when the last process that holds the log has ended.
        reader.join(LIMIT_S)
        assert process.stderr is not None
        process.stderr.close()
        assert not reader.is_alive()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/screwtape.db"


def call_until_refused(server: Server, key: str) -> Counter[int]:
    """Calls on one kept connection after the other until the key's calls are used up. Counts by status; 0 is a call
    that was sent and not answered."""
    counts: Counter[int] = Counter()
    connection = server.connect()
    while True:
        try:
            status, _ = exchange(connection, "POST", "/v1/consensus", example("consensus"), key)
        except ConnectionRefusedError:
            # The worker that was killed had the connection in its queue; it was not sent.
            continue
        except (OSError, http.client.HTTPException):
            counts[0] += 1
            connection.close()
            connection = server.connect()
            continue
        counts[status] += 1
        if status != 200:
            connection.close()
            return counts


@pytest.mark.promise("ops.workers")
def test_a_killed_worker_is_replaced_and_the_count_stays_exact(database_url: str) -> None:
    with running(database_url, workers=3) as server:
        key = server.new_key()
        victim = server.pids[1]
        with ThreadPoolExecutor(6) as clients:
            loads = [clients.submit(call_until_refused, server, key) for _ in range(6)]
            os.kill(victim, signal.SIGKILL)
            server.wait_for("a worker ended")
            counts = sum((load.result() for load in loads), Counter[int]())
        assert server.used(key) == 100
        assert set(counts) <= {0, 200, 429}, counts
        assert 100 - counts[0] <= counts[200] <= 100, counts
        server.wait_for("^worker 1 serves")
        assert server.pids[1] != victim
        for pid in (server.pids[0], server.pids[2]):
            os.kill(pid, signal.SIGKILL)
            server.wait_for("a worker ended")
        assert server.used(key) == 100, "the new one serves"


def test_sigterm_answers_what_is_in_flight(sqlite_url: str) -> None:
    """No request that was sent is dropped: each connection gets its answers until one says that it closes."""
    with running(sqlite_url) as server:
        barrier = threading.Barrier(9)

        def call_until_told_to_close() -> list[int]:
            connection = server.connect()
            connection.connect()
            statuses = []
            barrier.wait(LIMIT_S)
            while True:
                connection.request("GET", "/v1/health")
                response = connection.getresponse()
                response.read()
                statuses.append(response.status)
                if response.headers.get("Connection") == "close":
                    connection.close()
                    return statuses

        with ThreadPoolExecutor(8) as clients:
            loads = [clients.submit(call_until_told_to_close) for _ in range(8)]
            barrier.wait(LIMIT_S)
            server.process.send_signal(signal.SIGTERM)
            statuses = [status for load in loads for status in load.result()]
        assert set(statuses) == {200}
        assert server.process.wait(STOP_LIMIT_S) == 0
        server.wait_for_all_to_end()


def test_ctrl_c_reaches_all_processes_and_is_one_graceful_stop(sqlite_url: str) -> None:
    with running(sqlite_url) as server:
        os.killpg(server.process.pid, signal.SIGINT)
        assert server.process.wait(STOP_LIMIT_S) == 0
        server.wait_for_all_to_end()


@contextmanager
def half_a_request(server: Server) -> Iterator[None]:
    """Keeps one worker from stopping at once: it waits for the rest of a body."""
    with socket.create_connection(("127.0.0.1", server.port), LIMIT_S) as connection:
        head = "POST /v1/keys HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 100"), "the worker has begun to read it"
        yield


def test_a_client_that_never_finishes_does_not_hold_up_the_stop(sqlite_url: str) -> None:
    with running(sqlite_url) as server, half_a_request(server):
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(STOP_LIMIT_S) == 0


def test_a_second_sigterm_ends_everything_at_once(sqlite_url: str) -> None:
    with running(sqlite_url) as server, half_a_request(server):
        server.process.send_signal(signal.SIGTERM)
        server.wait_for("^stopping")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(LIMIT_S) == 1
        server.wait_for_all_to_end()


def test_workers_end_with_a_killed_parent(sqlite_url: str) -> None:
    with running(sqlite_url) as server:
        server.process.kill()
        server.process.wait()
        server.wait_for_all_to_end()
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(("127.0.0.1", server.port))


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_port_in_use_is_not_shared(sqlite_url: str, tmp_path: Path, workers: str) -> None:
    """SO_REUSEPORT would let a second server take a part of the first one's connections."""
    with running(sqlite_url) as server:
        second = subprocess.run(
            [sys.executable, "-m", "api", "serve"],
            cwd=ROOT,
            env={**os.environ, "PORT": str(server.port), "WORKERS": workers, "DATABASE_URL": f"{sqlite_url}.2"},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
    assert second.returncode == 1
    assert f"Can't listen on 127.0.0.1:{server.port}" in second.stderr


def test_a_database_that_can_not_be_used_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    url = f"sqlite:///{tmp_path}/file/screwtape.db"
    failed = subprocess.run(
        [sys.executable, "-m", "api", "serve"],
        cwd=ROOT,
        env={**os.environ, "PORT": "0", "WORKERS": "4", "DATABASE_URL": url, "SECRET_KEY": "only for tests"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert failed.returncode == 1
    assert failed.stderr.count("The database can't be used") == 1
    assert "Traceback" not in failed.stderr
