"""A small Stripe for tests: real HTTP on loopback, checkout sessions with idempotency keys, and signed events.

It answers as `mood` says. What it was sent is in `requests`.
"""

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import stripe

SECRET_KEY = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"
WEBHOOK_SECRET = "whsec_the_secret_of_these_tests"

Json = dict[str, Any]

MOODS: Mapping[str, tuple[int, bytes]] = {
    "error": (500, b'{"error": {"type": "api_error", "message": "boom"}}'),
    "refusal": (400, b'{"error": {"type": "invalid_request_error", "code": "parameter_invalid", "message": "no"}}'),
    "wrong key": (401, b'{"error": {"type": "invalid_request_error", "message": "Invalid API Key: sk_test_4eC3"}}'),
    "busy": (429, b'{"error": {"type": "invalid_request_error", "code": "rate_limit", "message": "slower"}}'),
    "html": (502, b"<html>Bad gateway</html>"),
    "moved": (307, b'{"error": {"message": "elsewhere"}}'),
    "html with 200": (200, b"<html>It works</html>"),
    "truncated": (200, b'{"id": "cs_test_1", "url": "https://ch'),
    "a list": (200, b"[1, 2]"),
    "null": (200, b"null"),
    "empty": (200, b""),
    "no utf-8": (200, b'{"id": "\xff"}'),
    "no address": (200, b'{"id": "cs_test_1", "object": "checkout.session", "livemode": false, "url": null}'),
    "no id": (200, b'{"object": "checkout.session", "livemode": false, "url": "https://checkout.stripe.com/c/pay/x"}'),
    "plain http": (200, b'{"id": "cs_test_1", "livemode": false, "url": "http://checkout.stripe.com/c/pay/x"}'),
    "live mode": (200, b'{"id": "cs_live_1", "livemode": true, "url": "https://checkout.stripe.com/c/pay/x"}'),
    "huge": (200, b'{"id": "' + b"x" * 2_000_000 + b'"}'),
}
"""Answers that are no session. Stripe remembers them under the idempotency key, errors included."""
FORGOTTEN = ("busy", "huge")
"""Answers that it does not remember, or that no client has read to their end."""
BROKEN = ("hang up", "no http")
"""Ends of an exchange that are no answer. "silence", which lasts as long as the server, is one more."""


@dataclass(frozen=True)
class Asked:
    """One request as it came. `params` are the form's fields by their bracketed names."""

    headers: Mapping[str, str]
    params: Mapping[str, str]


@dataclass
class FakeStripe:
    """The running server and the sessions that it has opened, by their ids."""

    url: str = ""
    mood: str = ""
    requests: list[Asked] = field(default_factory=list)
    sessions: dict[str, Json] = field(default_factory=dict)
    over: threading.Event = field(default_factory=threading.Event)
    _remembered: dict[str, tuple[Mapping[str, str], int, bytes]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def settings(self) -> dict[str, str]:
        """The settings of a server that sells packs through this."""
        return {
            "STRIPE_SECRET_KEY": SECRET_KEY,
            "STRIPE_WEBHOOK_SECRET": WEBHOOK_SECRET,
            "STRIPE_API_BASE": self.url,
        }

    def answer(self, asked: Asked) -> tuple[int, bytes]:
        """Status and body for a request to open a session."""
        with self._lock:
            self.requests.append(asked)
            key = asked.headers.get("idempotency-key", "")
            if key in self._remembered:
                params, status, body = self._remembered[key]
                return (status, body) if params == asked.params else MOODS["refusal"]
            status, body = MOODS[self.mood] if self.mood else (200, json.dumps(self._open(asked.params)).encode())
            if key and self.mood not in FORGOTTEN:
                self._remembered[key] = (asked.params, status, body)
            return status, body

    def _open(self, params: Mapping[str, str]) -> Json:
        name = f"cs_test_{len(self.sessions) + 1}"
        session = {
            "id": name,
            "object": "checkout.session",
            "url": f"https://checkout.stripe.com/c/pay/{name}",
            "livemode": False,
            "mode": params["mode"],
            "status": "open",
            "payment_status": "unpaid",
            "payment_intent": None,
            "client_reference_id": params["client_reference_id"],
            "metadata": {"order_id": params["metadata[order_id]"]},
            "amount_total": int(params["line_items[0][price_data][unit_amount]"]),
            "currency": params["line_items[0][price_data][currency]"],
        }
        self.sessions[name] = session
        return session

    def session(self, session_id: str, **changes: Any) -> Json:
        """The session after it was paid, with `changes`."""
        paid = {"status": "complete", "payment_status": "paid", "payment_intent": session_id.replace("cs_", "pi_")}
        return {**self.sessions[session_id], **paid, **changes}


def charge(session: Json, refunded: int, **changes: Any) -> Json:
    """The charge of a paid session, of which so much is refunded."""
    amount = session["amount_total"]
    return {
        "id": session["id"].replace("cs_", "ch_"),
        "object": "charge",
        "amount": amount,
        "amount_refunded": refunded,
        "refunded": refunded == amount,
        "currency": session["currency"],
        "payment_intent": session["payment_intent"],
        **changes,
    }


def dispute(session: Json, status: str, amount: int | None = None, **changes: Any) -> Json:
    """A dispute about a paid session, or about a part of it."""
    return {
        "id": session["id"].replace("cs_", "dp_"),
        "object": "dispute",
        "amount": session["amount_total"] if amount is None else amount,
        "currency": session["currency"],
        "payment_intent": session["payment_intent"],
        "status": status,
        **changes,
    }


def event(kind: str, obj: Json, **changes: Any) -> Json:
    """An event as Stripe posts it."""
    made = {"id": "evt_test_1", "object": "event", "type": kind, "livemode": False, "data": {"object": obj}}
    return {**made, **changes}


def signature(body: bytes, at: float, secret: str = WEBHOOK_SECRET) -> str:
    """The Stripe-Signature of a body, by the library's own helper where that takes the body."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        digest = hmac.new(secret.encode(), b"%d." % at + body, hashlib.sha256).hexdigest()
        return f"t={int(at)},v1={digest}"
    return str(stripe.WebhookSignature.generate_signature_header(text, secret, timestamp=int(at)))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake: FakeStripe

    def do_POST(self) -> None:
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        params = {name: values[0] for name, values in parse_qs(form, strict_parsing=True).items()}
        asked = Asked({name.lower(): value for name, value in self.headers.items()}, params)
        self.close_connection = True
        if self.fake.mood == "silence":
            self.fake.requests.append(asked)
            self.fake.over.wait()
        elif self.fake.mood in BROKEN:
            self.fake.requests.append(asked)
            if self.fake.mood == "no http":
                self.wfile.write(b"this is no HTTP\r\n\r\n")
        else:
            self._write(*self.fake.answer(asked))

    def _write(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Request-Id", "req_fake")
        self.send_header("Content-Length", str(len(body)))
        if status == 307:
            self.send_header("Location", f"{self.fake.url}/v1/elsewhere")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away before it has read everything is what some moods are for."""


@contextmanager
def fake_stripe() -> Iterator[FakeStripe]:
    """Runs a FakeStripe until the block ends."""
    fake = FakeStripe()
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"fake": fake}))
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, name="fake stripe")
    thread.start()
    try:
        yield fake
    finally:
        fake.over.set()
        server.shutdown()
        thread.join(30)
        server.server_close()
