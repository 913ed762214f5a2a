"""One exchange on a Tornado connection: reads a request within its bounds, and writes the response.

This speaks Tornado's HTTPMessageDelegate and not RequestHandler, which costs half as much again per request and
answers oversize bodies with a bare 400.
"""

import asyncio
import os
import socket
import time
from collections.abc import Awaitable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from http.client import responses

from tornado.http1connection import HTTP1Connection
from tornado.httpserver import HTTPServer
from tornado.httputil import (
    HTTPHeaders,
    HTTPMessageDelegate,
    HTTPServerConnectionDelegate,
    RequestStartLine,
    ResponseStartLine,
    format_timestamp,
)
from tornado.iostream import IOStream

from api.core.secrets import new_id
from api.web.front import MAX_BODY, MAX_BUFFERED, Front
from api.web.request import Request, split_target
from api.web.response import Response
from api.web.stream import MAX_HEAD, ClientStream, Sockets

MAX_LENGTH_DIGITS = 15
TURNED_AWAY = 64
"""How many connections beyond the limit are told so at a time. Further ones are closed without a word."""


class Connections(HTTPServerConnectionDelegate):
    """Makes an Exchange for every request. `draining` True closes each connection after its response. A client has
    `client_seconds` to take a response."""

    def __init__(self, front: Front, client_seconds: float) -> None:
        self.front, self.client_seconds = front, client_seconds
        self.draining = False
        self.open_exchanges: set[Exchange] = set()
        self.open_connections: set[object] = set()

    def start_request(self, server_conn: object, request_conn: object) -> HTTPMessageDelegate:
        self.open_connections.add(server_conn)
        assert isinstance(request_conn, HTTP1Connection)  # noqa: S101 - the only kind that HTTPServer makes
        exchange = Exchange(self, request_conn)
        assert isinstance(request_conn.stream, ClientStream)  # noqa: S101 - Listener makes no other
        request_conn.stream.refusal = exchange.refusal
        return exchange

    def on_close(self, server_conn: object) -> None:
        self.open_connections.discard(server_conn)

    def refusal(self, code: str) -> bytes:
        """The whole response to a client of whose request nothing is known."""
        response = self.front.refuse(code, "", HTTPHeaders(), new_id("req", os.urandom))
        return _closing(response)


class Listener(HTTPServer):
    """An HTTPServer for Connections, which hears of closed connections too: Tornado's keeps that to itself. It serves
    `sockets.limit` connections at once and tells others to come again. Make it with `listener`."""

    sockets: Sockets
    _listening: Sequence[socket.socket] = ()

    def handle_stream(self, stream: IOStream, address: tuple[object, ...]) -> None:
        """Serves a client on a stream of ours instead of the given one, which nothing was read from yet."""
        connections, beyond = self.request_callback, self.sockets.open - self.sockets.limit
        assert isinstance(connections, Connections)  # noqa: S101 - made by `listener`
        if beyond >= TURNED_AWAY:
            stream.close()
            return
        client = ClientStream(stream.socket, self.sockets, connections.refusal)
        if beyond >= 0:
            client.turn_away()
        else:
            super().handle_stream(client, address)

    def add_sockets(self, sockets: Iterable[socket.socket]) -> None:
        added = [*sockets]
        self._listening = [*self._listening, *added]
        super().add_sockets(added)

    def stop(self) -> None:
        """Stops listening, once the connections that the kernel has taken for us are accepted: closing the sockets
        would reset those, and the requests that their clients have sent already with them."""
        for listening in self._listening:
            # Ends with BlockingIOError when none is left; what else can be wrong is no reason not to stop.
            with suppress(OSError):
                while True:
                    connection, address = listening.accept()
                    self.handle_stream(IOStream(connection), address)
        self._listening = ()
        super().stop()

    def on_close(self, server_conn: object) -> None:
        super().on_close(server_conn)
        if isinstance(self.request_callback, Connections):
            self.request_callback.on_close(server_conn)


def listener(connections: Connections, max_connections: int, client_seconds: float) -> Listener:
    """A Listener whose clients have `client_seconds` to send a request's head, idle time between requests included,
    and as long again for its body."""
    made = Listener(
        connections,
        idle_connection_timeout=client_seconds,
        body_timeout=client_seconds,
        max_header_size=MAX_HEAD,
        # Our own limit answers with a problem document; Tornado's, a bare 400, must not come first.
        max_body_size=2**40,
    )
    made.sockets = Sockets(max_connections)
    return made


