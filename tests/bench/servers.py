"""The servers of the bench, each in a process of its own: bare Tornado, ours with everything on, and the rival."""

import json
import os
import socket
import sqlite3
import subprocess
import sys
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from api.core.secrets import secret_hash

ROOT = Path(__file__).resolve().parents[2]
RIVAL_PYTHON = ROOT / ".cache" / "bench" / "bin" / "python"
KEYS = 64
CREDITS = 1_000_000_000


class Servers:
    """Starts all three and stops them. `ports` by name; `keys_file` holds keys that all of them know, one a line."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self.keys_file = folder / "keys"
        self.ports: dict[str, int] = {}

    def __enter__(self) -> "Servers":
        ours = self._start_ours()
        hashes = self._folder / "hashes"
        hashes.write_text("\n".join(map(secret_hash, self.keys_file.read_text().split())))
        bare, rival = _free_port(), _free_port()
        self._start([sys.executable, "-m", "tests.bench.bare", str(bare)], bare)
        database = self._folder / "rival.db"
        self._start([str(RIVAL_PYTHON), "-m", "tests.bench.rival", str(rival), str(database), str(hashes)], rival)
        self.ports = {"bare Tornado": bare, "Screwtape": ours, "FastAPI, a transaction a call": rival}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _start_ours(self) -> int:
        port, database = _free_port(), self._folder / "screwtape.db"
        settings = {"PORT": str(port), "DATABASE_URL": f"sqlite:///{database}", "SIGNUPS_PER_HOUR": "0"}
        self._start([sys.executable, "-m", "api", "serve"], port, **settings, KEY_REQUESTS_PER_SECOND="0")
        keys = [_new_key(port, number) for number in range(KEYS)]
        self.keys_file.write_text("\n".join(keys) + "\n")
        with sqlite3.connect(database, timeout=10) as connection:
            connection.execute(
                "INSERT INTO credit_entries (id, key_id, created_at, calls, reason, reference, note) "
                "SELECT 'bench ' || id, id, 0, ?, 'grant', 'bench', '' FROM keys",
                (CREDITS,),
            )
            connection.execute("UPDATE keys SET credits = ?", (CREDITS,))
        connection.close()
        return port

    def _start(self, command: list[str], port: int, **settings: str) -> None:
        process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **settings}, stderr=subprocess.DEVNULL)
        self._stack.callback(process.wait)
        self._stack.callback(process.terminate)
        while process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
        sys.exit(f"{command} ended with status {process.returncode}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _new_key(port: int, number: int) -> str:
    body = json.dumps({"email": f"bench{number}@example.com", "name": "bench"}).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/keys", body, {"Content-Type": "application/json"}, method="POST"
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(json.load(answer)["key"])
