"""A call that an x402 payment pays for: reserve, verify, work, settle, answer (PROTOCOLS.md section 1).

The buyer is not charged when the work fails, the work is not run twice for one payment at a time, and once a
payment was sent to be settled it is never forgotten: what can't be known yet is a 503 and not a new 402, which
would make the buyer pay twice.
"""

import hashlib
from contextlib import suppress
from dataclasses import dataclass

import orjson

from api.core.receipts.receipt import PaidBy
from api.core.secrets import new_id
from api.core.x402 import codec, replies
from api.core.x402.payment import MARGIN_S
from api.core.x402.payment import Payment as Sent
from api.core.x402.replies import Failed, Refused, Settled, Unavailable
from api.problems import Problem
from api.service import idempotency
from api.service.admission import Caller, caller_headers, payment_unavailable, unknown_key
from api.service.call import Reply
from api.service.facilitation import Facilitation
from api.service.idempotency import REPLAYED
from api.service.metered_call import Json, Validation
from api.service.payments import settle_again, settling_until
from api.store import idempotency as records
from api.store import paid_calls, payments
from api.store.database import StorageUnavailable
from api.store.idempotency import Mark, Record
from api.store.paid_calls import PaidCall
from api.store.payments import Arrival, Payment, Place
from api.store.retention import Retained

RESERVED_S = 60
"""How long a reservation stands beyond the time of verification and of slow work, before its process counts as dead."""
RETRY_S = 5


@dataclass(frozen=True, slots=True)
class _Paying:
    """One call and the payment that came with it."""

    validation: Validation
    facilitation: Facilitation
    arrival: Arrival
    mark: Mark | None

    def now(self) -> int:
        return int(self.validation.services.clock())


async def answer(validation: Validation, sent: Sent) -> Reply:
    """The answer of a call with an admitted caller, paid by `sent`. Raises a Problem for every other outcome."""
    services, call = validation.services, validation.call
    if services.facilitation is None:
        raise payment_unavailable("This server has no facilitator.")
    arrival = _arrival(validation, sent)
    paying = _Paying(validation, services.facilitation, arrival, _mark(validation, sent))
    now = paying.now()
    standing = await services.database.read(payments.find, arrival.place, arrival.identifier, now)
    if not standing:
        refusal = sent.refusal(services.offers.of(call), now, MARGIN_S + paying.facilitation.work_s)
        if refusal is not None:
            raise _refused(paying, refusal)
        if not await paying.facilitation.is_open():
            raise payment_unavailable("The facilitator can't be reached, or does not take payments on this network.")
        held_until = now + round(paying.facilitation.timeout_s + paying.facilitation.work_s) + RESERVED_S
        standing = await services.database.write(payments.reserve, arrival, now, held_until)
    if standing:
        return await _resent(paying, standing)
    return await _first(paying)


async def _first(paying: _Paying) -> Reply:
    """The payment is reserved for this call."""
    services, arrival = paying.validation.services, paying.arrival
    try:
        await _verify(paying)
        before = await _before(paying)
        # Content is not stored, so what was answered before is worked out again, and no model is asked for that.
        result = await (paying.validation.graded() if before is None else paying.validation.result())
        if before is None:
            await _begin_settling(paying)
    except BaseException:
        # A storage that is out leaves the reservation to its time.
        with suppress(StorageUnavailable):
            await services.database.write(payments.release, arrival.id, arrival.request_id)
        raise
    if before is not None:
        await services.database.write(payments.release, arrival.id, arrival.request_id)
        return await _replayed(paying, before, result)
    outcome = await paying.facilitation.settle(arrival.document, arrival.payer_shown)
    if isinstance(outcome, Settled):
        return await _settled(paying, result, outcome.transaction)
    with suppress(StorageUnavailable):
        if isinstance(outcome, Failed):
            await services.database.write(payments.fail, arrival.id, arrival.request_id, outcome.reason, paying.now())
            raise _refused(paying, outcome.reason, settled=False)
        await services.database.write(
            payments.doubt, arrival.id, arrival.request_id, outcome.why, outcome.transaction, paying.now()
        )
    raise _unknown(arrival.id)


async def _verify(paying: _Paying) -> None:
    found = await paying.facilitation.verify(paying.arrival.document, paying.arrival.payer_shown)
    if isinstance(found, Unavailable):
        raise payment_unavailable("The facilitator can't verify payments now.")
    if isinstance(found, Refused):
        raise _refused(paying, found.reason)


