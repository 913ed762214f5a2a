"""Many processes on one port: a parent that starts WORKERS workers, replaces the dead, and stops them all.

Each worker listens for itself with SO_REUSEPORT, and the kernel spreads connections over them. The parent holds the
port with a socket that is bound but does not listen, so it gets no connections; it is how PORT=0 becomes one port for
all, and what keeps the port while workers come and go.

Workers are spawned with multiprocessing. Not forked: a fork copies the locks of other threads in whatever state they
are. And not `python -m api serve` started anew: a worker started later would read an environment and a .env that may
have changed meanwhile, while this way it gets the parent's settings as they were checked. multiprocessing also gives
each side a sentinel of the other, which the kernel closes: a worker notices when its parent is killed, and ends.
"""

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
import sys
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from api import app, logs
from api.config import Config

log = logging.getLogger(__name__)

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 30.0
HEALTHY_S = 30
"""A worker that lived this long died of something new: its successor starts after the first, short pause again."""
STOP_S = 9.5
"""Workers stop within 9 s by themselves; who does not is killed."""
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)

_context = multiprocessing.get_context("spawn")


async def supervise(config: Config) -> int:
    """Serves with `config.workers` processes until SIGTERM or SIGINT; the exit status. A second signal kills them all
    at once, with status 1.

    Raises OSError when the port is taken, and what app.open_services raises: whatever would keep a worker from serving
    is found before the first one starts, and the database is migrated by then.
    """
    supervisor = _Supervisor()
    loop = asyncio.get_running_loop()
    for number in _STOP_SIGNALS:
        loop.add_signal_handler(number, supervisor.on_signal)
    services = await app.open_services(config)
    await services.database.close()
    with app.merged_metrics(), hold_port(config.host, config.port) as held:
        return await supervisor.run(replace(config, port=held.getsockname()[1]))


def hold_port(host: str, port: int) -> socket.socket:
    """A socket that holds the port for the workers. Raises OSError when it is taken, also by another server of many
    processes, with which SO_REUSEPORT would silently share it."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)
    held = socket.socket(family, kind, protocol)
    try:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(address)
    except OSError:
        held.close()
        raise
    return held


class _Supervisor:
    """The parent's state. `_processes` are the workers by number, each replaced when it has died."""

    def __init__(self) -> None:
        self._processes: dict[int, SpawnProcess] = {}
        self._ready: set[int] = set()
        self._stopping = asyncio.Event()
        self._failed = False

    def on_signal(self) -> None:
        if self._stopping.is_set():
            for process in self._processes.values():
                process.kill()
            os._exit(1)
        self._stopping.set()

    async def run(self, config: Config) -> int:
        """Keeps the workers running until it is told to stop. Status 1 when none could ever serve, or one did not stop
        in order."""
        keepers = [asyncio.create_task(self._keep(number, config)) for number in range(config.workers)]
        await self._stopping.wait()
        log.info("stopping")
        for process in self._processes.values():
            process.terminate()
        _, late = await asyncio.wait(keepers, timeout=STOP_S)
        for process in self._processes.values():
            process.kill()
        await asyncio.gather(*keepers)
        log.info("stopped")
        return 1 if late or self._failed else 0

    async def _keep(self, number: int, config: Config) -> None:
        loop, pause = asyncio.get_running_loop(), FIRST_PAUSE_S
        while not self._stopping.is_set():
            began = loop.time()
            status = await self._run_one(number, config)
            if self._stopping.is_set():
                return
            if not self._ready:
                log.error("no worker could start", extra={"worker": number, "reason": f"exit status {status}"})
                self._failed = True
                self._stopping.set()
                return
            lived = loop.time() - began
            if lived > HEALTHY_S:
                pause = FIRST_PAUSE_S
            reason = f"exit status {status} after {lived:.1f} s; another starts in {pause:.1f} s"
            log.warning("a worker ended", extra={"worker": number, "reason": reason})
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)

    async def _run_one(self, number: int, config: Config) -> int | None:
        """Runs one worker to its end; its exit status, the negative signal when one killed it."""
        reading, writing = _context.Pipe(duplex=False)
        process = _context.Process(target=_work, args=(config, writing), name=f"worker {number}")
        process.start()
        writing.close()
        log.info("worker %s is process %s", number, process.pid, extra={"worker": number})
        self._processes[number] = process
        with reading:
            await _readable(reading.fileno())
            serves = _says_ready(reading)
        if serves:
            log.info("worker %s serves", number, extra={"worker": number})
            self._note_ready(number, config)
        await _readable(process.sentinel)
        process.join()
        if process.pid is not None:
            app.forget_worker(process.pid)
        if serves and process.exitcode != 0 and self._stopping.is_set():
            self._failed = True
        return process.exitcode

    def _note_ready(self, number: int, config: Config) -> None:
        was_complete = len(self._ready) == config.workers
        self._ready.add(number)
        if len(self._ready) == config.workers and not was_complete:
            log.info("serving http://%s:%s with %s workers", config.host, config.port, config.workers)


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(descriptor)


def _says_ready(reading: Connection) -> bool:
    try:
        return reading.recv() is True
    except EOFError:
        # It ended, or was ended, before it served.
        return False


def _work(config: Config, writing: Connection) -> None:
    """A worker's whole life."""
    # Ctrl-C reaches every process of the terminal; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logs.configure(config.log_level)
    try:
        asyncio.run(_serve(config, writing))
    except Exception:
        log.exception("a worker could not serve")
        sys.exit(1)


async def _serve(config: Config, writing: Connection) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    parent = multiprocessing.parent_process()
    assert parent is not None  # noqa: S101 - started by supervise only
    orphaned = asyncio.create_task(_readable(parent.sentinel))
    orphaned.add_done_callback(lambda _: stopping.set())
    server = await app.start(config)
    with suppress(BrokenPipeError):
        writing.send(True)
    writing.close()
    await stopping.wait()
    orphaned.cancel()
    await server.stop()
