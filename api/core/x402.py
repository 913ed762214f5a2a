"""Pure. The x402 v2 offer: what a call costs and where to pay (PROTOCOLS.md section 1)."""

import base64
import json
from typing import Any

VERSION = 2
NO_PAYMENT = "PAYMENT-SIGNATURE header is required"


def offer(
    *, amount: str, network: str, asset: str, asset_name: str, asset_version: str, pay_to: str, max_timeout_seconds: int
) -> dict[str, Any]:
    """One `accepts` entry of the exact scheme. `asset_name` and `asset_version` are the asset's EIP-712 domain: a
    wrong one breaks every signature."""
    return {
        "scheme": "exact",
        "network": network,
        "asset": asset,
        "amount": amount,
        "payTo": pay_to,
        "maxTimeoutSeconds": max_timeout_seconds,
        "extra": {"name": asset_name, "version": asset_version},
    }


def payment_required(error: str, resource: dict[str, Any], accepts: list[dict[str, Any]]) -> dict[str, Any]:
    """The PaymentRequired object. `resource["url"]` comes from the configured base URL, never from the request."""
    return {"x402Version": VERSION, "error": error, "resource": resource, "accepts": accepts, "extensions": {}}


def header(value: dict[str, Any]) -> str:
    """`value` as every x402 header carries it: padded standard base64 of UTF-8 JSON."""
    return base64.b64encode(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()).decode()
