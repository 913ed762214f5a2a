"""What each metered operation costs over x402, composed once: the 402's resource, requirements and extensions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.contract import Contract, Operation, resolve
from api.core.x402 import codec, offers
from api.core.x402.offers import Offer
from api.facts import Facts
from api.service.call import Call
from api.service.engine_work import consensus_body, judge_body

_WORK = {"judge": judge_body, "consensus": consensus_body}
_EXAMPLE_REQUEST = "req_7Hc2kP9vXn4RtY1m"


@dataclass(frozen=True, slots=True)
class Offers:
    """The offers by operation id, `http` for REST and `tools` for MCP, and the 402 header of each when nothing was
    sent."""

    http: Mapping[str, Offer]
    tools: Mapping[str, Offer]
    headers: Mapping[str, str]

    def of(self, call: Call) -> Offer:
        """What the call costs."""
        return (self.http if call.tool is None else self.tools)[call.operation.id]

    def header(self, call: Call, error: str = offers.NO_PAYMENT) -> str:
        """The PAYMENT-REQUIRED header of a refused call."""
        offer = self.of(call)
        if error == offers.NO_PAYMENT:
            return self.headers[offer.resource["url"]]
        return codec.encode(offer.payment_required(error))


def compose(contract: Contract, facts: Facts, base_url: str) -> Offers:
    """The offers of every metered operation. Each runs its example once, for discovery."""
    metered = {operation.id: operation for operation in contract.operations.values() if operation.metered}
    http = {name: _http(operation, contract, facts, base_url) for name, operation in metered.items()}
    tools = {name: _tool(operation, contract, facts) for name, operation in metered.items()}
    every = [*http.values(), *tools.values()]
    return Offers(
        http,
        tools,
        {offer.resource["url"]: codec.encode(offer.payment_required(offers.NO_PAYMENT)) for offer in every},
    )


def _http(operation: Operation, contract: Contract, facts: Facts, base_url: str) -> Offer:
    schema = _outline(operation, contract)
    return _offer(
        operation,
        facts,
        base_url + operation.path,
        offers.bazaar_http(operation.method, operation.example, schema, _output(operation)),
    )


def _tool(operation: Operation, contract: Contract, facts: Facts) -> Offer:
    schema = _outline(operation, contract)
    bazaar = offers.bazaar_tool(operation.id, operation.summary, schema, operation.example, _output(operation))
    return _offer(operation, facts, f"mcp://tool/{operation.id}", bazaar)


def _offer(operation: Operation, facts: Facts, url: str, bazaar: dict[str, Any]) -> Offer:
    terms = facts.x402
    return Offer(
        resource={
            "url": url,
            "description": operation.summary,
            "mimeType": "application/json",
            "serviceName": facts.service_name,
            "tags": list(facts.service_tags),
        },
        requirements=offers.requirements(
            amount=terms.amount,
            network=terms.network,
            asset=terms.asset,
            asset_name=terms.asset_name,
            asset_version=terms.asset_version,
            pay_to=terms.pay_to,
            max_timeout_seconds=terms.max_timeout_seconds,
        ),
        extensions={offers.IDENTIFIER: offers.payment_identifier(), offers.BAZAAR: bazaar},
    )


def _outline(operation: Operation, contract: Contract) -> dict[str, Any]:
    """The body's schema to the depth of its fields and their types: the whole one is in openapi.json, and a header
    that is long does not pass every proxy."""
    body = operation.spec["requestBody"]["content"]["application/json"]["schema"]
    whole = resolve(body, contract.document)
    fields = {name: resolve(schema, contract.document)["type"] for name, schema in whole["properties"].items()}
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in fields.items()},
        "required": whole["required"],
    }


def _output(operation: Operation) -> dict[str, Any]:
    result = _WORK[operation.id](operation.example)
    return {**result, "request_id": _EXAMPLE_REQUEST, "retention": {"retained": False}}
