"""The judge and consensus operations: run the engine, then charge, then answer."""

from dataclasses import replace

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
from api.service.metered_call import Json, Validation
from api.service.services import Services
from api.store import idempotency as records
from api.store.charges import AnsweredCall
from api.store.idempotency import Record


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
    if is_used_up(services, caller):
        return await _without_quota(validation, caller)
    result = await validation.result()
    retained = validation.to_retain(result, call.request_id)
    charge = await services.charges.submit(
        AnsweredCall(caller.secret_hash, call.request_id, validation.observation(result), mark, retained)
    )
    if charge.grant == "replayed":
        return await _replay(validation, caller, Record("", charge.request_id, charge.retained_id), result)
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
