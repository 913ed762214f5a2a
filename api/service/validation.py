"""The judge and consensus operations: run the engine, then charge, then answer.

With a model the order is another one, because its work costs money: run the engine, reserve the call, ask the model,
charge what was reserved, answer.
"""

from contextlib import suppress
from dataclasses import replace

from api.core.secrets import new_id
from api.service import idempotency, paid
from api.service.admission import (
    Caller,
    Payer,
    Seen,
    caller_headers,
    is_used_up,
    look_up,
    quota_exceeded,
    read_payment,
    settle,
)
from api.service.call import Call, Reply
from api.service.engine_work import consensus_body, judge_body
from api.service.grading import Grader
from api.service.metered_call import Json, Validation
from api.service.services import Services
from api.store import idempotency as records
from api.store import reservations
from api.store.charges import AnsweredCall, Charge
from api.store.database import StorageUnavailable
from api.store.idempotency import Mark, Record
from api.store.reservations import Wanted

RESERVED_S = 60
"""How long a reservation stands beyond the time that a model has, before its process counts as dead."""


async def judge(services: Services, call: Call, caller: Caller | Seen | Payer, body: Json) -> Reply:
    """POST /v1/judge."""
    return await _answer(services, call, caller, Validation(services, call, caller, body, judge_body))


async def consensus(services: Services, call: Call, caller: Caller | Seen | Payer, body: Json) -> Reply:
    """POST /v1/consensus."""
    return await _answer(services, call, caller, Validation(services, call, caller, body, consensus_body))


async def _answer(services: Services, call: Call, caller: Caller | Seen | Payer, validation: Validation) -> Reply:
    if isinstance(caller, Payer):
        return await paid.answer(validation, caller.payment)
    mark = idempotency.mark(services, call, caller.key_id, validation.body)
    if mark is not None:
        before = await services.database.read(records.find, mark, int(services.clock()))
        if before is not None:
            idempotency.require_same(before, mark)
            return await _replay(validation, caller, before, await validation.result())
    # What a repeat could use may be reserved by the same call, which a model is asked for just now.
    if is_used_up(services, caller) and (services.grader is None or mark is None):
        return await _without_quota(validation, caller)
    if services.grader is not None:
        return await _reserved(validation, caller, mark, services.grader)
    result = await validation.result()
    return await _charged(validation, caller, mark, result, result)


async def _reserved(validation: Validation, caller: Caller | Seen, mark: Mark | None, grader: Grader) -> Reply:
    """The answer that a model is asked for. The call is reserved first, so that nobody has a model asked beyond what
    his key has."""
    services, call = validation.services, validation.call
    checked = await validation.checked()
    reservation = _reservation(validation, mark)
    expires_at = int(services.clock()) + round(grader.work_s) + RESERVED_S
    grant = await services.reservations.submit(Wanted(reservation, caller.secret_hash, expires_at, mark))
    if grant == "refused":
        services.known_keys.forget(caller.secret_hash)
        return await _without_quota(validation, caller)
    if grant == "unknown_key":
        settle(services, call, caller, Charge("unknown_key"))
    result = checked["result"]
    try:
        # A conflict: the same call is on its way, here or on another node, or was just answered. No model is asked
        # twice for one Idempotency-Key.
        if grant != "conflict":
            result = await grader.grade(call.operation.id, validation.body, checked)
        return await _charged(validation, caller, mark, result, checked["result"], reservation)
    except BaseException:
        if grant != "conflict":
            # A storage that is out leaves the reservation to its time. One that was used is gone already.
            with suppress(StorageUnavailable):
                await services.database.write(reservations.release, reservation)
        raise


def _reservation(validation: Validation, mark: Mark | None) -> str:
    """The id of the call's reservation: the same for all calls of one Idempotency-Key."""
    services = validation.services
    if mark is None:
        return new_id("res", services.random_bytes)
    return f"res_{services.keyed_hash('reservation', f'{mark.caller}:{mark.token}')}"


async def _charged(
    validation: Validation,
    caller: Caller | Seen,
    mark: Mark | None,
    result: Json,
    deterministic: Json,
    reservation: str | None = None,
) -> Reply:
    """The answer, once its charge is durable. One that turns out to be a replay has the `deterministic` result."""
    services, call = validation.services, validation.call
    retained = validation.to_retain(result, call.request_id)
    charge = await services.charges.submit(
        AnsweredCall(caller.secret_hash, call.request_id, validation.observation(result), mark, retained, reservation)
    )
    if charge.grant == "replayed":
        return await _replay(validation, caller, Record("", charge.request_id, charge.retained_id), deterministic)
    if charge.grant == "refused" and call.payment is not None:
        services.known_keys.forget(caller.secret_hash)
        return await _without_quota(validation, caller)
    headers = settle(services, call, caller, charge)
    return Reply(
        validation.first_response(result, call.request_id, retained, charge.retained_id),
        headers=headers,
    )


async def _without_quota(validation: Validation, caller: Caller | Seen) -> Reply:
    """The answer to a key that has nothing left: what it pays for, or that it must. Raises quota_exceeded."""
    services, call = validation.services, validation.call
    known = caller if isinstance(caller, Caller) else await look_up(services, caller.secret_hash)
    if call.payment is None:
        raise quota_exceeded(services, call, known.allowance.free_used)
    return await paid.answer(replace(validation, caller=known), read_payment(services, call))


async def _replay(validation: Validation, caller: Caller | Seen, before: Record, result: Json) -> Reply:
    """The answer again: worked out anew, under the first answer's request id, not charged and counted nowhere."""
    # No charge reads the key again here, and it may have been deleted while the work ran.
    caller = await look_up(validation.services, caller.secret_hash)
    headers = {
        **caller_headers(validation.services, caller),
        **idempotency.REPLAYED,
        "X-Request-Id": before.request_id,
    }
    kept = await validation.retention_again(caller.key_id, before.retained_id)
    return Reply(validation.response(result, before.request_id, kept), headers=headers)
