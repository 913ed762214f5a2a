"""The composition: configuration and content become services, a front door and a listening server. Everything is
made here, once."""

import asyncio
import logging
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tornado.netutil import bind_sockets

from api import contract, facts, problems
from api.config import Config
from api.facts import Facts
from api.service.engine_pool import EnginePool
from api.service.rate import RateLimiter
from api.service.services import Clock, Limits, Services
from api.store import charges
from api.store.charges import AnsweredCall, Charge
from api.store.database import Database
from api.store.group_commit import GroupCommit
from api.store.open import open_database
from api.web.connection import Connections, Listener
from api.web.cors import Cors
from api.web.endpoint import Endpoint
from api.web.front import Front
from api.web.static import Site

log = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parent.parent
CONTENT, DIST = ROOT / "content", ROOT / "dist"

IDLE_SECONDS = 15
"""How long a connection may take to send a whole request head, idle time between requests included."""
BODY_SECONDS = 15
STOP_SECONDS = 8
LAST_REQUESTS_SECONDS = 1
BURST = 4
ENGINE_WORKERS = 1


def commit_charges(database: Database, clock: Clock, free_limit: int) -> GroupCommit[AnsweredCall, Charge]:
    """The committer of answered calls. The day is that of the commit, one for the whole batch."""

    async def commit(calls: Sequence[AnsweredCall]) -> Sequence[Charge]:
        return await database.write(charges.record, calls, int(clock()), free_limit)

    return GroupCommit(commit)


async def open_services(config: Config, *, clock: Clock = time.time, content: Path = CONTENT) -> Services:
    """Reads the content, opens and migrates the database. Raises StorageUnavailable, NewerSchema, YamlFault."""
    known = facts.load(content)
    base_url = config.public_base_url or known.base_url
    known_contract, known_problems = contract.load(content), problems.load(content, base_url)
    key = secret_key(config)
    # Last, since an open database keeps the process from ending.
    database = await open_database(config.database_url)
    return Services(
        contract=known_contract,
        problems=known_problems,
        facts=known,
        base_url=base_url,
        limits=Limits(config.signups_per_hour, known.free_calls_per_day),
        secret_key=key,
        admin_token=config.admin_token,
        database=database,
        charges=commit_charges(database, clock, known.free_calls_per_day),
        engines=EnginePool(ENGINE_WORKERS),
        key_rate=RateLimiter(config.key_requests_per_second, config.key_requests_per_second * BURST, clock),
        clock=clock,
        random_bytes=os.urandom,
    )


def secret_key(config: Config) -> bytes:
    """SECRET_KEY, or the one kept beside the SQLite file, made with mode 0600 when missing."""
    if config.secret_key:
        return config.secret_key.encode()
    path = config.sqlite_path.with_name("secret.key")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        made = path.with_name(f"secret.key.{os.getpid()}")
        with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(os.urandom(32).hex().encode())
        # Of several processes that start at once the first one's key stands, and nobody reads half of one.
        with suppress(FileExistsError):
            os.link(made, path)
        made.unlink()
    return path.read_bytes()


def allowed_origins(config: Config, known: Facts, base_url: str, port: int) -> frozenset[str]:
    """The browser origins that are let in. Bound to loopback, the server's own local ones too; the Host header
    never decides."""
    local = {f"http://127.0.0.1:{port}", f"http://localhost:{port}"} if _is_loopback(config.host) else set()
    return frozenset({*known.origins, *config.allowed_origins, base_url} | local)


def _is_loopback(host: str) -> bool:
    return host == "localhost" or host == "::1" or host.startswith("127.")


@dataclass(frozen=True)
class App:
    """A listening server. `port` is the one that the system chose when the configuration says 0."""

    services: Services
    front: Front
    connections: Connections
    server: Listener
    port: int

    async def stop(self) -> None:
        """Stops accepting, answers what is in flight and what still comes on open connections, then ends. Takes 10
        s at most."""
        self.connections.draining = True
        self.server.stop()
        began = time.monotonic()
        while self._in_use(time.monotonic() - began):
            await asyncio.sleep(0.01)
        await self.server.close_all_connections()
        await self.services.charges.drain()
        self.services.engines.close()
        await self.services.database.close()

    def _in_use(self, seconds: float) -> bool:
        """Whether to go on waiting, that long after the stop began. A client with an open connection may be sending
        just now: for a moment such a request is still answered, with `Connection: close`."""
        if self.connections.open_exchanges:
            return seconds < STOP_SECONDS
        return bool(self.connections.open_connections) and seconds < LAST_REQUESTS_SECONDS


async def start(config: Config, *, clock: Clock = time.time, content: Path = CONTENT, dist: Path = DIST) -> App:
    """Composes everything and listens. Raises OSError when the port is taken, and what open_services raises."""
    services = await open_services(config, clock=clock, content=content)
    try:
        return _listen(config, services, dist)
    except BaseException:
        await services.database.close()
        raise


def _listen(config: Config, services: Services, dist: Path) -> App:
    sockets = bind_sockets(config.port, config.host, reuse_port=config.workers > 1)
    port: int = sockets[0].getsockname()[1]
    cors = Cors(allowed_origins(config, services.facts, services.base_url, port))
    front = Front(
        Endpoint(services, cors, config.trusted_proxies),
        Site.load(dist, services.problems),
        services.problems,
        https=services.base_url.startswith("https://"),
    )
    connections = Connections(front)
    server = Listener(
        connections,
        idle_connection_timeout=IDLE_SECONDS,
        body_timeout=BODY_SECONDS,
        # Our own limit answers with a problem document; Tornado's, a bare 400, must not come first.
        max_body_size=2**40,
    )
    server.add_sockets(sockets)
    return App(services, front, connections, server, port)


async def serve(config: Config) -> int:
    """Serves until SIGTERM or SIGINT; the exit status. A second signal ends the process at once with status 1."""
    stopping = asyncio.Event()

    def on_signal() -> None:
        if stopping.is_set():
            os._exit(1)
        stopping.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    app = await start(config)
    log.info("serving http://%s:%s", config.host, app.port)
    await stopping.wait()
    log.info("stopping")
    await app.stop()
    log.info("stopped")
    return 0
