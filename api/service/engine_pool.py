"""Runs an engine where it stalls nobody: small inputs at once on the event loop, large ones in worker processes.

A consensus of three short answers takes tens of microseconds, less than handing it to another process; the largest
accepted one takes 100 ms, in which no other request would be answered.
"""

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from multiprocessing.connection import wait
from typing import Any

from api.contract import text_size
from api.problems import Problem

Work = Callable[[dict[str, Any]], dict[str, Any]]

INLINE_CHARACTERS = 8_192
MAX_HEAVY = 16
HEAVY_SECONDS = 30
"""How long a large input may wait and be worked on. The engines' own bounds lie far below."""
RETRY_AFTER_S = 1


class EnginePool:
    """`workers` processes for large inputs, started when first needed; 0 runs everything on the event loop."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._executor: ProcessPoolExecutor | None = None
        self._heavy = 0

    async def run(self, work: Work, body: dict[str, Any]) -> dict[str, Any]:
        """The result of `work(body)`. Raises Problem overloaded when too much large work waits already."""
        if not self._workers or text_size(body) <= INLINE_CHARACTERS:
            return work(body)
        if self._heavy >= MAX_HEAVY:
            raise Problem(
                "overloaded", "Too many large inputs are being worked on.", headers={"Retry-After": str(RETRY_AFTER_S)}
            )
        self._heavy += 1
        try:
            async with asyncio.timeout(HEAVY_SECONDS):
                return await self._run_apart(work, body)
        except TimeoutError:
            self.close()
            raise Problem(
                "overloaded", "The input took too long.", headers={"Retry-After": str(RETRY_AFTER_S)}
            ) from None
        finally:
            self._heavy -= 1

    def close(self) -> None:
        """Ends the workers, whatever they run: by now nobody waits for it."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.kill()
                process.join()

    async def _run_apart(self, work: Work, body: dict[str, Any]) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._started(), work, body)
        except BrokenExecutor:
            # A worker was killed, by the kernel for want of memory or by hand: once more on new ones.
            self._executor = None
            return await loop.run_in_executor(self._started(), work, body)

    def _started(self) -> ProcessPoolExecutor:
        if self._executor is None:
            # Spawned, not forked: the server has threads, whose locks a fork would copy in whatever state they are.
            context = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(self._workers, mp_context=context, initializer=_prepare_worker)
        return self._executor


def _prepare_worker() -> None:
    """Leaves signals to the server, and ends the worker with it, also when it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
