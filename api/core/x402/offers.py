"""Pure. What a 402 says: what a call costs, where to pay, and which extensions are understood."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.core.x402.codec import VERSION

SCHEME = "exact"
NO_PAYMENT = "PAYMENT-SIGNATURE header is required"
IDENTIFIER = "payment-identifier"
BAZAAR = "bazaar"
DIALECT = "https://json-schema.org/draft/2020-12/schema"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing that can be paid for. `requirements` is the `accepts` entry; `resource["url"]` comes from the
    configured base URL, never from the request."""

    resource: Json
    requirements: Json
    extensions: Json

    def payment_required(self, error: str) -> Json:
        """The PaymentRequired object. `error` says why the call is not paid for."""
        return {
            "x402Version": VERSION,
            "error": error,
            "resource": self.resource,
            "accepts": [self.requirements],
            "extensions": self.extensions,
        }


def requirements(
    *, amount: str, network: str, asset: str, asset_name: str, asset_version: str, pay_to: str, max_timeout_seconds: int
) -> Json:
    """An `accepts` entry of the exact scheme. `asset_name` and `asset_version` are the asset's EIP-712 domain: a
    wrong one breaks every signature."""
    return {
        "scheme": SCHEME,
        "network": network,
        "asset": asset,
        "amount": amount,
        "payTo": pay_to,
        "maxTimeoutSeconds": max_timeout_seconds,
        "extra": {"name": asset_name, "version": asset_version},
    }


def payment_identifier() -> Json:
    """The extension with which a client names a payment, so that a repeat is recognised."""
    return {
        "info": {"required": False},
        "schema": {
            "$schema": DIALECT,
            "type": "object",
            "properties": {
                "required": {"type": "boolean"},
                "id": {"type": "string", "minLength": 16, "maxLength": 128, "pattern": "^[a-zA-Z0-9_-]+$"},
            },
            "required": ["required"],
        },
    }


def bazaar_http(method: str, body: Any, body_schema: Mapping[str, Any], output: Any) -> Json:
    """The discovery extension of an HTTP operation with a JSON body: an example of it and of its answer, and the
    schema of both."""
    info = {"type": "http", "method": method, "bodyType": "json", "body": body}
    known = {
        "type": {"type": "string", "const": "http"},
        "method": {"type": "string", "enum": [method]},
        "bodyType": {"type": "string", "enum": ["json"]},
        "body": dict(body_schema),
    }
    return _bazaar(info, known, output)


def bazaar_tool(name: str, description: str, input_schema: Mapping[str, Any], example: Any, output: Any) -> Json:
    """The discovery extension of an MCP tool."""
    info = {
        "type": "mcp",
        "toolName": name,
        "description": description,
        "transport": "streamable-http",
        "inputSchema": dict(input_schema),
        "example": example,
    }
    known = {
        "type": {"type": "string", "const": "mcp"},
        "toolName": {"type": "string", "const": name},
        "description": {"type": "string"},
        "transport": {"type": "string", "enum": ["streamable-http"]},
        "inputSchema": {"type": "object"},
        "example": {"type": "object"},
    }
    return _bazaar(info, known, output)


def _bazaar(info: Json, known: Mapping[str, Any], output: Any) -> Json:
    return {
        "info": {"input": info, "output": {"type": "json", "example": output}},
        "schema": {
            "$schema": DIALECT,
            "type": "object",
            "properties": {
                "input": {
                    "type": "object",
                    "properties": dict(known),
                    "required": list(info),
                    "additionalProperties": False,
                },
                "output": {
                    "type": "object",
                    "properties": {"type": {"type": "string"}, "example": {"type": "object"}},
                    "required": ["type"],
                },
            },
            "required": ["input"],
        },
    }
