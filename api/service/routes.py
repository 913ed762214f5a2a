"""Which function serves which operation of the contract."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from api.service import health, keys, validation
from api.service.admission import Caller
from api.service.call import Call, Reply
from api.service.services import Services

OpenHandler = Callable[[Services, Call, Any], Awaitable[Reply]]
KeyedHandler = Callable[[Services, Call, Caller, Any], Awaitable[Reply]]

OPEN: Mapping[str, OpenHandler] = {
    "create_key": keys.create,
    "health": health.health,
}
"""Operations that anybody may call."""

KEYED: Mapping[str, KeyedHandler] = {
    "judge": validation.judge,
    "consensus": validation.consensus,
    "get_key": keys.read,
    "delete_key": keys.delete,
    "rotate_key": keys.rotate,
}
"""Operations whose caller has shown a key."""