async def _before(paying: _Paying) -> Record | None:
    """What the same payer was answered under the call's Idempotency-Key. Looked up once the payment is verified: before
    that anybody could say to be the payer."""
    if paying.mark is None:
        return None
    before = await paying.validation.services.database.read(records.find, paying.mark, paying.now())
    if before is not None:
        idempotency.require_same(before, paying.mark)
    return before


async def _begin_settling(paying: _Paying) -> None:
    services, arrival, now = paying.validation.services, paying.arrival, paying.now()
    try:
        begun = await services.database.write(
            payments.begin_settling,
            arrival.id,
            arrival.request_id,
            paying.mark,
            now,
            settling_until(paying.facilitation, now),
        )
    except StorageUnavailable:
        # It may have been noted all the same, and then the payment will be settled.
        raise _unknown(arrival.id) from None
    if begun != "begun":
        raise _in_flight()


async def _settled(paying: _Paying, result: Json, transaction: str) -> Reply:
    """The money has moved for the call whose work is done."""
    services, call = paying.validation.services, paying.validation.call
    payment = _paid_by(paying.arrival, transaction)
    retained = paying.validation.to_retain(result, call.request_id, payment)
    paid_call = _paid_call(paying, result, paying.arrival.id, call.request_id, retained)
    try:
        outcome = await services.database.write(paid_calls.settle, paid_call, transaction, paying.now())
    except StorageUnavailable:
        raise _unknown(paying.arrival.id) from None
    receipt = replies.receipt(paying.arrival.payer_shown, paying.arrival.place.network, transaction)
    if outcome.answered == "unknown_key":
        raise _without_key(receipt)
    kept = None if outcome.payment is None else outcome.payment.retained_id
    body = paying.validation.first_response(result, call.request_id, retained, kept, payment)
    return Reply(body, headers=_headers(paying, receipt))


async def _resent(paying: _Paying, standing: list[Payment]) -> Reply:
    """The payment was here before: answered from its record, when it is the same and for the same call."""
    for known in standing:
        if known.payload_hash != paying.arrival.payload_hash:
            raise Problem("payment_conflict", "Its authorization or payment-identifier was used with another payment.")
        if known.binding != paying.arrival.binding:
            raise Problem("payment_conflict", "The payment was sent with another request before, and pays for that.")
    known = standing[0]
    if known.state in ("settling", "unknown"):
        known = await _find_out(paying, known)
    if known.state != "settled":
        raise _in_flight()
    return await _from_record(paying, known)


async def _find_out(paying: _Paying, known: Payment) -> Payment:
    """A payment in doubt is settled again now."""
    if known.is_closed:
        raise _unresolved(known.id)
    services, holder = paying.validation.services, paying.validation.call.request_id
    found = await settle_again(services, paying.facilitation, known.id, holder)
    if found is None:
        raise _in_flight()
    if isinstance(found, Failed):
        raise _refused(paying, found.reason, settled=False)
    if found.state == "settled":
        return found
    raise _unresolved(found.id) if found.is_closed else _unknown(found.id)


async def _from_record(paying: _Paying, known: Payment) -> Reply:
    """The answer of a settled payment, worked out anew under the first request's id: content is not stored."""
    services, validation = paying.validation.services, paying.validation
    result = await validation.result()
    payment = _paid_by(known, known.transaction)
    retained = validation.to_retain(result, known.request_id, payment)
    paid_call = _paid_call(paying, result, known.id, known.request_id, retained)
    outcome = await services.database.write(paid_calls.record, paid_call, paying.now())
    receipt = replies.receipt(known.payer_shown, known.place.network, known.transaction)
    if outcome.answered == "unknown_key":
        raise _without_key(receipt)
    kept = None if outcome.payment is None else outcome.payment.retained_id
    if outcome.answered == "first":
        body = validation.first_response(result, known.request_id, retained, kept, payment)
    else:
        own = isinstance(validation.caller, Caller) and validation.caller.key_id == known.key_id
        told = await validation.retention_again(known.key_id if own else None, kept)
        body = validation.response(result, known.request_id, told, payment)
    headers = {**_headers(paying, receipt), "X-Request-Id": known.request_id}
    return Reply(body, headers=headers)


async def _replayed(paying: _Paying, before: Record, result: Json) -> Reply:
    """The answer to an Idempotency-Key that was paid for before, with another payment. This one is not taken."""
    validation = paying.validation
    key_id = validation.caller.key_id if isinstance(validation.caller, Caller) else None
    told = await validation.retention_again(key_id, before.retained_id)
    headers = {**_caller_headers(paying), **REPLAYED, "X-Request-Id": before.request_id, "Cache-Control": "private"}
    return Reply(validation.response(result, before.request_id, told), headers=headers)


