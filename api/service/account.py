"""The operations on a key's settings."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from api.core import webhook_target, webhooks
from api.core.sealing import seal
from api.problems import Fault
from api.service import deliveries
from api.service.admission import Caller, caller_headers, unknown_key
from api.service.call import Call, Reply
from api.service.deliveries import SEAL_PURPOSE
from api.service.invalid import invalid_request
from api.service.services import Services
from api.store import deliveries as outbox
from api.store import settings
from api.store.database import Tx
from api.store.settings import Settings


async def read_settings(services: Services, call: Call, caller: Caller, arguments: dict[str, Any]) -> Reply:
    """GET /v1/account/settings."""
    found = await _read(services, caller)
    return Reply(_show(found), headers=caller_headers(services, caller))


async def update_settings(services: Services, call: Call, caller: Caller, body: dict[str, Any]) -> Reply:
    """PATCH /v1/account/settings. A saved webhook gets a new secret, which this reply alone shows; a test delivery is
    signed with the secret as it is then."""
    change, secret = dict(body), ""
    wants_test = change.pop("test_alert_webhook", False)
    if "retention_days" in change:
        # JSON Schema takes 0.0 for an integer too.
        change["retention_days"] = int(change["retention_days"])
    url = change.get("alert_webhook_url", "")
    if url:
        await _check_target(services, url)
        secret = webhooks.new_secret(services.random_bytes)
    if "alert_webhook_url" in change:
        change["alert_webhook_secret"] = (
            seal(services.secret_key, SEAL_PURPOSE, secret, services.random_bytes) if secret else ""
        )
    if wants_test:
        target = url if "alert_webhook_url" in change else (await _read(services, caller)).alert_webhook_url
        if not target:
            raise invalid_request([Fault("/test_alert_webhook", "needs a webhook: set alert_webhook_url")])
        # Before anything is saved: a refusal changes nothing.
        deliveries.limit_tests(services, caller.key_id, urlsplit(target).hostname or "")
    saved = await services.database.write(_change, caller.key_id, change)
    if saved is None:
        raise unknown_key("The key was deleted meanwhile.")
    shown = _show(saved) | ({"alert_webhook_secret": secret} if secret else {})
    if wants_test:
        shown["test_delivery"] = await deliveries.send_test(services, caller.key_id, saved)
    return Reply(shown, headers=caller_headers(services, caller))


async def _check_target(services: Services, url: str) -> None:
    fault = webhook_target.fault(url, allow_private=services.webhooks.allow_private)
    if fault is None and await services.webhooks.leads_inside(url):
        fault = "must not point to an address that is not public, and its name resolves to one"
    if fault is not None:
        raise invalid_request([Fault("/alert_webhook_url", fault)])


async def _read(services: Services, caller: Caller) -> Settings:
    return await services.database.read(settings.read, caller.key_id)


async def _change(tx: Tx, key_id: str, change: dict[str, Any]) -> Settings | None:
    changed = replace(await settings.read(tx, key_id), **change)
    if change.get("alert_webhook_url") == "":
        await outbox.cancel(tx, key_id)
    return changed if await settings.save(tx, key_id, changed) else None


def _show(found: Settings) -> dict[str, Any]:
    return {"alert_webhook_url": found.alert_webhook_url, "retention_days": found.retention_days}
