"""The one pipeline: credential, rate limit, body, quota, work, charge. Adapters turn a Call into it and its Reply
into bytes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from api.problems import Problem
from api.service.admission import Caller, Payer, Seen, authenticate, caller_headers, limit_rate, look_up
from api.service.call import Call, Reply
from api.service.invalid import invalid_request
from api.service.routes import KEYED, METERED, OPEN
from api.service.services import Services
from api.store.database import StorageUnavailable
from api.store.group_commit import QueueFull

RETRY_AFTER_S = 2


async def dispatch(services: Services, call: Call) -> Reply:
    """Answers `call`. Raises Problem for everything that a caller can mend or wait for."""
    with _waits_told():
        return await _dispatch(services, call)


async def admit(services: Services, call: Call) -> None:
    """Raises the Problem of a call that is refused before its body is looked at. Takes nothing from any limit."""
    with _waits_told():
        await authenticate(services, call)


@contextmanager
def _waits_told() -> Iterator[None]:
    """Problems for what waiting mends."""
    try:
        yield
    except StorageUnavailable as error:
        raise Problem("storage_unavailable", headers={"Retry-After": str(RETRY_AFTER_S)}) from error
    except QueueFull:
        raise Problem(
            "overloaded", "Too many calls wait for their charge.", headers={"Retry-After": str(RETRY_AFTER_S)}
        ) from None


async def _dispatch(services: Services, call: Call) -> Reply:
    caller = await authenticate(services, call)
    if caller is None:
        return await OPEN[call.operation.id](services, call, _arguments(call))
    if isinstance(caller, Payer):
        return await METERED[call.operation.id](services, call, caller, _arguments(call))
    try:
        limit_rate(services, caller)
        if isinstance(caller, Caller) and not call.operation.metered:
            return await KEYED[call.operation.id](services, call, caller, _arguments(call))
        return await METERED[call.operation.id](services, call, caller, _arguments(call))
    except Problem as problem:
        if isinstance(caller, Seen) and problem.code != "unknown_key":
            # No answer, not even an error, to a key that was deleted since it was seen.
            caller = await look_up(services, caller.secret_hash)
        if isinstance(caller, Caller):
            for name, value in caller_headers(services, caller).items():
                problem.headers.setdefault(name, value)
        raise


def _arguments(call: Call) -> Any:
    """The body of an operation that has one, else its query parameters, checked on the contract's schemas; or the
    body's bytes."""
    if call.operation.raw_body:
        return call.read_body()
    schema = call.operation.body
    if schema is None:
        arguments, faults = call.operation.read_query(call.query)
    else:
        arguments = call.read_body()
        faults = schema.faults(arguments)
    if faults:
        raise invalid_request(faults)
    return arguments
