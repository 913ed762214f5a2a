"""Pure. Results of tools/call: an answer, an error that the model can mend, an offer of the x402 MCP transport."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from api.core.mcp.messages import Json

RECEIPT_KEY = "x402/payment-response"


def answered(body: Mapping[str, Any], receipt: Any = None) -> Json:
    """The answer, as structured content and as the same JSON in text. `receipt` is the settlement of its payment."""
    return _with_receipt({"content": [_json(body)], "structuredContent": body, "isError": False}, receipt)


def failed(lines: Sequence[str], receipt: Any = None) -> Json:
    """An error for the model to read. Without structured content, which would have to be an answer."""
    return _with_receipt({"content": [_text("\n".join(lines))], "isError": True}, receipt)


def unpaid(offer: Mapping[str, Any], receipt: Any = None) -> Json:
    """The PaymentRequired of a call that is not paid. `receipt` is a settlement that failed."""
    return _with_receipt({"content": [_json(offer)], "structuredContent": offer, "isError": True}, receipt)


def _with_receipt(result: Json, receipt: Any) -> Json:
    return result if receipt is None else {**result, "_meta": {RECEIPT_KEY: receipt}}


def _json(value: Mapping[str, Any]) -> Json:
    return _text(orjson.dumps(value).decode())


def _text(text: str) -> Json:
    return {"type": "text", "text": text}
