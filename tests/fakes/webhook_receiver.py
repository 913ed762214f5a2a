"""A receiver of webhooks on loopback, as a real server, which answers well or misbehaves in every way it is told."""

import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SILENT = ("hang", "drip")
BROKEN = ("close", "garbage", "endless head", "half head")
WORDY = ("dripping body", "huge body", "endless body")
"""What it can do instead of answering with a status: never come to an end of the head, send none, or send a good one
and then too much. What is silent or drips ends when the receiver does."""


@dataclass(frozen=True)
class Received:
    """One delivery as it arrived. Header names are lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Receiver:
    """What has come, and what is answered: a status or a kind of mischief; the first of `next_answers` while there are
    any, then `answer`."""

    url: str = ""
    answer: int | str = 200
    next_answers: list[int | str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    over: threading.Event = field(default_factory=threading.Event)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def wait_for(self, count: int) -> bool:
        """Waits until so many have come in all; False when they don't for a minute."""
        with self.changed:
            return self.changed.wait_for(lambda: len(self.received) >= count, 60)

    def note(self, one: Received) -> None:
        """One has come."""
        with self.changed:
            self.received.append(one)
            self.changed.notify_all()

    @property
    def ids(self) -> list[str]:
        """The webhook-id of each delivery that came."""
        return [one.headers["webhook-id"] for one in self.received]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    receiver: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        names = {name.lower(): value for name, value in self.headers.items()}
        self.receiver.note(Received(self.path, names, body))
        answer = self.receiver.next_answers.pop(0) if self.receiver.next_answers else self.receiver.answer
        self.close_connection = True
        if isinstance(answer, int):
            self._status(answer)
        else:
            self._misbehave(answer)

    def do_GET(self) -> None:
        """A redirect that is followed would come here."""
        self.receiver.note(Received(f"GET {self.path}", {}, b""))
        self._status(200)

    def _status(self, status: int) -> None:
        self.send_response(status)
        for name, value in self.receiver.headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def _misbehave(self, how: str) -> None:
        write, over = self.wfile.write, self.receiver.over
        if how == "hang":
            over.wait()
        elif how == "drip":
            for byte in b"HTTP/1.1 200 OK\r\n":
                write(bytes([byte]))
                if over.wait(0.05):
                    return
            over.wait()
        elif how == "dripping body":
            write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            while not over.wait(0.05):
                write(b"x")
        elif how == "garbage":
            write(b"\x00\xff this is no HTTP \r\n\r\n\r\n")
        elif how == "endless head":
            write(b"HTTP/1.1 200 OK\r\n")
            for _ in range(20_000):
                write(b"X-Filler: " + b"x" * 1_000 + b"\r\n")
        elif how == "half head":
            write(b"HTTP/1.1 200 OK\r\nX-Half")
        elif how == "huge body":
            write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            for _ in range(20_000):
                write(b"x" * 10_000)
        elif how == "endless body":
            write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(20_000):
                write(b"2710\r\n" + b"x" * 10_000 + b"\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 128
    receiver: Receiver
    tls: ssl.SSLContext | None

    def get_request(self) -> tuple[Any, Any]:
        connection, address = super().get_request()
        self.receiver.connections += 1
        return connection, address

    def finish_request(self, request: Any, client_address: Any) -> None:
        # Here and not in the accepting thread, which a handshake that fails must not end.
        if self.tls is None:
            super().finish_request(request, client_address)
            return
        request.settimeout(10)
        with self.tls.wrap_socket(request, server_side=True) as wrapped:
            super().finish_request(wrapped, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A sender that cuts a misbehaving receiver short is what is wanted."""


@contextmanager
def webhook_receiver(
    *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None, port: int = 0
) -> Iterator[Receiver]:
    """Runs a receiver until the block ends."""
    receiver = Receiver()
    server = _Server((host, port), type("Handler", (_Handler,), {"receiver": receiver}))
    server.receiver, server.tls = receiver, tls
    receiver.url = f"{'https' if tls else 'http'}://{host}:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, name="webhook receiver")
    thread.start()
    try:
        yield receiver
    finally:
        receiver.over.set()
        server.shutdown()
        thread.join(30)
        server.server_close()
