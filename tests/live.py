"""A real server for tests: the product's own composition on a real socket, with a clock that the test sets."""

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from api import app
from api.config import Config, from_env

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


@contextmanager
def live_server(
    folder: Path, *, dist: Path | None = None, clock: FakeClock | None = None, **settings: str
) -> Iterator[Live]:
    """Runs a server in a thread of its own until the block ends, then stops it gracefully."""
    clock = clock or FakeClock()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="live server")
    thread.start()
    try:
        starting = app.start(config_for(folder, **settings), clock=clock, dist=dist or folder / "no-dist")
        running = asyncio.run_coroutine_threadsafe(starting, loop).result(30)
        try:
            yield Live(running.port, clock, running, loop)
        finally:
            asyncio.run_coroutine_threadsafe(running.stop(), loop).result(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()
