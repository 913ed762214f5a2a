"""Who calls, and what they may still do: the credential step, the rate limit and the free calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from hmac import compare_digest
from math import ceil

from api.core.secrets import LENGTH, PREFIX, looks_right, secret_hash
from api.core.times import DAY_S, day_end, utc_day
from api.core.x402 import codec, payment
from api.core.x402.codec import MalformedPayment
from api.core.x402.payment import Payment
from api.problems import Problem
from api.service.call import Call
from api.service.idempotency import conflict
from api.service.services import Services
from api.store import keys
from api.store.charges import Charge

FACILITATOR_RETRY_S = 30


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller whose key was looked up, with what it had used when the request came."""

    secret_hash: str
    allowance: keys.Allowance

    @property
    def key_id(self) -> str:
        """The key's id."""
        return self.allowance.key.id


@dataclass(frozen=True, slots=True)
class Seen:
    """A caller whose key was granted a call lately, so that this one is let in on trust: the commit looks it up."""

    secret_hash: str
    key_id: str


@dataclass(frozen=True, slots=True)
class Payer:
    """A caller without a key who sent a payment. Nothing of it is checked yet but its form."""

    payment: Payment


async def authenticate(services: Services, call: Call) -> Caller | Seen | Payer | None:
    """The caller, or None for an operation that needs none. Raises missing_key, unknown_key, payment_required,
    malformed_payment, payment_unavailable."""
    operation = call.operation
    if operation.auth == "none":
        return None
    if operation.auth == "operator":
        _require_operator(services, call)
        return None
    if call.authorization is not None:
        digest = _hash_of(call.authorization)
        key_id = services.known_keys.find(digest) if operation.metered else None
        return await look_up(services, digest) if key_id is None else Seen(digest, key_id)
    if operation.auth == "key":
        raise Problem("missing_key", headers={"WWW-Authenticate": "Bearer"})
    if call.payment is not None:
        return Payer(read_payment(services, call))
    raise Problem(
        "payment_required",
        f"Send an API key (free at {services.base_url}/signup), or pay {services.facts.x402.price_usd} "
        f"{services.facts.x402.asset_symbol} as PAYMENT-REQUIRED says.",
        headers={"PAYMENT-REQUIRED": services.offers.header(call)},
    )


async def look_up(services: Services, secret_hash: str) -> Caller:
    """The caller with that key. Raises unknown_key."""
    allowance = await services.database.read(keys.find, secret_hash, utc_day(services.clock()))
    if allowance is None:
        services.known_keys.forget(secret_hash)
        raise unknown_key("No key with this secret exists. It may have been deleted or rotated.")
    return Caller(secret_hash, allowance)


def limit_rate(services: Services, caller: Caller | Seen) -> None:
    """Takes one request from the key's rate. Raises rate_limited."""
    wait = services.key_rate.take(caller.key_id)
    if wait is not None:
        raise Problem(
            "rate_limited",
            f"The key may make {services.key_rate.per_second:g} requests a second, {services.key_rate.burst} at once.",
            headers={"Retry-After": str(ceil(wait))},
        )


def read_payment(services: Services, call: Call) -> Payment:
    """The payment that came with the call. Raises payment_unavailable without a facilitator, malformed_payment."""
    if services.facilitation is None:
        raise payment_unavailable("This server has no facilitator, so it can't take payments.")
    try:
        sent = codec.decode(call.payment) if isinstance(call.payment, str) else call.payment
        return payment.read(sent)
    except MalformedPayment as error:
        raise Problem("malformed_payment", f"The payment {error}.") from None


def payment_unavailable(why: str) -> Problem:
    """The refusal of a payment that can't be taken. Nothing was."""
    return Problem(
        "payment_unavailable",
        f"{why} Nothing was taken. API keys work as ever.",
        headers={"Retry-After": str(FACILITATOR_RETRY_S)},
    )


def is_used_up(services: Services, caller: Caller | Seen) -> bool:
    """Whether the charge would surely be refused after the work. False for a caller who is let in on trust."""
    if isinstance(caller, Seen):
        return False
    return caller.allowance.free_used >= services.limits.free_calls_per_day and caller.allowance.credits <= 0


def settle(services: Services, call: Call, caller: Caller | Seen, charge: Charge) -> Mapping[str, str]:
    """The limit headers of a granted charge. Raises quota_exceeded, unknown_key or idempotency_conflict for one that
    was not."""
    if charge.grant in ("free", "credit"):
        services.known_keys.add(caller.secret_hash, caller.key_id)
        return limit_headers(services, charge.free_used)
    services.known_keys.forget(caller.secret_hash)
    if charge.grant == "unknown_key":
        raise unknown_key("The key was deleted or rotated while the call ran.")
    if charge.grant == "refused":
        raise quota_exceeded(services, call, charge.free_used)
    raise conflict()


def caller_headers(services: Services, caller: Caller) -> dict[str, str]:
    """The limit headers of a call that is not charged."""
    return limit_headers(services, caller.allowance.free_used)


def quota_exceeded(services: Services, call: Call, free_used: int) -> Problem:
    """The refusal of a key that has nothing left."""
    now = services.clock()
    return Problem(
        "quota_exceeded",
        f"The key has used its {services.limits.free_calls_per_day} free calls of {utc_day(now)} and has no credits. "
        f"Wait for midnight UTC, or see {services.base_url}/pricing.",
        headers={
            "Retry-After": str(day_end(now) - int(now)),
            "PAYMENT-REQUIRED": services.offers.header(call),
            **limit_headers(services, free_used),
        },
    )


def limit_headers(services: Services, free_used: int) -> dict[str, str]:
    """RateLimit-Policy and RateLimit, as draft-ietf-httpapi-ratelimit-headers has them."""
    now, limit = services.clock(), services.limits.free_calls_per_day
    return {
        "RateLimit-Policy": f'"free";q={limit};w={DAY_S}',
        "RateLimit": f'"free";r={max(0, limit - free_used)};t={day_end(now) - int(now)}',
    }


def unknown_key(detail: str) -> Problem:
    """The refusal of a key that is not known."""
    return Problem("unknown_key", detail, headers={"WWW-Authenticate": "Bearer"})


def _require_operator(services: Services, call: Call) -> None:
    """Lets the operator in. Without a configured token the operation does not exist. Raises not_found, missing_key,
    unknown_key."""
    if not services.admin_token:
        raise Problem("not_found", "No operation of the API has this path. The reference is at /docs.")
    if call.authorization is None:
        raise Problem("missing_key", "The operator's token is needed.", headers={"WWW-Authenticate": "Bearer"})
    scheme, _, token = call.authorization.partition(" ")
    if scheme.lower() != "bearer" or not compare_digest(token.strip().encode(), services.admin_token.encode()):
        raise unknown_key("This is not the operator's token.")


def _hash_of(authorization: str) -> str:
    """The hash of the key in an Authorization header. Raises unknown_key for what can't be one."""
    scheme, _, secret = authorization.partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret:
        raise unknown_key("The Authorization header must be of the form `Bearer scr_...`.")
    if not looks_right(secret):
        raise unknown_key(
            f"The key is mistyped: it must begin with `{PREFIX}`, have {LENGTH} characters and end in their checksum."
        )
    return secret_hash(secret)
