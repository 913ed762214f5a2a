"""Lists with a cursor: `{"data": [...], "next_cursor": ...}`."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from api.core import cursor
from api.problems import Fault
from api.service.invalid import invalid_request

Item = TypeVar("Item")


def position(arguments: dict[str, Any]) -> tuple[int, str] | None:
    """Where the asked-for page begins; None for the first. Raises invalid_request for a cursor that no list made."""
    if "cursor" not in arguments:
        return None
    place = cursor.decode(arguments["cursor"])
    if place is None:
        raise invalid_request([Fault("cursor", "is not the next_cursor of an earlier page")])
    return place


def page(
    rows: Sequence[Item], limit: int, place: Callable[[Item], tuple[int, str]], show: Callable[[Item], dict[str, Any]]
) -> dict[str, Any]:
    """A page of at most `limit` of `rows`, which hold one row more when there is a next page."""
    shown = rows[:limit]
    more = cursor.encode(*place(shown[-1])) if len(rows) > limit else None
    return {"data": [show(row) for row in shown], "next_cursor": more}
