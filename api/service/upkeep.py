"""Jobs that tidy up: what has expired is removed, what a crash left is given back. Each returns what it did, "" for
nothing."""

from api.service.services import Services
from api.store import alerts, deliveries, drift, idempotency, jobs, orders, payments, reservations, retention, signups
from api.store.database import Tx

DRIFT_DAYS = 125
"""Counts are promised for 121 days: 90 that can be asked for, and the 31 before their first. Alerts are kept as long,
for GET /v1/drift shows those of its days."""
JOB_RUNS_S = 7 * 86_400


async def release_reservations(services: Services, now: int) -> str:
    """Gives back the calls that were reserved by work which never ended."""
    released = await services.database.write(reservations.release_expired, now)
    return f"{released} released" if released else ""


async def expire_retained(services: Services, now: int) -> str:
    """Removes kept content whose 24 hours are over, and what the files still hold of it."""
    removed = await services.database.write(retention.expire, now)
    if removed:
        await services.database.scrub()
    return f"{removed} removed" if removed else ""


async def prune(services: Services, now: int) -> str:
    """Forgets what no longer means anything: old idempotency records, sign-up windows, orders never paid, payments
    that are over, drift counts, alerts, deliveries and job runs."""
    removed = await services.database.write(_prune, now)
    return f"{removed} removed" if removed else ""


async def _prune(tx: Tx, now: int) -> int:
    removed = await idempotency.prune(tx, now)
    removed += await signups.prune(tx, now)
    removed += await payments.prune(tx, now)
    removed += await orders.prune(tx, now)
    removed += await deliveries.prune(tx, now)
    removed += await drift.prune(tx, now - DRIFT_DAYS * 86_400)
    removed += await alerts.prune(tx, now - DRIFT_DAYS * 86_400)
    return removed + await jobs.prune(tx, now - JOB_RUNS_S)
