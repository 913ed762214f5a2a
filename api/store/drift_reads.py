"""What is read of the counts: sums over spans of whole hours, days, versions and agents.

A span's whole days come from drift_days and only its edges from drift_hours, so that a span of months costs few rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.core.drift import DAY_S, Counts, Firsts, Span
from api.store.database import Row, Tx


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose calls: a key's, of one agent_id ("" is the untagged group) or, with None, of all."""

    key_id: str
    agent_id: str | None = None


@dataclass(frozen=True, slots=True)
class VersionUse:
    """A version of an agent: when it was first and last called, and what its calls of the span counted."""

    agent_id: str
    version: str
    first_at: int
    last_at: int
    counts: Counts


@dataclass(frozen=True, slots=True)
class AgentUse:
    """A tag, how many calls it has in a span, and when it was last used. `agent_id` "" is the untagged group."""

    agent_id: str
    calls: int
    last_at: int


_SUMS = """
    coalesce(sum(CASE WHEN c.endpoint = 'judge' THEN c.calls END), 0) AS judge_calls,
    coalesce(sum(c.passes), 0) AS passes, coalesce(sum(c.fails), 0) AS fails, coalesce(sum(c.retries), 0) AS retries,
    coalesce(sum(c.score_total), 0) AS score_total,
    coalesce(sum(CASE WHEN c.endpoint = 'consensus' THEN c.calls END), 0) AS consensus_calls,
    coalesce(sum(c.risk_total), 0) AS risk_total"""
_COUNTED = "version, endpoint, calls, passes, fails, retries, score_total, risk_total"


def _agents(scope: Scope) -> tuple[str, dict[str, str]]:
    """SQL for the scope's agents, and its parameters. Tables are then sought by key, agent and time, in this order."""
    if scope.agent_id is not None:
        return "(SELECT CAST(:agent_id AS TEXT) AS agent_id)", {"key_id": scope.key_id, "agent_id": scope.agent_id}
    return "(SELECT DISTINCT agent_id FROM drift_days WHERE key_id = :key_id)", {"key_id": scope.key_id}


def _counts(row: Mapping[str, Any]) -> Counts:
    return Counts(
        row["judge_calls"],
        row["passes"],
        row["fails"],
        row["retries"],
        row["score_total"],
        row["consensus_calls"],
        row["risk_total"],
    )


async def total(tx: Tx, scope: Scope, span: Span, version: str | None = None) -> Counts:
    """The sums over a span of whole hours, of one version or, with None, of all."""
    agents, args = _agents(scope)
    # Within one day there are no whole days, and the edges meet.
    first = min(-(-span.start // DAY_S) * DAY_S, span.end)
    last = max(span.end // DAY_S * DAY_S, first)
    only = "" if version is None else " WHERE c.version = :version"
    rows = await tx.all(
        f"""SELECT {_SUMS} FROM (
            SELECT {_COUNTED} FROM {agents} a JOIN drift_days d
                ON d.key_id = :key_id AND d.agent_id = a.agent_id AND d.day >= :first AND d.day < :last
            UNION ALL SELECT {_COUNTED} FROM {agents} a JOIN drift_hours h
                ON h.key_id = :key_id AND h.agent_id = a.agent_id AND h.hour >= :start AND h.hour < :first
            UNION ALL SELECT {_COUNTED} FROM {agents} a JOIN drift_hours h
                ON h.key_id = :key_id AND h.agent_id = a.agent_id AND h.hour >= :last AND h.hour < :end_
        ) c{only}""",
        **args,
        **({} if version is None else {"version": version}),
        first=first,
        last=last,
        start=span.start,
        end_=span.end,
    )
    return _counts(rows[0])


async def days(tx: Tx, scope: Scope, span: Span) -> dict[int, Counts]:
    """The sums of each UTC day in the span that has any, by the day's first second."""
    agents, args = _agents(scope)
    rows = await tx.all(
        f"""SELECT c.day, {_SUMS} FROM {agents} a JOIN drift_days c ON c.key_id = :key_id AND c.agent_id = a.agent_id
            AND c.day >= :start AND c.day < :end_ GROUP BY c.day""",
        **args,
        start=span.start,
        end_=span.end,
    )
    return {row["day"]: _counts(row) for row in rows}


async def versions(tx: Tx, scope: Scope, span: Span, limit: int) -> list[VersionUse]:
    """The versions called in the span of whole UTC days, those called last first, at most `limit`."""
    agents, args = _agents(scope)
    rows = await tx.all(
        f"""SELECT u.*, (SELECT min(f.first_at) FROM drift_firsts f WHERE f.key_id = :key_id
            AND f.agent_id = u.agent_id AND f.version = u.version) AS first_at
        FROM (
            SELECT c.agent_id, c.version, max(c.last_at) AS last_at, {_SUMS}
            FROM {agents} a JOIN drift_days c ON c.key_id = :key_id AND c.agent_id = a.agent_id
                AND c.day >= :start AND c.day < :end_
            GROUP BY c.agent_id, c.version ORDER BY max(c.last_at) DESC, c.agent_id, c.version LIMIT :limit
        ) u ORDER BY u.last_at DESC, u.agent_id, u.version""",
        **args,
        start=span.start,
        end_=span.end,
        limit=limit,
    )
    return [VersionUse(row["agent_id"], row["version"], row["first_at"], row["last_at"], _counts(row)) for row in rows]


async def agents(tx: Tx, key_id: str, span: Span, limit: int) -> list[AgentUse]:
    """The key's tags that have counts, also from outside the span, those used last first, at most `limit`."""
    rows = await tx.all(
        """SELECT agent_id, max(last_at) AS last_at,
            sum(CASE WHEN day >= :start AND day < :end_ THEN calls ELSE 0 END) AS calls
        FROM drift_days WHERE key_id = :key_id GROUP BY agent_id
        ORDER BY max(last_at) DESC, agent_id LIMIT :limit""",
        key_id=key_id,
        start=span.start,
        end_=span.end,
        limit=limit,
    )
    return [AgentUse(row["agent_id"], row["calls"], row["last_at"]) for row in rows]


async def firsts(tx: Tx, key_id: str, agent_id: str) -> list[Firsts]:
    """The first calls of every version of an agent."""
    rows = await tx.all(
        """SELECT version, endpoint, first_at, last_at, calls, total FROM drift_firsts
        WHERE key_id = :key_id AND agent_id = :agent_id""",
        key_id=key_id,
        agent_id=agent_id,
    )
    return [_firsts(row) for row in rows]


def _firsts(row: Row) -> Firsts:
    return Firsts(row["version"], row["endpoint"], row["first_at"], row["last_at"], row["calls"], row["total"])


async def active(tx: Tx, span: Span, since: int, fewest: int) -> Sequence[tuple[str, str]]:
    """The keys and agents to look at: with at least `fewest` calls at one endpoint in the span, or with a version that
    was first called after `since`."""
    rows = await tx.all(
        """SELECT key_id, agent_id FROM (
            SELECT key_id, agent_id FROM drift_hours WHERE hour >= :start AND hour < :end_
            GROUP BY key_id, agent_id, endpoint HAVING sum(calls) >= :fewest
            UNION SELECT key_id, agent_id FROM drift_firsts WHERE first_at > :since AND calls >= :fewest
        ) c GROUP BY key_id, agent_id ORDER BY key_id, agent_id""",
        start=span.start,
        end_=span.end,
        since=since,
        fewest=fewest,
    )
    return [(row["key_id"], row["agent_id"]) for row in rows]
