"""What the operations work with, composed once in api/app.py and handed down."""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass

from api.clients.ports import Checkout, WebhookSender
from api.contract import Contract
from api.core.receipts.issuer import Issuer
from api.core.secrets import RandomBytes
from api.facts import Facts
from api.problems import ProblemTable
from api.service.engine_pool import EnginePool
from api.service.facilitation import Facilitation
from api.service.grading import Grader
from api.service.known_keys import KnownKeys
from api.service.offers import Offers
from api.service.rate import RateLimiter
from api.store.accounts import Grant
from api.store.charges import AnsweredCall, Charge
from api.store.database import Database
from api.store.group_commit import GroupCommit
from api.store.reservations import Wanted

Clock = Callable[[], float]
"""Epoch seconds, now."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that an operator sets. 0 means no limit."""

    signups_per_hour: int
    free_calls_per_day: int


@dataclass(frozen=True, slots=True)
class Services:
    """Everything an operation may use. `base_url` is the public one, without a slash at its end. `checkout` None: no
    packs are sold; `facilitation` None: no x402 payments are taken; `grader` None: no model is asked. `count_delivery`
    hears the outcome of each attempt to deliver an alert."""

    contract: Contract
    problems: ProblemTable
    facts: Facts
    offers: Offers
    base_url: str
    limits: Limits
    secret_key: bytes
    admin_token: str
    database: Database
    charges: GroupCommit[AnsweredCall, Charge]
    reservations: GroupCommit[Wanted, Grant]
    engines: EnginePool
    key_rate: RateLimiter
    known_keys: KnownKeys
    checkout: Checkout | None
    facilitation: Facilitation | None
    receipts: Issuer
    grader: Grader | None
    webhooks: WebhookSender
    test_rate: RateLimiter
    count_delivery: Callable[[str], None]
    clock: Clock
    random_bytes: RandomBytes

    def keyed_hash(self, purpose: str, value: str) -> str:
        """HMAC-SHA256 in hex under SECRET_KEY, for what must be compared but not kept. `purpose` keeps uses apart."""
        return hmac.new(self.secret_key, f"{purpose}:{value}".encode(), hashlib.sha256).hexdigest()
