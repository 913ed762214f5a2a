"""A real server for tests: the product's own composition on a real socket, with a clock that the test sets."""

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from api import app, contract
from api.clients.names import Resolve
from api.config import Config, from_env
from api.contract import Contract

NOON = 1_796_040_000.0
"""2026-11-30T12:00:00Z: when a test's clock starts, twelve hours before the free calls are counted anew."""


class FakeClock:
    """Epoch seconds that stand still until a test moves them."""

    def __init__(self, now: float = NOON) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Answer:
    """One response as a client sees it. Header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Wire:
    """A raw connection that stays open: bytes out, one response in at a time."""

    def __init__(self, port: int, timeout: float = 30) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self._in = self.socket.makefile("rb")

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def send_request(self, method: str, path: str, body: bytes = b"", **headers: str) -> None:
        """Sends a whole request. Underscores in the names of `headers` stand for hyphens."""
        lines = [f"{method} {path} HTTP/1.1", "Host: test", f"Content-Length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def receive(self, method: str = "POST") -> Answer:
        """The next response; `method` is that of its request. Raises ConnectionError at the end of the stream."""
        status_line = self._in.readline()
        if not status_line:
            raise ConnectionError("the server closed the connection")
        status = int(status_line.split()[1])
        headers = {}
        while (line := self._in.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        bare = method == "HEAD" or status in (100, 204, 304)
        body = b"" if bare else self._in.read(int(headers["content-length"]))
        return Answer(status, headers, body)

    def is_closed(self) -> bool:
        """Waits for the server to close the connection or send more; whether it closed."""
        try:
            return self._in.read(1) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self._in.close()
        self.socket.close()


@dataclass
class Live:
    """A running server. `request` uses a connection of its own each time."""

    port: int
    clock: FakeClock
    app: app.App
    loop: asyncio.AbstractEventLoop
    keys: list[str] = field(default_factory=list)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Sends `body` as JSON, or as it is when it is bytes. `headers` win over the ones that this makes."""
        sent = {} if body is None else {"Content-Type": "application/json"}
        if key is not None:
            sent["Authorization"] = f"Bearer {key}"
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, raw, {**sent, **(headers or {})})
            response = connection.getresponse()
            answer_headers = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, answer_headers, response.read())
        finally:
            connection.close()

    def wire(self) -> Wire:
        """A raw connection to this server."""
        return Wire(self.port)

    def use_up(self, key: str) -> None:
        """Makes calls with `key` until its free calls of the day are gone."""
        body = b'{"task": "t", "agent_output": "o"}'
        with self.wire() as wire:
            for _ in range(100):
                wire.send_request(
                    "POST", "/v1/judge", body, Authorization=f"Bearer {key}", Content_Type="application/json"
                )
                assert wire.receive().status == 200

    def new_key(self, email: str = "dev@example.com", name: str = "Local dev") -> str:
        """The secret of a new key."""
        answer = self.request("POST", "/v1/keys", {"email": email, "name": name})
        assert answer.status == 201, answer.body
        self.keys.append(answer.json["key"])
        return self.keys[-1]


def config_for(folder: Path, **settings: str) -> Config:
    """The configuration of a server whose files lie in `folder`. Limits that most tests would run into are off."""
    defaults = {
        "PORT": "0",
        "DATABASE_URL": f"sqlite:///{folder}/screwtape.db",
        "SIGNUPS_PER_HOUR": "0",
        "KEY_REQUESTS_PER_SECOND": "0",
    }
    return from_env({**defaults, **settings})


async def no_names(host: str) -> list[str]:
    """Knows addresses only."""
    try:
        return [str(ip_address(host))]
    except ValueError:
        raise OSError("there are no names here") from None


@cache
def read_contract_once(content: Path) -> Contract:
    """The contract of a folder. The tests start more than a thousand servers on the same one, which none of them
    changes."""
    return contract.load(content)


@contextmanager
def live_server(
    folder: Path,
    resolve: Resolve = no_names,
    /,
    *,
    dist: Path | None = None,
    clock: FakeClock | None = None,
    **settings: str,
) -> Iterator[Live]:
    """Runs a server in a thread of its own until the block ends, then stops it gracefully. `resolve` looks up the names
    of webhooks; by default there are none, whatever the machine's network says."""
    clock = clock or FakeClock()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="live server")
    thread.start()
    try:
        starting = app.start(
            config_for(folder, **settings),
            clock=clock,
            dist=dist or folder / "no-dist",
            read_contract=read_contract_once,
            resolve=resolve,
        )
        running = asyncio.run_coroutine_threadsafe(starting, loop).result(30)
        try:
            yield Live(running.port, clock, running, loop)
        finally:
            asyncio.run_coroutine_threadsafe(running.stop(), loop).result(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()
