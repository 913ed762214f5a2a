"""A small x402 facilitator for tests: real HTTP on loopback, honest unless it is told to misbehave.

`moved` is its chain: the transaction of each authorization whose money has moved, by nonce. An authorization moves
money once, whatever is asked. What is in `next_verify`, `next_settle` and `next_supported` answers first, one each;
after that it is honest again.
"""

import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NETWORK = "eip155:8453"
OTHER_NETWORK = "eip155:1"
OTHER_PAYER = "0x" + "9" * 40
LEAK = "facilitator-internals-7f3a"
"""Stands in everything that the facilitator says beside the facts: it must never be seen by a caller."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """One answer. `hangs`: it never comes. `closes`: the connection ends in its place, or after so much of the body."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    closes: bool = False


Behaviour = Callable[["FakeFacilitator", Json], Said]


def said(status: int = 200, **fields: Any) -> Said:
    """A JSON object."""
    return Said(status, json.dumps({**fields, "debug": LEAK}).encode())


@dataclass
class FakeFacilitator:
    """The server's state. `asked` holds endpoint and document of each request, in order of arrival."""

    url: str = ""
    idempotent: bool = True
    moved: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, Json]] = field(default_factory=list)
    headers: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    next_verify: deque[Behaviour] = field(default_factory=deque)
    next_settle: deque[Behaviour] = field(default_factory=deque)
    next_supported: deque[Behaviour] = field(default_factory=deque)
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    ended: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def settings(self) -> dict[str, str]:
        """What configures a server to use it."""
        return {"X402_FACILITATOR_URL": self.url, "X402_TIMEOUT_S": "20"}

    def count(self, endpoint: str) -> int:
        """How often the endpoint was asked."""
        return sum(asked == endpoint for asked, _ in self.asked)

    def answer(self, endpoint: str, document: Json) -> Said:
        """What is said to a request."""
        with self._lock:
            self.asked.append((endpoint, document))
            waiting = {"verify": self.next_verify, "settle": self.next_settle, "supported": self.next_supported}
            scripted = waiting[endpoint].popleft() if waiting[endpoint] else None
            found = (scripted or _HONEST[endpoint])(self, document)
        self.arrived.release()
        return found

    def move(self, document: Json) -> str:
        """Moves the money of a payment, unless that was done; the transaction."""
        nonce = authorization(document)["nonce"]
        return self.moved.setdefault(nonce, "0x" + hashlib.sha256(nonce.encode()).hexdigest())


def authorization(document: Json) -> Json:
    """The authorization in what a facilitator is sent."""
    found: Json = document["paymentPayload"]["payload"]["authorization"]
    return found


def valid(_: FakeFacilitator, document: Json) -> Said:
    """Any payment is good."""
    return said(isValid=True, payer=authorization(document)["from"])


def settled(facilitator: FakeFacilitator, document: Json) -> Said:
    """Moves the money and says so. Asked again it says the same, or what an official facilitator says then."""
    payer, again = authorization(document)["from"], authorization(document)["nonce"] in facilitator.moved
    if again and not facilitator.idempotent:
        reason = "invalid_exact_evm_nonce_already_used"
        return said(success=False, errorReason=reason, transaction="", network=NETWORK, payer=payer)
    return said(success=True, transaction=facilitator.move(document), network=NETWORK, payer=payer)


def supported(_: FakeFacilitator, __: Json) -> Said:
    """Our scheme and another one."""
    kinds = [{"x402Version": 2, "scheme": scheme, "network": NETWORK} for scheme in ("upto", "exact")]
    return said(kinds=kinds, extensions=[], signers={})


def always(answer: Said) -> Behaviour:
    """Says that."""
    return lambda _, __: answer


def after_moving(answer: Said) -> Behaviour:
    """Moves the money, then says that."""

    def behave(facilitator: FakeFacilitator, document: Json) -> Said:
        facilitator.move(document)
        return answer

    return behave


def settlement(*, moves: bool = True, status: int = 200, **changes: Any) -> Behaviour:
    """What `settled` says, with some members changed; "move" in their place stands for the true transaction."""

    def behave(facilitator: FakeFacilitator, document: Json) -> Said:
        transaction = facilitator.move(document) if moves else ""
        honest = {
            "success": True,
            "transaction": transaction,
            "network": NETWORK,
            "payer": authorization(document)["from"],
        }
        return said(status, **{**honest, **changes})

    return behave


def failed(reason: str, **changes: Any) -> Behaviour:
    """A settlement that failed, nothing moved."""
    return settlement(moves=False, success=False, errorReason=reason, errorMessage=LEAK, **changes)


def invalid(reason: str) -> Behaviour:
    """A payment that is not good."""
    return lambda _, document: said(
        isValid=False, invalidReason=reason, invalidMessage=LEAK, payer=authorization(document)["from"]
    )


HANGS = Said(hangs=True)
CLOSES = Said(closes=True)
CUT = Said(200, b'{"success": true, "isValid": true, "transa', closes=True)
HTML = Said(200, f"<html>{LEAK}</html>".encode(), {"Content-Type": "text/html"})
HUGE = Said(200, b'{"isValid": true, "success": true, "x": "' + b"x" * 3_000_000 + b'"}')

DUMB: Mapping[str, Said] = {
    "closes": CLOSES,
    "cuts its answer": CUT,
    "html": HTML,
    "nothing": Said(200),
    "truncated json": Said(200, b'{"isValid": true, "success": true'),
    "a list": Said(200, b"[true]"),
    "not utf-8": Said(200, b'{"isValid": true, "success": true, "x": "\xff"}'),
    "a huge body": HUGE,
    "a redirect": Said(308, b"", {"Location": "/elsewhere"}),
    "502 html": Said(502, f"<html>{LEAK}</html>".encode()),
    "404": Said(404, b"{}"),
    "429": Said(429, json.dumps({"error": LEAK}).encode()),
}
"""Answers to verify or settle that say nothing about a payment."""

_HONEST: Mapping[str, Behaviour] = {"verify": valid, "settle": settled, "supported": supported}


@contextmanager
def fake_facilitator() -> Iterator[FakeFacilitator]:
    """One that runs until the block ends. What hangs then is let go."""
    facilitator = FakeFacilitator()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, document: Json) -> None:
            endpoint = self.path.rsplit("/", 1)[1]
            facilitator.headers.append((endpoint, dict(self.headers)))
            found = facilitator.answer(endpoint.removeprefix("moved-"), document)
            self.close_connection = True
            if found.hangs:
                facilitator.ended.wait(60)
            if found.hangs or (found.closes and not found.body):
                return
            self.send_response(found.status)
            for name, value in found.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(found.body) + (100 if found.closes else 0)))
            self.end_headers()
            self.wfile.write(found.body)

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A caller that went away is what some tests are about."""

    server = Server(("127.0.0.1", 0), Handler)
    facilitator.url = f"http://127.0.0.1:{server.server_port}/x402"
    thread = threading.Thread(target=server.serve_forever, name="facilitator")
    thread.start()
    try:
        yield facilitator
    finally:
        facilitator.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()
