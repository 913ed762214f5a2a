"""What the operations ask of the world outside. The clients beside this module are made to fit; the service layer
sees nothing but these protocols."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from api.core.webhooks import Refusal


class CheckoutUnavailable(Exception):
    """Stripe gave no session. Nothing was taken, and whoever might pay has no address to pay at.

    `is_answer`: Stripe answered, and would answer the same again under the same idempotency key.
    """

    def __init__(self, reason: str, *, is_answer: bool) -> None:
        super().__init__(reason)
        self.is_answer = is_answer


@dataclass(frozen=True, slots=True)
class SessionWanted:
    """A checkout session for one order. `amount` is in hundredths of `currency`. The same `idempotency_key` must come
    with the same values, and gets the same session."""

    order_id: str
    idempotency_key: str
    product: str
    amount: int
    currency: str
    success_url: str
    cancel_url: str


@dataclass(frozen=True, slots=True)
class Session:
    """An open checkout session and the page at which it is paid."""

    id: str
    url: str


class Checkout(Protocol):
    """Where packs are paid."""

    async def open_session(self, wanted: SessionWanted) -> Session:
        """Opens a session. Raises CheckoutUnavailable."""

    def signed(self, body: bytes, signature: str) -> bool:
        """Whether `signature` (a Stripe-Signature header) was made for `body` with the webhook's secret, at whatever
        time."""


class Unanswered(Exception):
    """No whole answer came: no connection, a time-out, too much of it, or bytes that are no HTTP. Whether the request
    was acted upon is open."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A whole answer, whatever its status."""

    status: int
    body: bytes


class Facilitator(Protocol):
    """Who verifies and settles x402 payments. Each takes `timeout_s` seconds at most and raises Unanswered."""

    @property
    def timeout_s(self) -> float:
        """How long one answer may take."""

    async def supported(self) -> HttpAnswer:
        """What it can settle: GET /supported."""

    async def verify(self, document: str) -> HttpAnswer:
        """Whether a payment is good: POST /verify."""

    async def settle(self, document: str) -> HttpAnswer:
        """Moves the money: POST /settle."""

    def close(self) -> None:
        """Ends its connections."""


class Model(Protocol):
    """A language model behind an OpenAI-compatible endpoint."""

    @property
    def timeout_s(self) -> float:
        """How long one answer may take, the wait for a free place included."""

    async def complete(self, document: str) -> HttpAnswer:
        """The answer to one request for a chat completion, given as JSON. Raises Unanswered."""

    def abandon(self) -> None:
        """Gives up on what is being asked, and asks nothing more: all of it is Unanswered from now on."""

    def close(self) -> None:
        """Ends its connections."""


@dataclass(frozen=True, slots=True)
class Posted:
    """What came of one POST to a webhook: a `status`, or None and why there was no answer. `retry_after` is that header
    as it came, `ms` the milliseconds that all took."""

    status: int | None
    failure: Refusal | None
    retry_after: str
    ms: int


class WebhookSender(Protocol):
    """Who posts to webhooks. Nothing of what a receiver answers goes further than `Posted`."""

    @property
    def allow_private(self) -> bool:
        """Whether plain http and loopback are let through, for tests."""

    async def leads_inside(self, url: str) -> bool:
        """Whether the host of a URL resolves to an address that is not public, among others or alone. False when it
        does not resolve, or not soon enough."""

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Posted:
        """One POST, following no redirect, to a checked address only. Takes 15 seconds at most and raises nothing."""
