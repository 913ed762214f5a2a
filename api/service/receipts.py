"""POST /v1/receipts/verify: whether a receipt is one of this server's."""

from typing import Any

from api.service.call import Call, Reply
from api.service.services import Services


async def verify(services: Services, call: Call, body: dict[str, Any]) -> Reply:
    """A receipt that is not valid is an answer too. It is given back only when it is valid, so that nobody reads the
    fields of another one."""
    reason = services.receipts.refusal(body["receipt"])
    valid = reason is None
    return Reply({"valid": valid, "reason": reason, "receipt": body["receipt"] if valid else None})
