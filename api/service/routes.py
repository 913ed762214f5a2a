"""Which function serves which operation of the contract.

`arguments` is the parsed body of an operation that has one, its bytes where the contract says x-raw-body, else the
query parameters.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from api.service import (
    account,
    alerts,
    billing,
    deliveries,
    drift,
    health,
    keys,
    operator,
    payments,
    receipts,
    retained,
    validation,
)
from api.service.admission import Caller, Payer, Seen
from api.service.call import Call, Reply
from api.service.services import Services

OpenHandler = Callable[[Services, Call, Any], Awaitable[Reply]]
KeyedHandler = Callable[[Services, Call, Caller, Any], Awaitable[Reply]]
MeteredHandler = Callable[[Services, Call, Caller | Seen | Payer, Any], Awaitable[Reply]]

ELSEWHERE = frozenset({"mcp"})
"""Operations that an adapter answers by itself, through those below."""

OPEN: Mapping[str, OpenHandler] = {
    "create_key": keys.create,
    "health": health.health,
    "ready": operator.ready,
    "verify_receipt": receipts.verify,
    "admin_list_keys": operator.list_keys,
    "admin_revoke_key": operator.revoke_key,
    "admin_list_credits": operator.list_credits,
    "admin_add_credits": operator.add_credits,
    "admin_counts": operator.counts,
    "admin_list_payments": payments.list_payments,
    "admin_list_orders": operator.list_orders,
    "admin_list_deliveries": deliveries.list_deliveries,
    "admin_redeliver": deliveries.redeliver,
    "billing_webhook": billing.webhook,
}
"""Operations that no key is needed for: anybody's, and the operator's."""

METERED: Mapping[str, MeteredHandler] = {
    "judge": validation.judge,
    "consensus": validation.consensus,
}
"""Operations that are charged."""

KEYED: Mapping[str, KeyedHandler] = {
    "get_key": keys.read,
    "delete_key": keys.delete,
    "rotate_key": keys.rotate,
    "list_retained": retained.list_rows,
    "delete_retained": retained.delete_row,
    "get_settings": account.read_settings,
    "update_settings": account.update_settings,
    "checkout": billing.checkout,
    "get_drift": drift.read,
    "list_alerts": alerts.list_alerts,
}
"""Other operations whose caller has shown a key."""


def unanswered(operations: Iterable[str]) -> list[str]:
    """The operations of a contract that nothing here answers: a contract never promises what does not answer."""
    return sorted(set(operations) - ELSEWHERE - OPEN.keys() - METERED.keys() - KEYED.keys())
