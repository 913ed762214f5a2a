"""Pure. A drift alert and the document that says it, the same in GET /v1/alerts and in the webhook's body."""

from dataclasses import dataclass
from typing import Any, Literal

from api.core.drift import Metric, Span, Tally
from api.core.times import rfc3339

TYPE = "drift.alert"
ALG = "HMAC-SHA256"
"""How a delivery of the document is signed."""

Trigger = Literal["window", "new_version"]


@dataclass(frozen=True, slots=True)
class Measured:
    """What was counted between two times."""

    tally: Tally
    span: Span


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert. `agent_id` "" is the untagged group. The versions are None unless a new version is the trigger."""

    id: str
    key_id: str
    agent_id: str
    metric: Metric
    trigger: Trigger
    window: Measured
    baseline: Measured
    created_at: int
    version: str | None = None
    previous_version: str | None = None


def alert_document(alert: Alert) -> dict[str, Any]:
    """The alert as PRODUCT.md section 8 has it, JSON values only. `version` and `previous_version` are there when a new
    version is the trigger. Spans hold their `from` and end before their `to`, except that the `to` of a version's
    first calls is the time of the last of them."""
    versions = (
        {"version": alert.version, "previous_version": alert.previous_version} if alert.trigger == "new_version" else {}
    )
    return {
        "id": alert.id,
        "type": TYPE,
        "key_id": alert.key_id,
        "agent_id": alert.agent_id,
        "metric": alert.metric,
        "trigger": alert.trigger,
        **versions,
        "window": _measured(alert.metric, alert.window),
        "baseline": _measured(alert.metric, alert.baseline),
        "created_at": rfc3339(alert.created_at),
        "alg": ALG,
    }


def _measured(metric: Metric, measured: Measured) -> dict[str, Any]:
    rate = measured.tally.rate(metric)
    return {
        "calls": measured.tally.calls,
        "rate": None if rate is None else float(rate),
        "from": rfc3339(measured.span.start),
        "to": rfc3339(measured.span.end),
    }
