"""The operations on a key's settings."""

from base64 import b64encode
from dataclasses import replace
from typing import Any

from api.core import webhook_target
from api.core.sealing import seal
from api.problems import Fault
from api.service.admission import Caller, caller_headers, unknown_key
from api.service.call import Call, Reply
from api.service.invalid import invalid_request
from api.service.services import Services
from api.store import settings
from api.store.database import Tx
from api.store.settings import Settings

SECRET_BYTES = 32
SEAL_PURPOSE = "webhook-secret"


async def read_settings(services: Services, call: Call, caller: Caller, arguments: dict[str, Any]) -> Reply:
    """GET /v1/account/settings."""
    found = await services.database.read(settings.read, caller.key_id)
    return Reply(_show(found), headers=caller_headers(services, caller))


async def update_settings(services: Services, call: Call, caller: Caller, body: dict[str, Any]) -> Reply:
    """PATCH /v1/account/settings. A saved webhook gets a new secret, which this reply alone shows."""
    change, secret = dict(body), ""
    if "retention_days" in change:
        # JSON Schema takes 0.0 for an integer too.
        change["retention_days"] = int(change["retention_days"])
    url = change.get("alert_webhook_url", "")
    if url:
        fault = webhook_target.fault(url)
        if fault is not None:
            raise invalid_request([Fault("/alert_webhook_url", fault)])
        secret = "whsec_" + b64encode(services.random_bytes(SECRET_BYTES)).decode()
    if "alert_webhook_url" in change:
        change["alert_webhook_secret"] = (
            seal(services.secret_key, SEAL_PURPOSE, secret, services.random_bytes) if secret else ""
        )
    saved = await services.database.write(_change, caller.key_id, change)
    if saved is None:
        raise unknown_key("The key was deleted meanwhile.")
    shown = _show(saved) | ({"alert_webhook_secret": secret} if secret else {})
    return Reply(shown, headers=caller_headers(services, caller))


async def _change(tx: Tx, key_id: str, change: dict[str, Any]) -> Settings | None:
    changed = replace(await settings.read(tx, key_id), **change)
    return changed if await settings.save(tx, key_id, changed) else None


def _show(found: Settings) -> dict[str, Any]:
    return {"alert_webhook_url": found.alert_webhook_url, "retention_days": found.retention_days}
