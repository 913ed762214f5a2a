"""The composition: configuration and content become services, a front door and a listening server. Everything is
made here, once."""

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from prometheus_client.multiprocess import mark_process_dead
from tornado.ioloop import PeriodicCallback
from tornado.netutil import bind_sockets

from api import contract, facts, problems, prompts
from api.clients.facilitator import HttpFacilitator
from api.clients.model import HttpModel
from api.clients.names import Resolve
from api.clients.ports import Checkout
from api.clients.webhook import HttpWebhooks
from api.config import Config
from api.contract import Contract
from api.core.receipts.issuer import Issuer
from api.core.secrets import new_id
from api.core.stripe_events import is_live_key, is_test_key
from api.facts import Facts
from api.jobs import TICK_S, JobLoop
from api.prompts import Prompt
from api.service import offers
from api.service.deliveries import TESTS_A_MINUTE, TESTS_AT_ONCE
from api.service.engine_pool import EnginePool
from api.service.facilitation import Facilitation
from api.service.grading import Asked, Grader
from api.service.known_keys import KnownKeys
from api.service.rate import RateLimiter
from api.service.routes import unanswered
from api.service.services import Clock, Limits, Services
from api.store import charges, reservations
from api.store.accounts import Grant
from api.store.charges import AnsweredCall, Charge
from api.store.database import Database, StorageUnavailable
from api.store.drift import CompleteFirsts
from api.store.group_commit import GroupCommit
from api.store.open import open_database
from api.store.reservations import Wanted
from api.web.connection import Connections, Listener, listener
from api.web.cors import Cors
from api.web.descriptors import connections_that_fit
from api.web.endpoint import Endpoint
from api.web.front import Front
from api.web.jwks import jwks
from api.web.mcp import Mcp
from api.web.metrics import Metrics
from api.web.static import Site

log = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parent.parent
CONTENT, DIST = ROOT / "content", ROOT / "dist"

MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"
"""Set by the parent of several workers: where prometheus-client keeps what each has counted."""
BACKLOG = 1_024
"""Connections that the kernel keeps until they are accepted. Beyond it clients wait a second and try again."""
STOP_SECONDS = 8
MODEL_STOP_SECONDS = 5
"""How long a stop waits for models. Who waits for one then is answered without it."""
LAST_REQUESTS_SECONDS = 1
BURST = 4
ENGINE_WORKERS = 1


def commit_charges(
    database: Database, clock: Clock, free_limit: int, on_batch: Callable[[int], None]
) -> GroupCommit[AnsweredCall, Charge]:
    """The committer of answered calls. The time is that of the commit, one for the whole batch; `on_batch` hears how
    many calls shared one."""
    complete = CompleteFirsts()

    async def commit(calls: Sequence[AnsweredCall]) -> Sequence[Charge]:
        outcomes = await database.write(charges.record, calls, int(clock()), free_limit, complete)
        on_batch(len(calls))
        return outcomes

    return GroupCommit(commit)


def commit_reservations(database: Database, clock: Clock, free_limit: int) -> GroupCommit[Wanted, Grant]:
    """The committer of calls that are reserved before a model is asked."""

    async def commit(wanted: Sequence[Wanted]) -> Sequence[Grant]:
        return await database.write(reservations.reserve, wanted, int(clock()), free_limit)

    return GroupCommit(commit)


