"""The judge and consensus operations: run the engine, then charge, then answer."""

from dataclasses import dataclass, replace
from typing import Any

import orjson

from api.core.secrets import new_id
from api.core.times import rfc3339
from api.service import idempotency
from api.service.admission import Caller, Seen, caller_headers, look_up, require_quota, settle
from api.service.call import Call, Reply
from api.service.engine_pool import Work
from api.service.engine_work import consensus_body, judge_body
from api.service.services import Services
from api.store import idempotency as records
from api.store import retention
from api.store.charges import AnsweredCall, Charge
from api.store.drift import Observation
from api.store.idempotency import Record
from api.store.retention import Retained

Json = dict[str, Any]

OFF: Json = {"retained": False, "reason": "Retention is off for this key."}
GONE: Json = {"retained": False, "reason": "The retained row has expired or was deleted."}
NOT_RETAINED: Json = {"retained": False}


async def judge(services: Services, call: Call, caller: Caller | Seen, body: Json) -> Reply:
    """POST /v1/judge."""
    return await _answer(_Validation(services, call, caller, body, judge_body))


async def consensus(services: Services, call: Call, caller: Caller | Seen, body: Json) -> Reply:
    """POST /v1/consensus."""
    return await _answer(_Validation(services, call, caller, body, consensus_body))


@dataclass(frozen=True, slots=True)
class _Validation:
    """One metered call on its way."""

    services: Services
    call: Call
    caller: Caller | Seen
    body: Json
    work: Work

    async def result(self) -> Json:
        """What the engine says."""
        return await self.services.engines.run(self.work, self.body)

    def response(self, result: Json, request_id: str, retention_: Json) -> Json:
        """The result's fields, then request_id and retention, then the optional fields, in the documented order."""
        response = {**result, "request_id": request_id, "retention": retention_}
        signals = response.pop("signals", None)
        response |= {tag: self.body[tag] for tag in ("agent_id", "version") if tag in self.body}
        return response if signals is None else {**response, "signals": signals}


async def _answer(validation: _Validation) -> Reply:
    services, call, caller = validation.services, validation.call, validation.caller
    mark = idempotency.mark(services, call, caller.key_id, validation.body)
    if mark is not None:
        before = await services.database.read(records.find, mark, int(services.clock()))
        if before is not None:
            idempotency.require_same(before, mark)
            return await _replay(validation, before, await validation.result())
    require_quota(services, call, caller)
    result = await validation.result()
    retained = _retained(validation, result)
    charge = await services.charges.submit(
        AnsweredCall(caller.secret_hash, call.request_id, _observation(validation, result), mark, retained)
    )
    if charge.grant == "replayed":
        return await _replay(validation, Record("", charge.request_id, charge.retained_id), result)
    headers = settle(services, call, caller, charge)
    return Reply(
        validation.response(result, call.request_id, _retention(validation, retained, charge)), headers=headers
    )


async def _replay(validation: _Validation, before: Record, result: Json) -> Reply:
    """The answer again: worked out anew, under the first answer's request id, not charged and counted nowhere."""
    services = validation.services
    # No charge reads the key again here, and it may have been deleted while the work ran.
    caller = await look_up(services, validation.caller.secret_hash)
    kept = OFF if validation.body.get("retain") else NOT_RETAINED
    if before.retained_id is not None:
        row = await services.database.read(retention.find, caller.key_id, before.retained_id, int(services.clock()))
        kept = GONE if row is None else _shown(row)
    headers = {
        **caller_headers(services, caller),
        **idempotency.REPLAYED,
        "X-Request-Id": before.request_id,
    }
    return Reply(validation.response(result, before.request_id, kept), headers=headers)


def _retained(validation: _Validation, result: Json) -> Retained | None:
    """The row to keep, when the call asks for it and the key allows it. It holds the response as it will be sent."""
    caller = validation.caller
    if not validation.body.get("retain") or (isinstance(caller, Caller) and not caller.allowance.retains):
        return None
    services, now = validation.services, int(validation.services.clock())
    row = Retained(
        id=new_id("ret", services.random_bytes),
        key_id=caller.key_id,
        endpoint=validation.call.operation.id,
        created_at=now,
        expires_at=now + services.facts.retention_hours * 3_600,
        request=orjson.dumps(validation.body).decode(),
        response="",
    )
    response = validation.response(result, validation.call.request_id, _shown(row))
    return replace(row, response=orjson.dumps(response).decode())


def _retention(validation: _Validation, retained: Retained | None, charge: Charge) -> Json:
    if not validation.body.get("retain"):
        return NOT_RETAINED
    return _shown(retained) if retained is not None and charge.retained_id is not None else OFF


def _shown(row: Retained) -> Json:
    return {"retained": True, "id": row.id, "expires_at": rfc3339(row.expires_at)}


def _observation(validation: _Validation, result: Json) -> Observation:
    agent_id, version = validation.body.get("agent_id", ""), validation.body.get("version", "")
    if validation.call.operation.id == "judge":
        return Observation(agent_id, version, "judge", verdict=result["verdict"], score=result["score"])
    return Observation(agent_id, version, "consensus", risk=result["false_consensus_risk"])
