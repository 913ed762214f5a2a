"""`python -m api demo-drift --database URL`: a month of made-up traffic in a scratch database, to look at drift with.

Three agents, 31 days to now: `support` fails more since ten hours ago, `planner` has a version that is worse since six
hours ago, and `swarm` (consensus) is steady but for ten bad hours two weeks ago. The calls are charged as real ones
are, and the alert check runs after every hour of them.
"""

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from api.commands.operate import with_services
from api.commands.output import fail
from api.config import Config
from api.core.drift import DAY_S, HOUR_S
from api.core.secrets import new_id, new_secret, secret_hash, shown_prefix
from api.service import drift_watch
from api.service.services import Services
from api.store import charges, credits, keys
from api.store.charges import AnsweredCall
from api.store.credits import Entry
from api.store.database import Tx
from api.store.drift import CompleteFirsts, Observation
from api.store.keys import Filter, StoredKey

NAME, HELP = "demo-drift", "Fill a scratch database with a month of traffic that drifts, and print a key for it."

EMAIL = "drift-demo@example.com"
"""Marks the command's own keys: a database with any other is somebody's."""
DAYS = 31
CREDITS = 100_000
LEAST_CALLS, MOST_CALLS = 3, 9
"""Calls of an agent in an hour."""


def add(parser: argparse.ArgumentParser) -> None:
    """--database, --now, --force."""
    parser.add_argument(
        "--database", required=True, metavar="URL", help="the scratch database: sqlite:///PATH or postgresql://..."
    )
    parser.add_argument("--now", help="when the month ends, RFC 3339 (default: the clock's time)")
    parser.add_argument("--force", action="store_true", help="also fill a database that has other keys")


def run(config: Config, arguments: argparse.Namespace) -> int:
    """Prints the new key's secret and nothing else on standard output. An earlier demo key is replaced."""
    url: str = arguments.database
    if not url.startswith(("sqlite:///", "postgresql://")):
        return fail("--database must begin with sqlite:/// or postgresql://")
    if url.startswith("postgresql://") and not config.secret_key:
        return fail("Set SECRET_KEY, the same as the server's: PostgreSQL needs it.")
    try:
        ends = None if arguments.now is None else int(datetime.fromisoformat(arguments.now).timestamp())
    except ValueError:
        return fail("--now must be an RFC 3339 time such as 2026-11-30T12:00:00Z")

    async def work(services: Services) -> int:
        demos, others = await services.database.read(_held)
        if others and not arguments.force:
            return fail("The database has keys that this command did not make. Name an empty one, or add --force.")
        for demo in demos:
            await services.database.write(keys.revoke, demo)
        secret = new_secret(services.random_bytes)
        now = int(services.clock()) if ends is None else ends
        calls, raised = await _fill(services, secret, now)
        print(f"{calls} calls of {len(AGENTS)} agents in {DAYS} days, {raised} alerts. The key:", file=sys.stderr)
        print(secret)
        return 0

    return with_services(replace(config, database_url=url), work)


@dataclass(frozen=True, slots=True)
class _Phase:
    """How an agent does from `hours_ago` on, until its next phase. `bad` is the share of fails, or of high risks."""

    hours_ago: int
    version: str
    bad: float


AGENTS: dict[str, tuple[_Phase, ...]] = {
    "support": (_Phase(DAYS * 24, "1.4.2", 0.05), _Phase(10, "1.4.2", 0.75)),
    "planner": (_Phase(DAYS * 24, "2.0.2", 0.06), _Phase(15 * 24, "2.0.3", 0.04), _Phase(6, "2.1.0", 0.6)),
    "swarm": (_Phase(DAYS * 24, "7", 0.03), _Phase(14 * 24, "7", 0.4), _Phase(14 * 24 - 10, "7", 0.03)),
}


async def _held(tx: Tx) -> tuple[list[str], bool]:
    """The ids of the demo's own keys, and whether there are any others."""
    demos = [key.id for key, _ in await keys.page(tx, Filter(email=EMAIL), 100, None)]
    return demos, await keys.count(tx) > len(demos)


async def _fill(services: Services, secret: str, now: int) -> tuple[int, int]:
    """Charges the calls hour by hour; how many, and how many alerts they raised."""
    began = now // HOUR_S * HOUR_S - DAYS * DAY_S
    key = StoredKey(
        new_id("key", services.random_bytes), EMAIL, "Drift demo", shown_prefix(secret), secret_hash(secret), began
    )
    await services.database.write(_open, key, new_id("cre", services.random_bytes))
    # Of the kind that repeats: the same month again, whenever it is made. Nothing here has to be hard to guess.
    dice = random.Random(8)  # noqa: S311
    complete, calls, raised = CompleteFirsts(), 0, 0
    limit = services.limits.free_calls_per_day
    for hours_ago in range(DAYS * 24, -1, -1):
        at = min(now, began + (DAYS * 24 - hours_ago) * HOUR_S + HOUR_S // 2)
        batch = [
            AnsweredCall(key.secret_hash, new_id("req", services.random_bytes), seen)
            for seen in _observations(hours_ago, dice)
        ]
        await services.database.write(charges.record, batch, at, limit, complete)
        calls += len(batch)
        raised += len(await drift_watch.check(services, at))
    return calls, raised


async def _open(tx: Tx, key: StoredKey, entry_id: str) -> None:
    await keys.add(tx, key, 1)
    await credits.add(tx, Entry(entry_id, key.id, key.created_at, CREDITS, "grant", entry_id, "Made up traffic"))


def _observations(hours_ago: int, dice: random.Random) -> Iterator[Observation]:
    for agent_id, phases in AGENTS.items():
        phase = [each for each in phases if each.hours_ago >= hours_ago][-1]
        for _ in range(dice.randint(LEAST_CALLS, MOST_CALLS)):
            yield _observation(agent_id, phase, dice)


def _observation(agent_id: str, phase: _Phase, dice: random.Random) -> Observation:
    lot = dice.random()
    if agent_id == "swarm":
        unsure: Literal["low", "medium"] = "medium" if lot < phase.bad + 0.1 else "low"
        return Observation(agent_id, phase.version, "consensus", risk="high" if lot < phase.bad else unsure)
    if lot < phase.bad:
        return Observation(agent_id, phase.version, "judge", "fail", dice.uniform(0, 0.39))
    if lot < phase.bad + 0.08:
        return Observation(agent_id, phase.version, "judge", "retry", dice.uniform(0.4, 0.69))
    return Observation(agent_id, phase.version, "judge", "pass", dice.uniform(0.7, 1))
