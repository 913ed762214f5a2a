"""What the server does without being asked, once across all processes and nodes.

Every process ticks; a job's slot (the clock divided by its interval) is claimed with one INSERT, so one process
runs it. A slot whose owner died is taken over after its lease. A job is a plain function of services and time, and
safe to run again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from api.service import deliveries, drift_watch, payments, upkeep
from api.service.services import Services
from api.store import jobs
from api.store.database import StorageUnavailable

log = logging.getLogger(__name__)

TICK_S = 5
"""How often a process looks for work."""


@dataclass(frozen=True, slots=True)
class Job:
    """One job. `every` is its interval, `lease` the time after which an unfinished run counts as dead, both in
    seconds."""

    name: str
    every: int
    run: Callable[[Services, int], Awaitable[str]]
    lease: int = 300


JOBS = (
    Job("release_reservations", every=60, run=upkeep.release_reservations),
    Job("reconcile_payments", every=10, run=payments.reconcile),
    Job("drift_alerts", every=3_600, run=drift_watch.raise_alerts),
    Job("webhook_deliveries", every=5, run=deliveries.deliver),
    Job("expire_retained", every=300, run=upkeep.expire_retained),
    Job("prune", every=3_600, run=upkeep.prune),
)


def named(name: str) -> Job:
    """The job of that name. Raises KeyError."""
    return {job.name: job for job in JOBS}[name]


@dataclass(slots=True)
class JobLoop:
    """One process's share of the jobs. `owner` tells it from all others; `tick` is called again and again."""

    services: Services
    owner: str
    jobs: tuple[Job, ...] = JOBS
    _look_again: dict[str, tuple[int, int]] = field(default_factory=dict)
    _running: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    async def tick(self) -> None:
        """Runs the jobs whose current slot nobody has run, and waits for them. Never raises: what fails is logged and
        tried again."""
        self.begin()
        if self._running:
            await asyncio.wait(self._running.values())

    def begin(self) -> None:
        """Begins what `tick` does. The jobs go on beside each other: one that waits for the network, as deliveries to
        a slow receiver do, holds up none of the others."""
        for job in self.jobs:
            if job.name not in self._running:
                self._running[job.name] = asyncio.create_task(self._tick_one(job), name=job.name)
                self._running[job.name].add_done_callback(self._ended)

    async def stop(self) -> None:
        """Ends what is running. What it had claimed is taken over after its lease."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._running[task.get_name()]

    async def _tick_one(self, job: Job) -> None:
        now = int(self.services.clock())
        slot = now // job.every
        known_slot, not_before = self._look_again.get(job.name, (-1, 0))
        if slot == known_slot and now < not_before:
            return
        try:
            if await self.services.database.write(jobs.claim, job.name, slot, self.owner, now, job.lease):
                await run(job, self.services, slot, self.owner)
        except StorageUnavailable as error:
            log.warning("a job waits for the database", extra={"job": job.name, "reason": str(error)})
            return
        except Exception:
            log.exception("a job failed", extra={"job": job.name})
        # Nobody else's slot is looked at again before its lease could be over.
        self._look_again[job.name] = (slot, now + job.lease)


async def run(job: Job, services: Services, slot: int, owner: str) -> str:
    """Runs a claimed slot and marks it as done; what the job says that it did."""
    done = await job.run(services, int(services.clock()))
    await services.database.write(jobs.finish, job.name, slot, owner, int(services.clock()))
    if done:
        log.info("a job ran", extra={"job": job.name, "reason": done})
    return done