class Exchange(HTTPMessageDelegate):
    """One request and its response."""

    def __init__(self, connections: Connections, connection: HTTP1Connection) -> None:
        self._connections, self._connection = connections, connection
        self._front = connections.front
        self._request_id = new_id("req", os.urandom)
        self._chunks: list[bytes] = []
        self._size = 0
        self._answered = False
        self._start_line: RequestStartLine | None = None
        self._headers = HTTPHeaders()
        self._task: asyncio.Task[None] | None = None

    def headers_received(self, start_line: object, headers: HTTPHeaders) -> Awaitable[None] | None:
        assert isinstance(start_line, RequestStartLine)  # noqa: S101 - a server reads requests
        self._start_line, self._headers = start_line, headers
        self._connections.open_exchanges.add(self)
        length = headers.get("Content-Length", "")
        if not is_sound(start_line, headers):
            self._refuse("malformed_request")
        elif len(length) > MAX_LENGTH_DIGITS or int(length or 0) > MAX_BODY:
            self._refuse("payload_too_large")
        elif "Expect" in headers:
            return self._look_before_body(length)
        return None

    def data_received(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self._size > MAX_BODY:
            self._refuse("payload_too_large")
        elif self._front.buffered + len(chunk) > MAX_BUFFERED:
            self._refuse("overloaded")
        else:
            self._front.buffered += len(chunk)
            self._chunks.append(chunk)

    def finish(self) -> None:
        self._task = asyncio.create_task(self._answer())

    def on_connection_close(self) -> None:
        self._release()
        self._connections.open_exchanges.discard(self)

    def refusal(self, code: str) -> bytes:
        """The whole response to a request that can't be read to its end, b"" when it has one. Ends the exchange."""
        if self._answered:
            return b""
        self._answered = True
        return _closing(self._front.refuse(code, self._path(), self._headers, self._request_id))

    async def _look_before_body(self, length: str) -> None:
        """Tells a client that waits with its body to go on (RFC 9110 section 10.1.1), or what speaks against it.
        Tornado sends the 100, if `Expect` is written as it is here."""
        expected = self._headers.pop("Expect")
        has_body = int(length or 0) > 0 or "Transfer-Encoding" in self._headers
        if expected.lower() != "100-continue" or self._line.version == "HTTP/1.0" or not has_body:
            return
        response = await self._front.refusal_before_body(self._request(b""))
        if response is None:
            self._headers["Expect"] = "100-continue"
        elif not self._connection.stream.closed():
            self._send_last(response)

    async def _answer(self) -> None:
        request = self._request(b"".join(self._chunks))
        try:
            response = await self._front.answer(request)
        finally:
            self._release()
        self._send(response, close=self._connections.draining)
        self._end(close=self._connections.draining)

    def _request(self, body: bytes) -> Request:
        path, query = split_target(self._line.path)
        return Request(
            method=self._line.method,
            path=path,
            query=query,
            headers=self._headers,
            body=body,
            peer=self._connection.context.remote_ip,  # type: ignore[attr-defined]  # set by HTTPServer, typed object
            request_id=self._request_id,
        )

    @property
    def _line(self) -> RequestStartLine:
        assert self._start_line is not None  # noqa: S101 - asked for once the head is there
        return self._start_line

    def _path(self) -> str:
        return "" if self._start_line is None else split_target(self._start_line.path)[0]

    def _refuse(self, code: str) -> None:
        """Answers before the body is in, and ends the connection."""
        self._release()
        self._send_last(self._front.refuse(code, self._path(), self._headers, self._request_id))

    def _send_last(self, response: Response) -> None:
        """Sends the connection's last response while its request may be still coming in."""
        # Where the body would end is of no interest any more, or not to be told: Tornado must not look for it.
        for framing in ("Content-Length", "Transfer-Encoding"):
            self._headers.pop(framing, None)
        self._stream().lingers = True
        self._send(response, close=True)
        self._end(close=True)

    def _stream(self) -> ClientStream:
        stream = self._connection.stream
        assert isinstance(stream, ClientStream)  # noqa: S101 - Listener makes no other
        return stream

    def _send(self, response: Response, *, close: bool) -> None:
        self._answered = True
        headers = HTTPHeaders(response.headers)
        headers["Date"] = _http_date(int(time.time()))
        if response.status not in (204, 304):
            headers["Content-Length"] = str(len(response.body))
        if close:
            headers["Connection"] = "close"
        chunk = None if self._line.method == "HEAD" else response.body
        start_line = ResponseStartLine("HTTP/1.1", response.status, responses[response.status])
        written = self._written = self._connection.write_headers(start_line, headers, chunk)
        written.add_done_callback(_see_exception)
        if not written.done():
            self._wait_for_client(written, len(response.body))

    def _wait_for_client(self, written: "asyncio.Future[None]", size: int) -> None:
        """Holds what the client does not take at once, for a while, and not when too much is held already."""
        self._front.buffered += size
        seconds = self._connections.client_seconds if self._front.buffered <= MAX_BUFFERED else 0
        timeout = asyncio.get_running_loop().call_later(seconds, self._connection.close)

        def end_waiting(_: object) -> None:
            timeout.cancel()
            self._front.buffered -= size

        written.add_done_callback(end_waiting)

    def _end(self, *, close: bool) -> None:
        self._connections.open_exchanges.discard(self)
        connection = self._connection
        connection.finish()
        if close:
            self._written.add_done_callback(lambda _: connection.close())

    def _release(self) -> None:
        self._front.buffered -= sum(map(len, self._chunks))
        self._chunks = []


def is_sound(start_line: RequestStartLine, headers: HTTPHeaders) -> bool:
    """Whether every reader finds the same host, and the same end of the body. Tornado refuses some of what is not so
    by itself, later, and lets through what a proxy may read differently (RFC 9112 sections 3.2 and 6)."""
    is_old = start_line.version == "HTTP/1.0"
    hosts, lengths = len(headers.get_list("Host")), headers.get_list("Content-Length")
    codings = headers.get_list("Transfer-Encoding")
    if hosts > 1 or (hosts == 0 and not is_old) or len(lengths) + len(codings) > 1:
        return False
    if codings:
        return not is_old and codings[0].lower() == "chunked"
    return not lengths or (lengths[0].isascii() and lengths[0].isdigit())


def _closing(response: Response) -> bytes:
    """A response as bytes, for a connection that ends with it."""
    headers = {
        **response.headers,
        "Date": _http_date(int(time.time())),
        "Content-Length": str(len(response.body)),
        "Connection": "close",
    }
    lines = [f"HTTP/1.1 {response.status} {responses[response.status]}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + response.body


def _see_exception(written: "asyncio.Future[None]") -> None:
    """A client that goes away while it is answered is no error of ours: the exception is looked at and dropped."""
    if not written.cancelled():
        written.exception()


@lru_cache(maxsize=4)
def _http_date(second: int) -> str:
    return format_timestamp(second)
