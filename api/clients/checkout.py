"""Stripe's API through the stripe library, over Tornado's HTTP client.

The library brings clients of its own for requests, httpx and aiohttp; with this one a slow answer blocks nothing, and
time and size are bounded.
"""

import logging
from collections.abc import Mapping
from typing import Any

import stripe
from tornado.simple_httpclient import SimpleAsyncHTTPClient

from api.clients.ports import CheckoutUnavailable, Session, SessionWanted

log = logging.getLogger(__name__)

API_BASE = "https://api.stripe.com"
TIMEOUT_S = 10.0
MAX_ANSWER = 1024 * 1024
MAX_CLIENTS = 50
_PASSING = (409, 429)
"""Refusals that end by themselves: the same request is in flight, or too many are."""


class StripeCheckout:
    """A `Checkout` at Stripe. `secret_key` must be one of its test mode: this class does not look."""

    def __init__(self, secret_key: str, webhook_secret: str, api_base: str, timeout_s: float = TIMEOUT_S) -> None:
        self._webhook_secret = webhook_secret
        self._client = stripe.StripeClient(
            secret_key,
            http_client=TornadoHTTPClient(timeout_s),
            base_addresses={"api": api_base},
            # The caller is told to come again, which costs the server nothing while it waits.
            max_network_retries=0,
        )

    async def open_session(self, wanted: SessionWanted) -> Session:
        """See `Checkout`."""
        try:
            session = await self._client.v1.checkout.sessions.create_async(
                {
                    "mode": "payment",
                    "client_reference_id": wanted.order_id,
                    "metadata": {"order_id": wanted.order_id},
                    "payment_intent_data": {"metadata": {"order_id": wanted.order_id}},
                    "line_items": [
                        {
                            "quantity": 1,
                            "price_data": {
                                "currency": wanted.currency,
                                "unit_amount": wanted.amount,
                                "product_data": {"name": wanted.product},
                            },
                        }
                    ],
                    # What is paid, refunded and disputed stays in the currency of the order.
                    "adaptive_pricing": {"enabled": False},
                    "success_url": wanted.success_url,
                    "cancel_url": wanted.cancel_url,
                },
                {"idempotency_key": wanted.idempotency_key},
            )
            found = session.to_dict()
        except stripe.APIConnectionError as error:
            raise _unavailable("did not answer", error, is_answer=False) from error
        except stripe.StripeError as error:
            is_answer = error.http_status is not None and error.http_status not in _PASSING
            raise _unavailable(
                f"answered {error.http_status} {error.code or ''}", error, is_answer=is_answer
            ) from error
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            # What the library makes of JSON that is no object of Stripe's.
            raise _unavailable("answered something else", error, is_answer=True) from error
        return _session(found)

    def signed(self, body: bytes, signature: str) -> bool:
        """See `Checkout`. The library compares ASCII only, and reads bodies as UTF-8."""
        if not signature.isascii():
            return False
        try:
            # The library's check of the time lets future ones through; ours is in the service.
            stripe.WebhookSignature.verify_header(body, signature, self._webhook_secret, tolerance=None)
        except (stripe.SignatureVerificationError, UnicodeDecodeError):
            return False
        return True


class TornadoHTTPClient(stripe.HTTPClient):
    """The library's requests over Tornado's client. Follows no redirects: the key must not go where they lead."""

    name = "tornado"

    def __init__(self, timeout_s: float) -> None:
        """Belongs to the running event loop. `timeout_s` is for a whole request, the wait for its turn included."""
        super().__init__()
        self._timeout_s = timeout_s
        self._client = SimpleAsyncHTTPClient(force_instance=True, max_clients=MAX_CLIENTS, max_body_size=MAX_ANSWER)

    async def request_async(
        self, method: str, url: str, headers: Mapping[str, str], post_data: Any = None
    ) -> tuple[bytes, int, Mapping[str, str]]:
        """Body, status and headers. Raises APIConnectionError."""
        try:
            response = await self._client.fetch(
                url,
                raise_error=False,
                method=method.upper(),
                headers=dict(headers),
                body=post_data,
                follow_redirects=False,
                decompress_response=False,
                connect_timeout=self._timeout_s,
                request_timeout=self._timeout_s,
            )
        except Exception as error:
            # Tornado raises whatever ended the exchange: a time-out, TLS, the socket, bytes that are no HTTP.
            raise _no_connection(error) from error
        return response.body, response.code, response.headers


def _no_connection(error: Exception) -> Exception:
    make: Any = stripe.APIConnectionError  # its constructor has no types
    made: Exception = make(type(error).__name__)
    return made


def _session(found: Mapping[str, Any]) -> Session:
    """The session of an answer. Raises CheckoutUnavailable for one that can't be paid at, or would take real money."""
    session_id, url = found.get("id"), found.get("url")
    if not isinstance(session_id, str) or not isinstance(url, str) or not url.startswith("https://"):
        raise _unavailable("answered no session with an address", None, is_answer=True)
    if found.get("livemode") is not False:
        raise _unavailable("answered a session in live mode", None, is_answer=True)
    return Session(session_id, url)


def _unavailable(what: str, error: Exception | None, *, is_answer: bool) -> CheckoutUnavailable:
    """Logs the kind of failure only: the library's messages can hold a part of the key."""
    reason = f"Stripe {what}"
    log.warning("%s (%s)", reason.strip(), type(error).__name__ if error else "no error")
    return CheckoutUnavailable(reason, is_answer=is_answer)
