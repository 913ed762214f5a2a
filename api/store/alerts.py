"""Drift alerts as stored: raised at most once per key, agent and metric in 24 hours."""

from collections.abc import Sequence

from api.core.alerts import Alert, Measured
from api.core.drift import DAY_S, Span, Tally
from api.store.database import Row, Tx

Position = tuple[int, str]
"""Where a page ends: the created_at and id of its last row."""


async def raise_alert(tx: Tx, alert: Alert) -> bool:
    """Stores the alert; False, with nothing stored, when the group has an alert of the metric from the 24 hours before
    it, or its key is gone.

    An alert from after `created_at` counts too: a clock that steps back raises nothing twice.
    """
    stored = await tx.run(
        """INSERT INTO alerts (id, key_id, agent_id, metric, cause, version, previous_version,
            window_calls, window_total, window_from, window_to,
            baseline_calls, baseline_total, baseline_from, baseline_to, created_at)
        SELECT :id, k.id, :agent_id, :metric, :cause, :version, :previous_version,
            :window_calls, :window_total, :window_from, :window_to,
            :baseline_calls, :baseline_total, :baseline_from, :baseline_to, :created_at
        FROM keys k WHERE k.id = :key_id AND NOT EXISTS (
            SELECT 1 FROM alerts a WHERE a.key_id = :key_id AND a.agent_id = :agent_id AND a.metric = :metric
            AND a.created_at > :created_at - :day_s)""",
        id=alert.id,
        key_id=alert.key_id,
        agent_id=alert.agent_id,
        metric=alert.metric,
        cause=alert.trigger,
        version=alert.version,
        previous_version=alert.previous_version,
        window_calls=alert.window.tally.calls,
        window_total=alert.window.tally.total,
        window_from=alert.window.span.start,
        window_to=alert.window.span.end,
        baseline_calls=alert.baseline.tally.calls,
        baseline_total=alert.baseline.tally.total,
        baseline_from=alert.baseline.span.start,
        baseline_to=alert.baseline.span.end,
        created_at=alert.created_at,
        day_s=DAY_S,
    )
    return stored > 0


async def page(
    tx: Tx, key_id: str, agent_id: str | None, limit: int, after: Position | None, since: int = 0
) -> list[Alert]:
    """The key's alerts from `since` on, of one agent or, with None, of all; newest first, at most `limit`, from `after`
    on."""
    created_at, alert_id = after or (2**62, "")
    only = "" if agent_id is None else " AND agent_id = :agent_id"
    rows: Sequence[Row] = await tx.all(
        f"""SELECT * FROM alerts WHERE key_id = :key_id{only} AND created_at >= :since
        AND (created_at < :created_at OR (created_at = :created_at AND id < :alert_id))
        ORDER BY created_at DESC, id DESC LIMIT :limit""",
        key_id=key_id,
        **({} if agent_id is None else {"agent_id": agent_id}),
        since=since,
        created_at=created_at,
        alert_id=alert_id,
        limit=limit,
    )
    return [_alert(row) for row in rows]


async def prune(tx: Tx, before: int) -> int:
    """Removes the alerts raised before `before`; how many."""
    return await tx.run("DELETE FROM alerts WHERE created_at < :before", before=before)


def _alert(row: Row) -> Alert:
    return Alert(
        id=row["id"],
        key_id=row["key_id"],
        agent_id=row["agent_id"],
        metric=row["metric"],
        trigger=row["cause"],
        version=row["version"],
        previous_version=row["previous_version"],
        window=_measured(row, "window"),
        baseline=_measured(row, "baseline"),
        created_at=row["created_at"],
    )


def _measured(row: Row, name: str) -> Measured:
    tally = Tally(row[f"{name}_calls"], row[f"{name}_total"])
    return Measured(tally, Span(row[f"{name}_from"], row[f"{name}_to"]))
