"""The one way to say that a request does not fit: which fields and why, the first of them in `detail`."""

from collections.abc import Sequence

from api.problems import Fault, Problem


def invalid_request(faults: Sequence[Fault]) -> Problem:
    """The refusal for one or more faults."""
    first = faults[0]
    more = f" ({len(faults)} faults in all; see errors.)" if len(faults) > 1 else ""
    return Problem("invalid_request", f"{first.path or 'The body'} {first.message}.{more}", errors=faults)
