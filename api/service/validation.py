"""The judge and consensus operations: run the engine, then charge, then answer."""

from typing import Any, Literal

from api.service.admission import Caller, require_quota, settle
from api.service.call import Call, Reply
from api.service.engine_pool import Work
from api.service.engine_work import consensus_body, judge_body
from api.service.services import Services
from api.store.charges import AnsweredCall

Endpoint = Literal["judge", "consensus"]


async def judge(services: Services, call: Call, caller: Caller, body: Any) -> Reply:
    """POST /v1/judge."""
    return await _answer(services, call, caller, body, "judge", judge_body)


async def consensus(services: Services, call: Call, caller: Caller, body: Any) -> Reply:
    """POST /v1/consensus."""
    return await _answer(services, call, caller, body, "consensus", consensus_body)


async def _answer(
    services: Services, call: Call, caller: Caller, body: dict[str, Any], endpoint: Endpoint, work: Work
) -> Reply:
    require_quota(services, call, caller)
    result = await services.engines.run(work, body)
    charge = await services.charges.submit(AnsweredCall(caller.secret_hash, endpoint))
    headers = settle(services, call, charge)
    return Reply(_with_envelope(result, call, body), headers=headers)


def _with_envelope(result: dict[str, Any], call: Call, body: dict[str, Any]) -> dict[str, Any]:
    """The result's fields, then request_id and retention, then the optional fields, in the documented order."""
    signals = result.pop("signals", None)
    result["request_id"] = call.request_id
    result["retention"] = {"retained": False}
    for tag in ("agent_id", "version"):
        if tag in body:
            result[tag] = body[tag]
    if signals is not None:
        result["signals"] = signals
    return result
