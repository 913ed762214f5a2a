"""GET /v1/drift: how the verdicts of a key's agents moved."""

from dataclasses import dataclass
from typing import Any

from api.core import drift
from api.core.drift import DAY_S, Counts, Span
from api.core.times import rfc3339, utc_day
from api.problems import Fault
from api.service import alerts
from api.service.admission import Caller, caller_headers
from api.service.call import Call, Reply
from api.service.invalid import invalid_request
from api.service.services import Services
from api.store import drift_reads
from api.store.database import Tx
from api.store.drift_reads import AgentUse, Scope, VersionUse

MAX_VERSIONS = 1_000
MAX_AGENTS = 1_000
MAX_ALERTS = 100


async def read(services: Services, call: Call, caller: Caller, arguments: dict[str, Any]) -> Reply:
    """GET /v1/drift."""
    agent_id = arguments.get("agent_id") or None
    if arguments["untagged"]:
        if agent_id is not None:
            raise invalid_request([Fault("untagged", "can't be true beside an agent_id: the untagged calls have none")])
        agent_id = ""
    now, days = int(services.clock()), arguments["days"]
    found = await services.database.read(_read, Scope(caller.key_id, agent_id), now, days)
    body: dict[str, Any] = {"agent_id": agent_id, "days": days, **_shown(found)}
    return Reply(body, headers=caller_headers(services, caller))


@dataclass(frozen=True, slots=True)
class _Found:
    """What the store says, all of one moment. `agents` None: only one agent was asked about."""

    series: list[tuple[int, Counts]]
    baseline: Counts
    last_24h: Counts
    versions: list[VersionUse]
    alerts: list[dict[str, Any]]
    agents: list[AgentUse] | None


async def _read(tx: Tx, scope: Scope, now: int, days: int) -> _Found:
    tomorrow = now // DAY_S * DAY_S + DAY_S
    span = Span(tomorrow - days * DAY_S, tomorrow)
    counted = await drift_reads.days(tx, scope, span)
    raised = await alerts.page(tx, scope.key_id, scope.agent_id, MAX_ALERTS, None, since=span.start)
    return _Found(
        series=[(day, counted.get(day, Counts())) for day in range(span.start, span.end, DAY_S)],
        baseline=await drift_reads.total(tx, scope, drift.baseline(now)),
        last_24h=await drift_reads.total(tx, scope, drift.window(now)),
        versions=await drift_reads.versions(tx, scope, span, MAX_VERSIONS),
        alerts=[alerts.show(row) for row in raised],
        agents=None if scope.agent_id is not None else await drift_reads.agents(tx, scope.key_id, span, MAX_AGENTS),
    )


def _shown(found: _Found) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "series": [{"date": utc_day(day), **counts.shown()} for day, counts in found.series],
        "baseline": found.baseline.shown(),
        "last_24h": found.last_24h.shown(),
        "versions": [_show_version(version) for version in found.versions],
        "alerts": found.alerts,
    }
    if found.agents is not None:
        shown["agents"] = [
            {"agent_id": agent.agent_id, "calls": agent.calls, "last_used_at": rfc3339(agent.last_at)}
            for agent in found.agents
        ]
    return shown


def _show_version(version: VersionUse) -> dict[str, Any]:
    return {
        "agent_id": version.agent_id,
        "version": version.version,
        "first_call_at": rfc3339(version.first_at),
        "last_call_at": rfc3339(version.last_at),
        **version.counts.shown(),
    }
