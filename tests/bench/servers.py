"""The servers of the bench, each a process of its own: bare Tornado, ours with everything on, and what others would
write."""

import json
import os
import socket
import sqlite3
import subprocess
import sys
import urllib.request
from contextlib import ExitStack, closing
from pathlib import Path
from types import TracebackType

from api.core.secrets import secret_hash

ROOT = Path(__file__).resolve().parents[2]
RIVAL_PYTHON = ROOT / ".cache" / "bench" / "bin" / "python"
OURS = "Screwtape"
FASTIFY = Path(__file__).parent / "fastify"
KEYS = 64
CREDITS = 1_000_000_000


class Servers:
    """Starts all and stops them. `ports` by name; `keys_file` holds keys that all of them know, one a line."""

    def __init__(self, folder: Path, node: Path) -> None:
        self._folder, self._node = folder, node
        self._stack = ExitStack()
        self.keys_file = folder / "keys"
        self.ports: dict[str, int] = {}

    def __enter__(self) -> "Servers":
        self.ports["bare Tornado"] = self._start([sys.executable, "-m", "tests.bench.bare", "PORT"])
        self.ports[OURS] = self._start_ours("one", 1)
        keys = self.keys_file.read_text().split()
        self.ports[f"{OURS}, 2 processes"] = self._start_ours("two", 2)
        # Of all servers, so that one script of wrk's serves them all.
        self._share_keys(keys)
        hashes = self._folder / "hashes"
        hashes.write_text("\n".join(map(secret_hash, keys)))
        rival = [str(RIVAL_PYTHON), "-m", "tests.bench.rival", "PORT", str(self._folder / "rival.db"), str(hashes)]
        self.ports["FastAPI, a transaction a call"] = self._start(rival)
        fastify = [str(self._node), "--no-warnings", str(self._node.parents[3] / "server.mjs"), "PORT"]
        self.ports["fastify, a transaction a call"] = self._start(
            [*fastify, str(self._folder / "fastify.db"), str(hashes)]
        )
        self.ports["fastify, no accounting"] = self._start(fastify)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _start_ours(self, name: str, workers: int) -> int:
        database = self._folder / f"{name}.db"
        settings = {"DATABASE_URL": f"sqlite:///{database}", "SIGNUPS_PER_HOUR": "0", "KEY_REQUESTS_PER_SECOND": "0"}
        port = self._start([sys.executable, "-m", "api", "serve"], WORKERS=str(workers), **settings)
        if not self.keys_file.exists():
            self.keys_file.write_text("\n".join(_new_key(port, number) for number in range(KEYS)) + "\n")
        return port

    def _share_keys(self, keys: list[str]) -> None:
        """Gives the first database's keys to the second, and all of them more credits than a bench uses."""
        with closing(sqlite3.connect(self._folder / "two.db", timeout=10)) as connection, connection:
            connection.execute("ATTACH ? AS one", (str(self._folder / "one.db"),))
            connection.execute("INSERT INTO main.keys SELECT * FROM one.keys")
            for database in ("main", "one"):
                connection.execute(
                    f"INSERT INTO {database}.credit_entries (id, key_id, created_at, calls, reason, reference, note) "
                    f"SELECT 'bench ' || id, id, 0, ?, 'grant', 'bench', '' FROM {database}.keys",
                    (CREDITS,),
                )
                connection.execute(f"UPDATE {database}.keys SET credits = ?", (CREDITS,))

    def _start(self, command: list[str], **settings: str) -> int:
        """Starts a server on a free port, which stands for PORT in the command and in the environment."""
        port = free_port()
        words = [str(port) if word == "PORT" else word for word in command]
        environment = {**os.environ, "PORT": str(port), **settings}
        process = subprocess.Popen(words, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
        self._stack.callback(process.wait)
        self._stack.callback(process.terminate)
        wait_for(process, port)
        return port


def wait_for(process: "subprocess.Popen[bytes]", port: int) -> None:
    """Returns when the server listens; ends the bench when it has ended."""
    while process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
    sys.exit(f"{process.args!r} ended with status {process.returncode}")


def free_port() -> int:
    """A port that nobody listens on now."""
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
