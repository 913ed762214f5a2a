"""Hourly and daily counts of verdicts and risks, and each version's first calls (PRODUCT.md section 8): what writes
them. No task and no output, only numbers."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import orjson

from api.core.drift import DAY_S, FEWEST_CALLS, HOUR_S, RISK_UNITS, SCORE_UNIT, Endpoint
from api.store.database import Tx

Group = tuple[str, str, str, Endpoint]
"""What is counted apart: key id, agent_id, version, endpoint."""

MAX_COMPLETE = 50_000


@dataclass(frozen=True, slots=True)
class Observation:
    """What one answered call adds. A judge call has a verdict and a score, a consensus call a risk."""

    agent_id: str
    version: str
    endpoint: Endpoint
    verdict: Literal["pass", "fail", "retry"] | None = None
    score: float = 0.0
    risk: Literal["low", "medium", "high"] | None = None

    @property
    def bad(self) -> int:
        """What it adds to the total of its endpoint's metric: a fail, or halves of risk."""
        if self.endpoint == "judge":
            return int(self.verdict == "fail")
        return RISK_UNITS[self.risk] if self.risk else 0


class CompleteFirsts:
    """Groups that were seen to have all their first calls, so that their later calls need not look. One a process.

    It only saves time, and what it holds stays true: first calls are never taken back but with their key, whose id is
    not used again, or when nothing was counted for months. It is emptied every day, so that no version which was
    forgotten meanwhile is taken for complete.
    """

    def __init__(self) -> None:
        self._groups: OrderedDict[Group, None] = OrderedDict()
        self._day = 0

    def has(self, group: Group, now: int) -> bool:
        """Whether the group was seen to be complete on this day."""
        if now // DAY_S != self._day:
            self._groups.clear()
            self._day = now // DAY_S
        return group in self._groups

    def add(self, group: Group) -> None:
        """Remembers a group that the database, not an open transaction, says is complete."""
        self._groups[group] = None
        if len(self._groups) > MAX_COMPLETE:
            self._groups.popitem(last=False)


@dataclass(slots=True)
class _Sums:
    key_id: str
    agent_id: str
    version: str
    endpoint: Endpoint
    calls: int = 0
    passes: int = 0
    fails: int = 0
    retries: int = 0
    score_total: int = 0
    risk_total: int = 0
    first: list[int] = field(default_factory=list)

    @property
    def group(self) -> Group:
        return self.key_id, self.agent_id, self.version, self.endpoint

    def row(self) -> dict[str, str | int]:
        """The sums by column. By hand: `dataclasses.asdict` copies deeply, which is felt here."""
        return {name: getattr(self, name) for name in (*_GROUP, *_COUNTS)}

    def add(self, observation: Observation) -> None:
        self.calls += 1
        self.passes += observation.verdict == "pass"
        self.fails += observation.verdict == "fail"
        self.retries += observation.verdict == "retry"
        self.score_total += round(observation.score * SCORE_UNIT)
        self.risk_total += RISK_UNITS[observation.risk] if observation.risk else 0
        if len(self.first) < FEWEST_CALLS:
            self.first.append(observation.bad)


_GROUP = ("key_id", "agent_id", "version", "endpoint")
_COUNTS = ("calls", "passes", "fails", "retries", "score_total", "risk_total")
_TYPES = {name: "BIGINT" if name in _COUNTS else "TEXT" for name in (*_GROUP, *_COUNTS)}


async def add_all(
    tx: Tx, observations: Sequence[tuple[str, Observation]], now: int, complete: CompleteFirsts | None = None
) -> None:
    """Adds observations, each with its key's id and in the order of the calls, to the hour and the day of `now`, and to
    the first calls of versions that have not all of theirs. `complete` is this process's memory of those that have."""
    groups: dict[Group, _Sums] = {}
    for key_id, seen in observations:
        group = (key_id, seen.agent_id, seen.version, seen.endpoint)
        groups.setdefault(group, _Sums(*group)).add(seen)
    if not groups:
        return
    rows = [sums.row() for sums in groups.values()]
    await tx.insert(
        "drift_hours",
        _TYPES,
        rows,
        f"ON CONFLICT (key_id, agent_id, hour, version, endpoint) DO UPDATE SET {_added('drift_hours')}",
        hour=now // HOUR_S * HOUR_S,
    )
    await tx.insert(
        "drift_days",
        _TYPES,
        rows,
        "ON CONFLICT (key_id, agent_id, day, version, endpoint) "
        f"DO UPDATE SET {_added('drift_days')}, last_at = {_later('drift_days')}",
        day=now // DAY_S * DAY_S,
        last_at=now,
    )
    complete = complete or CompleteFirsts()
    unsure = [sums for group, sums in groups.items() if not complete.has(group, now)]
    if unsure:
        await _add_firsts(tx, unsure, now, complete)


async def _add_firsts(tx: Tx, groups: Sequence[_Sums], now: int, complete: CompleteFirsts) -> None:
    """Adds as many of the groups' calls, from the first on, as are missing from their first calls. What is read here
    can't change before the commit."""
    found = await tx.all(
        f"""SELECT f.key_id, f.agent_id, f.version, f.endpoint, f.calls
        FROM {tx.table(**dict.fromkeys(_GROUP, "TEXT"))} r JOIN drift_firsts f ON f.key_id = r.key_id
            AND f.agent_id = r.agent_id AND f.version = r.version AND f.endpoint = r.endpoint""",
        rows=orjson.dumps([sums.row() for sums in groups]).decode(),
    )
    had: dict[Group, int] = {
        (row["key_id"], row["agent_id"], row["version"], row["endpoint"]): row["calls"] for row in found
    }
    rows = []
    for sums in groups:
        missing = FEWEST_CALLS - had.get(sums.group, 0)
        if missing <= 0:
            complete.add(sums.group)
            continue
        more = sums.first[:missing]
        rows.append(sums.row() | {"calls": len(more), "total": sum(more)})
    if not rows:
        return
    columns = {**dict.fromkeys(_GROUP, "TEXT"), "calls": "BIGINT", "total": "BIGINT"}
    await tx.insert(
        "drift_firsts",
        columns,
        rows,
        f"""ON CONFLICT (key_id, agent_id, version, endpoint) DO UPDATE SET calls = drift_firsts.calls + excluded.calls,
            total = drift_firsts.total + excluded.total, last_at = {_later("drift_firsts")}""",
        first_at=now,
        last_at=now,
    )


def _added(table: str) -> str:
    return ", ".join(f"{name} = {table}.{name} + excluded.{name}" for name in _COUNTS)


def _later(table: str) -> str:
    """The later `last_at`: a clock can step back."""
    return f"CASE WHEN excluded.last_at > {table}.last_at THEN excluded.last_at ELSE {table}.last_at END"


async def prune(tx: Tx, before: int) -> int:
    """Removes what was counted on days that were over at `before`, and forgets versions that were not called since;
    how many rows."""
    day = before // DAY_S * DAY_S
    removed = await tx.run(
        """DELETE FROM drift_firsts WHERE (key_id, agent_id, version) IN
            (SELECT d.key_id, d.agent_id, d.version FROM drift_days d WHERE d.day < :day)
        AND NOT EXISTS (SELECT 1 FROM drift_days d WHERE d.key_id = drift_firsts.key_id
            AND d.agent_id = drift_firsts.agent_id AND d.version = drift_firsts.version AND d.day >= :day)""",
        day=day,
    )
    removed += await tx.run("DELETE FROM drift_days WHERE day < :day", day=day)
    return removed + await tx.run("DELETE FROM drift_hours WHERE hour < :day", day=day)
