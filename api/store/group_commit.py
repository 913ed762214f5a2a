"""One durable commit shared by all calls in flight.

While one batch commits, the next one gathers; there is no timer, since waiting for more calls would only cost
latency. An item's answer is given after the commit that holds it, never before.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from api.store.database import StorageUnavailable

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

MAX_BATCH = 512
MAX_WAITING = 8_192


class QueueFull(Exception):
    """More items wait than the committer takes on. Nothing was recorded."""


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[Item, Outcome]):
    item: Item
    outcome: "asyncio.Future[Outcome]"


class GroupCommit(Generic[Item, Outcome]):
    """Hands what calls want recorded to `commit`, a batch at a time, in the order of arrival.

    `commit` writes a batch in one transaction and returns one outcome an item.
    """

    def __init__(self, commit: Callable[[Sequence[Item]], Awaitable[Sequence[Outcome]]]) -> None:
        self._commit = commit
        self._waiting: list[_Waiting[Item, Outcome]] = []
        self._worker: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """How many items wait for their batch."""
        return len(self._waiting)

    async def submit(self, item: Item) -> Outcome:
        """Records `item` and returns its outcome once it is durable.

        Raises QueueFull, or what `commit` raised. An item whose caller is cancelled before its batch begins is not
        recorded.
        """
        if len(self._waiting) >= MAX_WAITING:
            raise QueueFull
        outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(item, outcome))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())
        return await outcome

    async def drain(self) -> None:
        """Waits until everything submitted so far is recorded."""
        while self._worker is not None:
            await asyncio.wait([self._worker])

    async def _work(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
                await self._record(batch)
        finally:
            self._worker = None

    async def _record(self, batch: list[_Waiting[Item, Outcome]]) -> None:
        batch = [waiting for waiting in batch if not waiting.outcome.done()]
        if not batch:
            return
        try:
            outcomes = await self._commit([waiting.item for waiting in batch])
            if len(outcomes) != len(batch):
                raise RuntimeError(f"{len(outcomes)} outcomes for {len(batch)} items")
        except StorageUnavailable as error:
            _fail(batch, error)
        except Exception as error:
            if len(batch) == 1:
                _fail(batch, error)
                return
            # One bad item must not take its neighbours with it. Halves, in order, find it in few transactions.
            middle = len(batch) // 2
            await self._record(batch[:middle])
            await self._record(batch[middle:])
        except BaseException:
            # The loop ends. Whoever still waits must not wait for ever.
            for waiting in batch:
                waiting.outcome.cancel()
            raise
        else:
            for waiting, outcome in zip(batch, outcomes, strict=True):
                if not waiting.outcome.done():
                    waiting.outcome.set_result(outcome)


def _fail(batch: Sequence[_Waiting[Item, Outcome]], error: Exception) -> None:
    for waiting in batch:
        if not waiting.outcome.done():
            waiting.outcome.set_exception(error)