def _paid_by(payment: Arrival | Payment, transaction: str) -> PaidBy:
    """The payment as receipts name it."""
    place = payment.place
    return PaidBy(place.network, transaction, payment.payer_shown, payment.amount, place.asset)


def _arrival(validation: Validation, sent: Sent) -> Arrival:
    services, call = validation.services, validation.call
    offer = services.offers.of(call)
    wanted = offer.requirements
    return Arrival(
        id=new_id("pay", services.random_bytes),
        place=Place(wanted["network"], wanted["asset"].lower(), sent.payer.lower(), sent.nonce),
        identifier=sent.identifier,
        payload_hash=sent.digest,
        binding=_binding(validation),
        endpoint=call.operation.id,
        amount=wanted["amount"],
        payer_shown=sent.payer,
        valid_before=sent.valid_before,
        request_id=call.request_id,
        key_id=validation.caller.key_id if isinstance(validation.caller, Caller) else None,
        document=orjson.dumps(sent.document(offer)).decode(),
    )


def _binding(validation: Validation) -> str:
    """What the payment is for: the signature covers neither the URL nor the body. Bodies that are equal as JSON are the
    same, as for Idempotency-Key; kept as a keyed hash, since short ones could be guessed."""
    call = validation.call
    canonical = orjson.dumps(validation.body, option=orjson.OPT_SORT_KEYS)
    where = [call.operation.method, call.operation.path] if call.tool is None else ["tool", call.tool]
    text = orjson.dumps([*where, hashlib.sha256(canonical).hexdigest()]).decode()
    return validation.services.keyed_hash("payment-binding", text)


def _mark(validation: Validation, sent: Sent) -> Mark | None:
    services, caller = validation.services, validation.caller
    who = caller.key_id if isinstance(caller, Caller) else services.keyed_hash("payer", sent.payer.lower())
    return idempotency.mark(services, validation.call, who, validation.body)


def _paid_call(paying: _Paying, result: Json, payment_id: str, request_id: str, retained: Retained | None) -> PaidCall:
    caller = paying.validation.caller
    return PaidCall(
        payment_id=payment_id,
        request_id=request_id,
        observation=paying.validation.observation(result),
        secret_hash=caller.secret_hash if isinstance(caller, Caller) else None,
        mark=paying.mark,
        retained=retained,
    )


def _headers(paying: _Paying, receipt: Json) -> dict[str, str]:
    return {**_caller_headers(paying), "PAYMENT-RESPONSE": codec.encode(receipt), "Cache-Control": "private"}


def _caller_headers(paying: _Paying) -> dict[str, str]:
    caller = paying.validation.caller
    return caller_headers(paying.validation.services, caller) if isinstance(caller, Caller) else {}


def _refused(paying: _Paying, reason: str, *, settled: bool | None = None) -> Problem:
    """A 402 with a new offer. `settled` False: the settlement was tried, and its failure is told as x402 has it."""
    services, call, arrival = paying.validation.services, paying.validation.call, paying.arrival
    headers = {"PAYMENT-REQUIRED": services.offers.header(call, reason)}
    if settled is False:
        failure = replies.failure(arrival.payer_shown, arrival.place.network, reason)
        headers["PAYMENT-RESPONSE"] = codec.encode(failure)
    detail = f"The payment does not pay for this call: {reason}."
    return Problem("payment_refused", detail, headers=headers, extra={"reason": reason})


def _unknown(payment_id: str) -> Problem:
    return Problem(
        "payment_unknown",
        f"Whether payment {payment_id} was taken is not known yet. Send the same request with the same payment again "
        "to find out; do not sign a new one.",
        headers={"Retry-After": str(RETRY_S)},
        extra={"payment_id": payment_id},
    )


def _unresolved(payment_id: str) -> Problem:
    return Problem(
        "payment_unresolved",
        f"Payment {payment_id} has expired, and whether it was taken before could not be learned. Look for its nonce "
        "on the chain; if the money has moved, tell the operator the id.",
        extra={"payment_id": payment_id},
    )


def _in_flight() -> Problem:
    return Problem(
        "payment_in_flight",
        "A request with this payment is being answered. Send it again when that has ended.",
        headers={"Retry-After": "1"},
    )


def _without_key(receipt: Json) -> Problem:
    problem = unknown_key("The key was deleted or rotated while the call ran. The payment was taken.")
    problem.headers["PAYMENT-RESPONSE"] = codec.encode(receipt)
    return problem
