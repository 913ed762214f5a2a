"""One exchange on a Tornado connection: reads a request within its bounds, and writes the response.

This speaks Tornado's HTTPMessageDelegate and not RequestHandler, which costs half as much again per request and
answers oversize bodies with a bare 400.
"""

import asyncio
import os
import socket
import time
from collections.abc import Iterable, Sequence
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

WRITE_SECONDS = 15
MAX_LENGTH_DIGITS = 15
DRAIN_BYTES = 4 * MAX_BODY
"""How much of a refused body is still read, so that a client that sends before it reads gets the refusal and no
reset."""


class Connections(HTTPServerConnectionDelegate):
    """Makes an Exchange for every request. `draining` True closes each connection after its response."""

    def __init__(self, front: Front) -> None:
        self.front = front
        self.draining = False
        self.open_exchanges: set[Exchange] = set()
        self.open_connections: set[object] = set()

    def start_request(self, server_conn: object, request_conn: object) -> HTTPMessageDelegate:
        self.open_connections.add(server_conn)
        assert isinstance(request_conn, HTTP1Connection)  # noqa: S101 - the only kind that HTTPServer makes
        return Exchange(self, request_conn)

    def on_close(self, server_conn: object) -> None:
        self.open_connections.discard(server_conn)


class Listener(HTTPServer):
    """An HTTPServer for Connections, which hears of closed connections too: Tornado's keeps that to itself."""

    _listening: Sequence[socket.socket] = ()

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


class Exchange(HTTPMessageDelegate):
    """One request and its response."""

    def __init__(self, connections: Connections, connection: HTTP1Connection) -> None:
        self._connections, self._connection = connections, connection
        self._front = connections.front
        self._request_id = new_id("req", os.urandom)
        self._chunks: list[bytes] = []
        self._size = 0
        self._refused = False
        self._task: asyncio.Task[None] | None = None

    def headers_received(self, start_line: object, headers: HTTPHeaders) -> None:
        assert isinstance(start_line, RequestStartLine)  # noqa: S101 - a server reads requests
        self._start_line, self._headers = start_line, headers
        self._connections.open_exchanges.add(self)
        if not _is_sound(start_line, headers):
            self._refuse("malformed_request")
            return
        length = headers.get("Content-Length", "")
        if len(length) > MAX_LENGTH_DIGITS:
            self._refuse("payload_too_large")
            self._end(close=True)
        elif length.isdecimal() and int(length) > MAX_BODY:
            self._refuse("payload_too_large")

    def data_received(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self._refused:
            if self._size > DRAIN_BYTES:
                self._connection.close()
            return
        if self._size > MAX_BODY:
            self._refuse("payload_too_large")
        elif self._front.buffered + len(chunk) > MAX_BUFFERED:
            self._refuse("overloaded")
        else:
            self._front.buffered += len(chunk)
            self._chunks.append(chunk)

    def finish(self) -> None:
        if self._refused:
            self._end(close=True)
            return
        self._task = asyncio.create_task(self._answer())

    def on_connection_close(self) -> None:
        self._release()
        self._connections.open_exchanges.discard(self)

    async def _answer(self) -> None:
        path, query = split_target(self._start_line.path)
        body = b"".join(self._chunks)
        request = Request(
            method=self._start_line.method,
            path=path,
            query=query,
            headers=self._headers,
            body=body,
            peer=self._connection.context.remote_ip,  # type: ignore[attr-defined]  # set by HTTPServer, typed object
            request_id=self._request_id,
        )
        try:
            response = await self._front.answer(request)
        finally:
            self._release()
        self._send(response, close=self._connections.draining)
        self._end(close=self._connections.draining)

    def _refuse(self, code: str) -> None:
        """Writes the refusal now, before the body is in. It ends when the client has sent its body, or enough of
        it: closing with unread bytes would reset the connection and could take the refusal with it."""
        self._refused = True
        self._release()
        path, _ = split_target(self._start_line.path)
        self._send(self._front.refuse(code, path, self._headers, self._request_id), close=True)
        if self._headers.get("Expect", "").lower() == "100-continue":
            # The client waits with its body, so there is nothing to drain.
            self._end(close=True)

    def _send(self, response: Response, *, close: bool) -> None:
        headers = HTTPHeaders(response.headers)
        headers["Date"] = _http_date(int(time.time()))
        if response.status not in (204, 304):
            headers["Content-Length"] = str(len(response.body))
        if close:
            headers["Connection"] = "close"
        chunk = None if self._start_line.method == "HEAD" else response.body
        start_line = ResponseStartLine("HTTP/1.1", response.status, responses[response.status])
        written = self._written = self._connection.write_headers(start_line, headers, chunk)
        written.add_done_callback(_see_exception)
        if not written.done():
            timeout = asyncio.get_running_loop().call_later(WRITE_SECONDS, self._connection.close)
            written.add_done_callback(lambda _: timeout.cancel())

    def _end(self, *, close: bool) -> None:
        self._connections.open_exchanges.discard(self)
        connection = self._connection
        connection.finish()
        if close:
            self._written.add_done_callback(lambda _: connection.close())

    def _release(self) -> None:
        self._front.buffered -= sum(map(len, self._chunks))
        self._chunks = []


def _is_sound(start_line: RequestStartLine, headers: HTTPHeaders) -> bool:
    """Two things that Tornado lets through and a proxy may read differently (RFC 9112 sections 3.2 and 6.1)."""
    if start_line.version == "HTTP/1.0":
        return "Transfer-Encoding" not in headers
    return len(headers.get_list("Host")) == 1


def _see_exception(written: "asyncio.Future[None]") -> None:
    """A client that goes away while it is answered is no error of ours: the exception is looked at and dropped."""
    if not written.cancelled():
        written.exception()


@lru_cache(maxsize=4)
def _http_date(second: int) -> str:
    return format_timestamp(second)
