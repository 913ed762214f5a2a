"""Work that goes on to its end when the caller who waits for it is cancelled, as a transaction must."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from api.store.database import StorageUnavailable, T


class Unbroken:
    """Runs each piece of work in a task of its own, and keeps hold of the tasks until they end."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()
        self._closed = False

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """The result of `work`. A cancelled caller leaves it behind. Raises StorageUnavailable after `close`."""
        if self._closed:
            raise StorageUnavailable("the database is closed")

        async def task_of_its_own() -> T:
            return await work()

        task = asyncio.create_task(task_of_its_own())
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Refuses new work and waits for what runs."""
        self._closed = True
        while self._running:
            await asyncio.wait(self._running)
