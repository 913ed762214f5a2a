"""Pure. Deliveries of alerts: what is signed and how, what a receiver's answer means, and when to try again.

The body is signed twice with the one secret that the key's holder was shown. X-Screwtape-Signature covers the body
alone; the three headers of Standard Webhooks (standardwebhooks.com, version 1) cover id, time and body.
"""

import hashlib
import hmac
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import rfc8785

from api.core.secrets import RandomBytes
from api.core.times import DAY_S

ALG = "HMAC-SHA256"
SECRET_PREFIX = "whsec_"  # noqa: S105 - what every secret begins with
SECRET_BYTES = 32
USER_AGENT = "Screwtape-Webhooks"

BACKOFF_S = (5, 300, 1_800, 7_200, 18_000, 36_000)
"""The pause after each failed attempt; after the last one it stays. Standard Webhooks recommends this table."""
JITTER = 0.2
"""A pause is made longer by up to this part of it, so that what failed together does not come back together."""
GIVE_UP_S = DAY_S
"""How long after a delivery began its last attempt is made."""
LONGEST_WAIT_S = 43_200
"""What a receiver's Retry-After can ask for at most."""

Refusal = Literal["dns", "not_public", "refused", "tls", "timeout", "no_answer", "redirect", "gone", "status", "secret"]
"""Why an attempt failed. Nothing else that a receiver says is kept or shown.

dns: the name does not resolve. not_public: it resolves to an address that is not public. refused: no connection could
be made. tls: the certificate or the handshake is wrong. timeout: no answer in time. no_answer: the connection ended
without an HTTP answer. redirect, gone, status: the answer's status was 3xx, 410, another that is not 2xx. secret: the
stored secret can't be read, since SECRET_KEY was changed.
"""

Meaning = Literal["delivered", "retry", "turn_off"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one attempt comes to. `error` None: delivered. `waits` True: the receiver's Retry-After counts."""

    meaning: Meaning
    error: Refusal | None
    waits: bool = False


_BY_STATUS: Mapping[int, Verdict] = {
    410: Verdict("turn_off", "gone"),
    429: Verdict("retry", "status", waits=True),
    503: Verdict("retry", "status", waits=True),
}
_BY_CLASS: Mapping[int, Verdict] = {2: Verdict("delivered", None), 3: Verdict("retry", "redirect")}


def verdict(status: int) -> Verdict:
    """What an answer of that status means. Only 2xx is success, no redirect is followed, 410 ends all deliveries."""
    return _BY_STATUS.get(status) or _BY_CLASS.get(status // 100) or Verdict("retry", "status")


def new_secret(random_bytes: RandomBytes) -> str:
    """A webhook's secret: whsec_ and base64 of 32 random bytes."""
    return SECRET_PREFIX + b64encode(random_bytes(SECRET_BYTES)).decode()


def canonical(alert: Mapping[str, Any]) -> str:
    """The body of a delivery: RFC 8785, so keys are sorted and equal alerts are equal bytes."""
    return rfc8785.dumps({**alert, "alg": ALG}).decode()


def headers(delivery_id: str, body: bytes, secret: str, now: int) -> dict[str, str]:
    """The headers of one attempt at `now`, epoch seconds. Raises ValueError for a secret of another form."""
    return {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "X-Screwtape-Signature": body_signature(body, secret),
        "webhook-id": delivery_id,
        "webhook-timestamp": str(now),
        "webhook-signature": standard_signature(delivery_id, body, secret, now),
    }


def body_signature(body: bytes, secret: str) -> str:
    """Unpadded base64url HMAC-SHA256 of the body, keyed with the secret's text as it was shown."""
    return urlsafe_b64encode(_hmac(secret.encode(), body)).rstrip(b"=").decode()


def standard_signature(delivery_id: str, body: bytes, secret: str, now: int) -> str:
    """`v1,` and the base64 HMAC-SHA256 of id, time and body, keyed with the bytes that the secret spells. Raises
    ValueError."""
    key = b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    return "v1," + b64encode(_hmac(key, f"{delivery_id}.{now}.".encode() + body)).decode()


def next_attempt(failures: int, now: int, give_up_at: int, chance: float, wanted_s: int = 0) -> int | None:
    """When to try again after that many failures in a row, at least one; None: never, the time is over.

    `chance` in [0, 1) picks the jitter. `wanted_s` is what the receiver asked to be left alone for. The last attempt
    is made at `give_up_at`.
    """
    if now >= give_up_at:
        return None
    pause = BACKOFF_S[min(failures, len(BACKOFF_S)) - 1]
    pause = max(round(pause * (1 + JITTER * chance)), min(wanted_s, LONGEST_WAIT_S))
    return min(now + pause, give_up_at)


def retry_after(value: str, now: int) -> int:
    """The seconds that a Retry-After header asks for, as a number or a date (RFC 9110, 10.2.3); 0 for anything
    else."""
    text = value.strip()
    if text.isascii() and text.isdecimal():
        return int(text[:9])
    try:
        at = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError):
        return 0
    return max(0, int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()) - now)


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()
