"""GET /v1/health: that the service is up, and what is switched on."""

from typing import Any

from api.service.call import Call, Reply
from api.service.services import Services


async def health(services: Services, call: Call, body: Any) -> Reply:
    """No store is asked: an answer means that the process serves, /v1/ready that it can work."""
    return Reply(
        {
            "status": "ok",
            "version": services.contract.version,
            "engines": {"deterministic": True, "llm": services.grader is not None},
            "payments": {
                "free": True,
                "stripe": services.checkout is not None,
                "x402": services.facilitation is not None,
            },
            "receipts": services.receipts.signer is not None,
        }
    )
