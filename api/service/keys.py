"""The operations on keys: create, read, rotate, delete."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from email_validator import EmailNotValidError, validate_email

from api.core.client_address import signup_network
from api.core.secrets import new_id, new_secret, secret_hash, shown_prefix
from api.core.times import day_end, last_days, rfc3339
from api.problems import Fault, Problem
from api.service import idempotency
from api.service.admission import Caller, caller_headers, limit_headers, unknown_key
from api.service.call import Call, Reply
from api.service.invalid import invalid_request
from api.service.services import Services
from api.store import idempotency as records
from api.store import keys, signups
from api.store.database import Tx
from api.store.idempotency import Mark, Record

USAGE_DAYS = 30


async def create(services: Services, call: Call, body: Any) -> Reply:
    """POST /v1/keys. The secret is in the reply and nowhere else."""
    secret, now = new_secret(services.random_bytes), int(services.clock())
    key = keys.StoredKey(
        id=new_id("key", services.random_bytes),
        email=_email(body["email"]),
        name=body["name"].strip(),
        prefix=shown_prefix(secret),
        secret_hash=secret_hash(secret),
        created_at=now,
    )
    address = services.keyed_hash("signup", signup_network(call.address))
    mark = idempotency.mark(services, call, services.keyed_hash("client", call.address), body)
    limit, cap = services.limits.signups_per_hour, services.facts.keys_per_email
    signup = _Signup(key, address, mark, call.request_id, now)
    outcome = await services.database.write(_add, signup, cap, limit)
    if outcome.before is not None and mark is not None:
        idempotency.require_same(outcome.before, mark)
        raise Problem(
            "secret_not_replayed",
            f"The key was made by request {outcome.before.request_id}; its secret is stored nowhere.",
        )
    if outcome.wait_s is not None:
        raise Problem(
            "rate_limited",
            f"This address has made {limit} keys within an hour.",
            headers={"Retry-After": str(outcome.wait_s)},
        )
    if not outcome.added:
        raise Problem(
            "key_limit_reached",
            f"This email has {cap} active keys. Delete or rotate one of them.",
            headers={"Retry-After": str(signups.WINDOW_S)},
        )
    headers = {"RateLimit-Policy": f'"signups";q={limit};w={signups.WINDOW_S}'} if limit else {}
    return Reply(_new_key(key, secret), status=201, headers=headers)


async def read(services: Services, call: Call, caller: Caller, body: Any) -> Reply:
    """GET /v1/keys/me."""
    now, allowance = services.clock(), caller.allowance
    days = last_days(now, USAGE_DAYS)
    used = await services.database.read(keys.usage, allowance.key.id, days[-1])
    limit = services.limits.free_calls_per_day
    reply = {
        "id": allowance.key.id,
        "name": allowance.key.name,
        "prefix": allowance.key.prefix,
        "created_at": rfc3339(allowance.key.created_at),
        "free_calls": {
            "limit": limit,
            "used": allowance.free_used,
            "remaining": max(0, limit - allowance.free_used),
            "resets_at": rfc3339(day_end(now)),
        },
        "credits": allowance.credits,
        "usage": usage_rows(days, used),
    }
    return Reply(reply, headers=limit_headers(services, allowance.free_used))


async def rotate(services: Services, call: Call, caller: Caller, body: Any) -> Reply:
    """POST /v1/keys/me/rotate. Of two at once one wins; the other's secret is dead by then, which is a 401."""
    secret = new_secret(services.random_bytes)
    key = await services.database.write(keys.rotate, caller.secret_hash, secret_hash(secret), shown_prefix(secret))
    if key is None:
        raise unknown_key("The key was deleted or rotated meanwhile.")
    return Reply(_new_key(key, secret), headers=caller_headers(services, caller))


async def delete(services: Services, call: Call, caller: Caller, body: Any) -> Reply:
    """DELETE /v1/keys/me. After its reply no call with the key is answered and nothing of it is in the store."""
    key_id = await services.database.write(keys.delete, caller.secret_hash)
    if key_id is None:
        raise unknown_key("The key was deleted or rotated meanwhile.")
    await services.database.scrub()
    return Reply({"id": key_id, "deleted": True})


@dataclass(frozen=True, slots=True)
class _Signup:
    """One attempt to make a key."""

    key: keys.StoredKey
    address: str
    mark: Mark | None
    request_id: str
    now: int


@dataclass(frozen=True, slots=True)
class _Outcome:
    """How it ended: `wait_s` when the address has no sign-up left, `before` when the mark was used already."""

    added: bool = False
    wait_s: int | None = None
    before: Record | None = None


async def _add(tx: Tx, signup: _Signup, cap: int, limit: int) -> _Outcome:
    """Counts the sign-up even when the email has its keys: else the answer would tell, without limit, which emails
    have."""
    if signup.mark is not None:
        before = await records.find(tx, signup.mark, signup.now)
        if before is not None:
            return _Outcome(before=before)
    if limit:
        wait = await signups.take(tx, signup.address, signup.now, limit)
        if wait is not None:
            return _Outcome(wait_s=wait)
    added = await keys.add(tx, signup.key, cap)
    if added and signup.mark is not None:
        record = Record(signup.mark.body_hash, signup.request_id, None)
        await records.add_all(tx, [(signup.mark, record)], signup.now)
    return _Outcome(added)


def _email(text: str) -> str:
    """The address in its normal form, lower case. Raises invalid_request for what is no address."""
    try:
        return validate_email(text, check_deliverability=False).normalized.lower()
    except EmailNotValidError as error:
        message = str(error).rstrip(".")
        raise invalid_request([Fault("/email", f"is not an email address: {message}")]) from None


def _new_key(key: keys.StoredKey, secret: str) -> dict[str, Any]:
    return {
        "key": secret,
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "created_at": rfc3339(key.created_at),
    }


def usage_rows(days: Sequence[str], used: Sequence[keys.DayOfUse]) -> list[dict[str, Any]]:
    """One row for each of `days`, zeros where nothing was used."""
    counts = {row.day: (row.judge, row.consensus) for row in used}
    rows = []
    for day in days:
        judge, consensus = counts.get(day, (0, 0))
        rows.append({"date": day, "calls": judge + consensus, "judge": judge, "consensus": consensus})
    return rows
