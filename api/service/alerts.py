"""GET /v1/alerts, and the job that raises drift alerts."""

from typing import Any

from api.core.alerts import Alert, alert_document
from api.service import lists
from api.service.admission import Caller, caller_headers
from api.service.call import Call, Reply
from api.service.services import Services
from api.store import alerts


async def list_alerts(services: Services, call: Call, caller: Caller, arguments: dict[str, Any]) -> Reply:
    """GET /v1/alerts."""
    limit, place = arguments["limit"], lists.position(arguments)
    agent_id = arguments.get("agent_id")
    rows = await services.database.read(alerts.page, caller.key_id, agent_id, limit + 1, place)
    body = lists.page(rows, limit, lambda alert: (alert.created_at, alert.id), show)
    return Reply(body, headers=caller_headers(services, caller))


def show(alert: Alert) -> dict[str, Any]:
    """An alert as the API tells of it: its document, and what became of its delivery (None where none was due)."""
    return {**alert_document(alert), "delivery": None}
