"""The job that looks for drift in every agent of every key, and raises the alerts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from api.core import drift, webhooks
from api.core.alerts import Alert, Measured, Trigger, alert_document
from api.core.drift import DAY_S, FEWEST_CALLS, METRIC_OF, UNIT_OF, Metric, NewVersion, Span, Tally
from api.core.secrets import new_id
from api.service.services import Services
from api.store import alerts, deliveries, drift_reads
from api.store.database import Tx
from api.store.drift_reads import Scope

BATCH = 50
"""Agents looked at in one read of the database."""

Group = tuple[str, str]
"""A key's id and an agent_id."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A change that is worth an alert."""

    key_id: str
    agent_id: str
    metric: Metric
    trigger: Trigger
    window: Measured
    baseline: Measured
    version: str | None = None
    previous_version: str | None = None


async def raise_alerts(services: Services, now: int) -> str:
    """The job: how many alerts were raised, in words."""
    raised = len(await check(services, now))
    return f"{raised} raised" if raised else ""


async def check(services: Services, now: int) -> list[Finding]:
    """Looks at every agent with enough calls in the last 24 hours and at every new version; what was raised.

    A run that dies half-way is run again from the start: what it had raised is not raised again.
    """
    groups = await services.database.read(drift_reads.active, drift.window(now), now - DAY_S, FEWEST_CALLS)
    raised = []
    for batch in _batches(groups):
        for finding in await services.database.read(find, batch, now):
            if await _raise(services, finding, now):
                raised.append(finding)
    return raised


async def find(tx: Tx, groups: Sequence[Group], now: int) -> list[Finding]:
    """What is to be said of the groups at `now`. A new version comes before the window that it is also in, since it
    says what changed, and only one alert of a metric can be raised."""
    findings: list[Finding] = []
    for key_id, agent_id in groups:
        findings += await _new_version_findings(tx, key_id, agent_id, now)
        findings += await _window_findings(tx, key_id, agent_id, now)
    return findings


async def _window_findings(tx: Tx, key_id: str, agent_id: str, now: int) -> list[Finding]:
    scope, recent, usual = Scope(key_id, agent_id), drift.window(now), drift.baseline(now)
    seen, before = await drift_reads.total(tx, scope, recent), await drift_reads.total(tx, scope, usual)
    return [
        Finding(
            key_id,
            agent_id,
            metric,
            "window",
            Measured(seen.tally(metric), recent),
            Measured(before.tally(metric), usual),
        )
        for metric in UNIT_OF
        if drift.clears_bar(metric, seen.tally(metric), before.tally(metric))
    ]


async def _new_version_findings(tx: Tx, key_id: str, agent_id: str, now: int) -> list[Finding]:
    firsts = await drift_reads.firsts(tx, key_id, agent_id)
    compared = [await _compare(tx, key_id, agent_id, new, now) for new in drift.new_versions(firsts, now)]
    return [finding for finding in compared if finding is not None]


async def _compare(tx: Tx, key_id: str, agent_id: str, new: NewVersion, now: int) -> Finding | None:
    metric, span = METRIC_OF[new.firsts.endpoint], drift.last_30_days(now)
    seen = Tally(new.firsts.calls, new.firsts.total or 0)
    before = (await drift_reads.total(tx, Scope(key_id, agent_id), span, new.previous)).tally(metric)
    if not drift.clears_bar(metric, seen, before):
        return None
    return Finding(
        key_id,
        agent_id,
        metric,
        "new_version",
        Measured(seen, Span(new.firsts.first_at, new.firsts.last_at)),
        Measured(before, span),
        new.firsts.version,
        new.previous,
    )


async def _raise(services: Services, finding: Finding, now: int) -> bool:
    """One transaction an alert: it is stored, and its delivery queued, or neither."""
    alert = Alert(
        id=new_id("alr", services.random_bytes),
        key_id=finding.key_id,
        agent_id=finding.agent_id,
        metric=finding.metric,
        trigger=finding.trigger,
        window=finding.window,
        baseline=finding.baseline,
        created_at=now,
        version=finding.version,
        previous_version=finding.previous_version,
    )
    return await services.database.write(_raise_and_queue, alert, int(services.clock()))


async def _raise_and_queue(tx: Tx, alert: Alert, now: int) -> bool:
    raised = await alerts.raise_alert(tx, alert)
    if raised:
        await deliveries.enqueue(tx, alert.key_id, alert.id, webhooks.canonical(alert_document(alert)), now)
    return raised


def _batches(groups: Sequence[Group]) -> Iterator[Sequence[Any]]:
    rest = iter(groups)
    while batch := list(islice(rest, BATCH)):
        yield batch
