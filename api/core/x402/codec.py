"""Pure. The three x402 headers: standard padded base64 of UTF-8 JSON."""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from api.core.strict_json import MalformedJson, parse

VERSION = 2
MAX_HEADER = 32_768
"""Characters of a header that are still read. A smart wallet's signature takes a few thousand."""


class MalformedPayment(ValueError):
    """What was sent is no x402 payment. The message says why, for the caller to read."""


def encode(value: Mapping[str, Any]) -> str:
    """`value` as a header."""
    return base64.b64encode(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()).decode()


def decode(header: str) -> Any:
    """The value of a header. Raises MalformedPayment."""
    if len(header) > MAX_HEADER:
        raise MalformedPayment(f"has more than {MAX_HEADER:,} characters")
    try:
        return parse(base64.b64decode(header, validate=True))
    except (binascii.Error, ValueError) as error:
        what = "JSON" if isinstance(error, MalformedJson) else "standard padded base64"
        raise MalformedPayment(f"is not base64 of JSON: it is not {what}") from None