async def open_services(
    config: Config,
    *,
    clock: Clock = time.time,
    content: Path = CONTENT,
    read_contract: Callable[[Path], Contract] = contract.load,
    on_batch: Callable[[int], None] = lambda calls: None,
    on_asked: Callable[[Asked], None] = lambda asked: None,
    on_delivery: Callable[[str], None] = lambda outcome: None,
    resolve: Resolve | None = None,
) -> Services:
    """`resolve` looks up the names of webhooks, by default as the operating system does.

    Reads the content, opens and migrates the database. Raises StorageUnavailable, NewerSchema, YamlFault."""
    known = facts.load(content)
    base_url = config.public_base_url or known.base_url
    known_contract, known_problems = read_contract(content), problems.load(content, base_url)
    if missing := unanswered(known_contract.operations):
        raise LookupError(f"no handler in api/service/routes.py for: {', '.join(missing)}")
    grader = grader_of(config, known, prompts.load(content), on_asked)
    key = secret_key(config)
    # Last, since an open database keeps the process from ending.
    database = await open_database(config.database_url)
    return Services(
        contract=known_contract,
        problems=known_problems,
        facts=known,
        offers=offers.compose(known_contract, known, base_url),
        base_url=base_url,
        limits=Limits(config.signups_per_hour, known.free_calls_per_day),
        secret_key=key,
        admin_token=config.admin_token,
        database=database,
        charges=commit_charges(database, clock, known.free_calls_per_day, on_batch),
        reservations=commit_reservations(database, clock, known.free_calls_per_day),
        engines=EnginePool(ENGINE_WORKERS),
        key_rate=RateLimiter(config.key_requests_per_second, config.key_requests_per_second * BURST, clock),
        known_keys=KnownKeys(),
        checkout=checkout_of(config),
        facilitation=facilitation_of(config, known, 0 if grader is None else grader.work_s),
        grader=grader,
        receipts=Issuer.of(base_url, config.receipt_signing_key, config.receipt_retired_keys),
        webhooks=HttpWebhooks(allow_private=config.webhook_allow_private, resolve=resolve),
        test_rate=RateLimiter(TESTS_A_MINUTE / 60, TESTS_AT_ONCE, clock),
        count_delivery=on_delivery,
        clock=clock,
        random_bytes=os.urandom,
    )


def checkout_of(config: Config) -> Checkout | None:
    """The way to Stripe, None when no packs are sold: without a key of Stripe's test mode, or without the secret that
    the credits come by."""
    if not config.stripe_secret_key:
        return None
    if not is_test_key(config.stripe_secret_key):
        kind = "a live-mode key, which is never used" if is_live_key(config.stripe_secret_key) else "no key of Stripe's"
        log.warning("billing is off: STRIPE_SECRET_KEY is %s; a test-mode key begins with sk_test_ or rk_test_", kind)
        return None
    if not config.stripe_webhook_secret:
        log.warning("billing is off: without STRIPE_WEBHOOK_SECRET no payment could be credited")
        return None
    # Not before it is needed: importing the library takes most of a second.
    from api.clients.checkout import StripeCheckout

    return StripeCheckout(config.stripe_secret_key, config.stripe_webhook_secret, config.stripe_api_base)


def facilitation_of(config: Config, known: Facts, work_s: float) -> Facilitation | None:
    """The way to the x402 facilitator, None when no payments are taken. `work_s`: see `Facilitation`."""
    if not config.x402_facilitator_url:
        return None
    facilitator = HttpFacilitator(config.x402_facilitator_url, config.x402_facilitator_headers, config.x402_timeout_s)
    return Facilitation(facilitator, known.x402.network, work_s)


def grader_of(
    config: Config, known: Facts, told: Mapping[str, Prompt], on_asked: Callable[[Asked], None]
) -> Grader | None:
    """The way to the models, None when none is asked."""
    if not config.llm_api_key:
        return None
    return Grader(
        HttpModel(config.llm_base_url, config.llm_api_key, config.llm_timeout_s),
        (config.llm_model or known.default_model, config.llm_fallback_model or known.fallback_model),
        told,
        os.urandom,
        json_mode=config.llm_json_mode,
        on_asked=on_asked,
    )


def secret_key(config: Config) -> bytes:
    """SECRET_KEY, or the one kept beside the SQLite file, made with mode 0600 when missing.

    Raises StorageUnavailable when it can't be kept there.
    """
    if config.secret_key:
        return config.secret_key.encode()
    path = config.sqlite_path.with_name("secret.key")
    try:
        return _kept_key(path)
    except OSError as error:
        raise StorageUnavailable(f"cannot keep the secret key at {path}: {error.strerror}") from error


def _kept_key(path: Path) -> bytes:
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


