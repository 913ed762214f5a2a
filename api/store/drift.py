"""Hourly counts of verdicts and risks (PRODUCT.md section 8). No task and no output, only numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import orjson

from api.store.database import Tx

HOUR_S = 3_600
SCORE_UNIT = 10_000
"""Scores are summed in ten-thousandths, so that sums stay exact."""
RISK_UNITS = {"low": 0, "medium": 1, "high": 2}
"""Risks are summed in halves."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What one answered call adds. A judge call has a verdict and a score, a consensus call a risk."""

    agent_id: str
    version: str
    endpoint: Literal["judge", "consensus"]
    verdict: Literal["pass", "fail", "retry"] | None = None
    score: float = 0.0
    risk: Literal["low", "medium", "high"] | None = None


@dataclass(slots=True)
class _Sums:
    key_id: str
    agent_id: str
    version: str
    endpoint: str
    calls: int = 0
    passes: int = 0
    fails: int = 0
    retries: int = 0
    score_total: int = 0
    risk_total: int = 0

    def row(self) -> dict[str, str | int]:
        """The sums by column. By hand: `dataclasses.asdict` copies deeply, which is felt here."""
        return {name: getattr(self, name) for name in self.__slots__}

    def add(self, observation: Observation) -> None:
        self.calls += 1
        self.passes += observation.verdict == "pass"
        self.fails += observation.verdict == "fail"
        self.retries += observation.verdict == "retry"
        self.score_total += round(observation.score * SCORE_UNIT)
        self.risk_total += RISK_UNITS[observation.risk] if observation.risk else 0


async def add_all(tx: Tx, observations: Sequence[tuple[str, Observation]], now: int) -> None:
    """Adds observations, each with its key's id, to the hour of `now`."""
    groups: dict[tuple[str, str, str, str], _Sums] = {}
    for key_id, seen in observations:
        group = (key_id, seen.agent_id, seen.version, seen.endpoint)
        groups.setdefault(group, _Sums(*group)).add(seen)
    if not groups:
        return
    counts = ("calls", "passes", "fails", "retries", "score_total", "risk_total")
    names = ("key_id", "agent_id", "version", "endpoint", *counts)
    columns = tx.table(**{name: "BIGINT" if name in counts else "TEXT" for name in names})
    listed = ", ".join(names)
    added = ", ".join(f"{name} = drift_hours.{name} + excluded.{name}" for name in counts)
    await tx.run(
        f"""INSERT INTO drift_hours ({listed}, hour) SELECT {listed}, :hour FROM {columns} r WHERE true
        ON CONFLICT (key_id, agent_id, version, endpoint, hour) DO UPDATE SET {added}""",
        rows=orjson.dumps([sums.row() for sums in groups.values()]).decode(),
        hour=now // HOUR_S * HOUR_S,
    )


async def prune(tx: Tx, before: int) -> int:
    """Removes the hours that began before `before`; how many rows."""
    return await tx.run("DELETE FROM drift_hours WHERE hour < :before", before=before)
