"""GET /v1/alerts, and the job that raises drift alerts."""

from typing import Any

from api.core.alerts import Alert, alert_document
from api.service import deliveries, lists
from api.service.admission import Caller, caller_headers
from api.service.call import Call, Reply
from api.service.services import Services
from api.store import alerts
from api.store import deliveries as outbox
from api.store.database import Tx
from api.store.deliveries import Delivery


async def list_alerts(services: Services, call: Call, caller: Caller, arguments: dict[str, Any]) -> Reply:
    """GET /v1/alerts."""
    limit, place = arguments["limit"], lists.position(arguments)
    agent_id = arguments.get("agent_id")
    rows = await services.database.read(page, caller.key_id, agent_id, limit + 1, place)
    body = lists.page(rows, limit, lambda row: (row[0].created_at, row[0].id), show)
    return Reply(body, headers=caller_headers(services, caller))


async def page(
    tx: Tx, key_id: str, agent_id: str | None, limit: int, after: alerts.Position | None, since: int = 0
) -> list[tuple[Alert, Delivery | None]]:
    """As `alerts.page`, each alert with its delivery; None where none was due."""
    found = await alerts.page(tx, key_id, agent_id, limit, after, since)
    sent = await outbox.of_alerts(tx, [alert.id for alert in found])
    return [(alert, sent.get(alert.id)) for alert in found]


def show(row: tuple[Alert, Delivery | None]) -> dict[str, Any]:
    """An alert as the API tells of it: its document, and what became of its delivery."""
    alert, delivery = row
    return {**alert_document(alert), "delivery": deliveries.state(delivery)}