@contextmanager
def merged_metrics() -> Iterator[None]:
    """While it lasts, processes started from this one count into files of one folder, so that any can add up."""
    with TemporaryDirectory(prefix="screwtape-metrics-") as folder:
        os.environ[MULTIPROCESS] = folder
        try:
            yield
        finally:
            del os.environ[MULTIPROCESS]


def forget_worker(process_id: int) -> None:
    """Takes a dead worker's levels out of the merged metrics; what it counted stays."""
    mark_process_dead(process_id)  # type: ignore[no-untyped-call]  # the package's own gap


def _is_loopback(host: str) -> bool:
    return host == "localhost" or host == "::1" or host.startswith("127.")


@dataclass(frozen=True)
class App:
    """A listening server. `port` is the one that the system chose when the configuration says 0."""

    services: Services
    front: Front
    connections: Connections
    server: Listener
    timer: PeriodicCallback
    jobs: JobLoop
    port: int

    async def stop(self) -> None:
        """Stops accepting, answers what is in flight and what still comes on open connections, then ends. Takes 10
        s at most."""
        self.connections.draining = True
        self.timer.stop()
        self.server.stop()
        began = time.monotonic()
        # What was accepted last counts as open after a turn of the loop.
        await asyncio.sleep(0)
        while self._in_use(time.monotonic() - began):
            if self.services.grader is not None and time.monotonic() - began >= MODEL_STOP_SECONDS:
                self.services.grader.abandon()
            await asyncio.sleep(0.01)
        await self.server.close_all_connections()
        await self.server.sockets.close_all()
        await self.services.reservations.drain()
        await self.jobs.stop()
        await self.services.charges.drain()
        if self.services.facilitation is not None:
            await self.services.facilitation.close()
        if self.services.grader is not None:
            self.services.grader.close()
        self.services.engines.close()
        await self.services.database.close()

    def _in_use(self, seconds: float) -> bool:
        """Whether to go on waiting, that long after the stop began. A client with an open connection may be sending
        just now: for a moment such a request is still answered, with `Connection: close`."""
        if self.connections.open_exchanges:
            return seconds < STOP_SECONDS
        return bool(self.connections.open_connections) and seconds < LAST_REQUESTS_SECONDS


async def start(
    config: Config,
    *,
    clock: Clock = time.time,
    content: Path = CONTENT,
    read_contract: Callable[[Path], Contract] = contract.load,
    dist: Path = DIST,
    resolve: Resolve | None = None,
) -> App:
    """Composes everything and listens. Raises OSError when the port is taken, and what open_services raises."""
    metrics = Metrics(merged=MULTIPROCESS in os.environ)
    services = await open_services(
        config,
        clock=clock,
        content=content,
        read_contract=read_contract,
        on_batch=metrics.committed,
        on_asked=metrics.asked,
        on_delivery=metrics.delivered,
        resolve=resolve,
    )
    try:
        return _listen(config, services, metrics, dist)
    except BaseException:
        await services.database.close()
        raise


def _listen(config: Config, services: Services, metrics: Metrics, dist: Path) -> App:
    sockets = bind_sockets(config.port, config.host, backlog=BACKLOG, reuse_port=config.workers > 1)
    port: int = sockets[0].getsockname()[1]
    cors = Cors(allowed_origins(config, services.facts, services.base_url, port))
    front = Front(
        services,
        Endpoint(services, cors, metrics, config.trusted_proxies),
        Mcp(services, cors, metrics, config.trusted_proxies),
        Site.load(dist, services.problems),
        Site(jwks(services.receipts), services.problems),
        cors,
        metrics,
        https=services.base_url.startswith("https://"),
    )
    connections = Connections(front, config.client_timeout_s)
    server = listener(connections, connections_that_fit(config.max_connections), config.client_timeout_s)
    server.add_sockets(sockets)
    if services.facilitation is not None:
        # Now, so that not even the first payment has to wait for it. What it finds is looked at when one comes.
        services.facilitation.ask()
    jobs = JobLoop(services, owner=new_id("own", services.random_bytes))
    timer = PeriodicCallback(jobs.begin, TICK_S * 1_000, jitter=0.2)
    timer.start()
    return App(services, front, connections, server, timer, jobs, port)


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
