"""Idempotency-Key: what a call is recognised by, and what a repeat gets."""

from typing import Any

import orjson

from api.problems import Fault, Problem
from api.service.call import Call
from api.service.invalid import invalid_request
from api.service.services import Services
from api.store.idempotency import Mark, Record

MAX_LENGTH = 255
REPLAYED = {"Idempotency-Replayed": "true"}


def mark(services: Services, call: Call, caller: str, body: Any) -> Mark | None:
    """The call's mark, None without an Idempotency-Key. Bodies that are equal as JSON are the same body.

    Raises invalid_request for a key that is not 1 to 255 printable ASCII characters.
    """
    token = call.idempotency_key
    if token is None or not call.operation.takes_idempotency_key:
        return None
    if not 1 <= len(token) <= MAX_LENGTH or not token.isascii() or not token.isprintable():
        raise invalid_request([Fault("Idempotency-Key", f"must have 1 to {MAX_LENGTH} printable ASCII characters")])
    canonical = orjson.dumps([call.operation.id, body], option=orjson.OPT_SORT_KEYS).decode()
    return Mark(
        caller=caller,
        token=services.keyed_hash("idempotency-key", token),
        body_hash=services.keyed_hash("idempotency-body", canonical),
    )


def require_same(record: Record, wanted: Mark) -> None:
    """Raises idempotency_conflict when the record is of another request than the mark's."""
    if record.body_hash != wanted.body_hash:
        raise conflict()


def conflict() -> Problem:
    """The refusal of a key that was used for another request."""
    return Problem("idempotency_conflict", "This Idempotency-Key was used for another request within 24 hours.")
