"""The one pipeline: credential, rate limit, body, quota, work, charge. Adapters turn a Call into it and its Reply
into bytes."""

from typing import Any

from api.problems import Problem
from api.service.admission import authenticate, limit_headers, limit_rate
from api.service.call import Call, Reply
from api.service.routes import KEYED, OPEN
from api.service.services import Services
from api.store.database import StorageUnavailable
from api.store.group_commit import QueueFull

RETRY_AFTER_S = 2


async def dispatch(services: Services, call: Call) -> Reply:
    """Answers `call`. Raises Problem for everything that a caller can mend or wait for."""
    try:
        return await _dispatch(services, call)
    except StorageUnavailable as error:
        raise Problem("storage_unavailable", headers={"Retry-After": str(RETRY_AFTER_S)}) from error
    except QueueFull:
        raise Problem(
            "overloaded", "Too many calls wait for their charge.", headers={"Retry-After": str(RETRY_AFTER_S)}
        ) from None


async def _dispatch(services: Services, call: Call) -> Reply:
    caller = await authenticate(services, call)
    if caller is None:
        return await OPEN[call.operation.id](services, call, _valid_body(call))
    try:
        limit_rate(services, caller)
        return await KEYED[call.operation.id](services, call, caller, _valid_body(call))
    except Problem as problem:
        for name, value in limit_headers(services, caller.allowance.free_used).items():
            problem.headers.setdefault(name, value)
        raise


def _valid_body(call: Call) -> Any:
    """The body of an operation that has one, checked on the contract's schema."""
    schema = call.operation.body
    if schema is None:
        return None
    body = call.read_body()
    faults = schema.faults(body)
    if faults:
        first = faults[0]
        more = f" ({len(faults)} faults in all; see errors.)" if len(faults) > 1 else ""
        raise Problem("invalid_request", f"{first.path or 'The body'} {first.message}.{more}", errors=faults)
    return body
