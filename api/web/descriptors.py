"""How many connections a process can hold: each takes one of its file descriptors."""

import logging
import resource

log = logging.getLogger(__name__)

RESERVE = 256
"""Descriptors for everything but clients: the database, the engine's workers, the facilitator, the files of the
metrics, and the refusals of connections beyond the limit."""


def connections_that_fit(wanted: int) -> int:
    """`wanted`, or as many connections as the process may hold. Raises its soft limit of descriptors as far as needed
    and allowed. Beyond the limit accept() fails, and goes on failing for as long as a client waits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + RESERVE
    if soft != resource.RLIM_INFINITY and soft < needed:
        raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        if raised < needed:
            fit = max(1, raised - RESERVE)
            log.warning("the process may open %s files, so it serves %s connections at once", raised, fit)
            return fit
    return wanted
