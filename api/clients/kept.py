"""POSTs to one URL over connections that are kept for the next one.

A new connection costs two or three round trips, TLS included, before anything is said. Tornado's client has no kept
ones, so they are made here from its public parts: TCPClient and HTTP1Connection.
"""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from urllib.parse import urlsplit

from tornado.http1connection import HTTP1Connection, HTTP1ConnectionParameters
from tornado.httputil import HTTPHeaders, HTTPMessageDelegate, RequestStartLine, ResponseStartLine
from tornado.iostream import IOStream, StreamClosedError
from tornado.tcpclient import TCPClient

from api.clients.ports import HttpAnswer, Unanswered

IDLE_S = 20
"""Shorter than what servers commonly allow, so that they seldom close a connection just when it is used again."""
KEPT = 16
MAX_HEAD = 64 * 1024
_TLS_PORT, _PORT = 443, 80


class KeptConnections:
    """Requests to `url` that take `timeout_s` seconds at most and whose answers have at most `max_body` bytes.

    Belongs to one event loop. An answer is one of HTTP/1.1, and no redirect is followed. `resends`: a request that got
    no answer on a kept connection is sent once more on a new one. The other side may have read it all the same, so that
    is for requests which do no more the second time.
    """

    def __init__(self, url: str, timeout_s: float, max_body: int, *, resends: bool = True) -> None:
        self.timeout_s, self._resends = timeout_s, resends
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port or (_TLS_PORT if secure else _PORT)
        self._named = parts.netloc.rpartition("@")[2]
        self._target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._tls = ssl.create_default_context() if secure else None
        self._max_body = max_body
        self._params = HTTP1ConnectionParameters(max_header_size=MAX_HEAD, max_body_size=max_body)
        self._tcp = TCPClient()
        self._idle: list[tuple[IOStream, float]] = []
        self._open: set[IOStream] = set()
        self._connecting: set[asyncio.Future[IOStream]] = set()
        self._is_closed = False

    async def post_json(self, headers: Mapping[str, str], body: str) -> HttpAnswer:
        """The answer to a POST of JSON. Raises Unanswered."""
        try:
            async with asyncio.timeout(self.timeout_s):
                return await self._post(headers, body.encode())
        except TimeoutError:
            raise Unanswered("TimeoutError") from None
        except (OSError, ValueError) as error:
            # The socket, TLS, a name that does not resolve, or bytes that are no HTTP.
            raise Unanswered(type(error).__name__) from error

    def close(self) -> None:
        """Ends all connections; whatever waits on one raises Unanswered, now and later."""
        self._is_closed = True
        for connecting in self._connecting:
            connecting.cancel()
        for stream in [*self._open, *(stream for stream, _ in self._idle)]:
            stream.close()
        self._idle.clear()

    async def _post(self, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
        kept = self._take()
        if kept is not None:
            answer = await self._exchange(kept, headers, body)
            if answer.is_whole or answer.status or not self._resends:
                return answer.checked()
            # The other side closed it, most likely before it saw the request (RFC 9112, section 9.3.1).
        return (await self._exchange(await self._connect(), headers, body)).checked()

    async def _connect(self) -> IOStream:
        if self._is_closed:
            raise Unanswered("closed")
        size = self._max_body + MAX_HEAD
        connecting = asyncio.ensure_future(
            self._tcp.connect(self._host, self._port, ssl_options=self._tls, max_buffer_size=size)
        )
        self._connecting.add(connecting)
        try:
            return await connecting
        except asyncio.CancelledError:
            if self._is_closed:
                raise Unanswered("closed") from None
            raise
        finally:
            self._connecting.discard(connecting)

    def _take(self) -> IOStream | None:
        """The connection that was used last, of those that are still good."""
        oldest = monotonic() - IDLE_S
        while self._idle:
            stream, since = self._idle.pop()
            stream.set_close_callback(None)
            if not stream.closed() and since >= oldest:
                return stream
            stream.close()
        return None

    async def _exchange(self, stream: IOStream, headers: Mapping[str, str], body: bytes) -> "_Reader":
        reader, reusable = _Reader(), False
        self._open.add(stream)
        try:
            connection = HTTP1Connection(stream, is_client=True, params=self._params)
            sent = {
                "Host": self._named,
                "Accept": "application/json",
                "Content-Type": "application/json",
                "Content-Length": str(len(body)),
                **headers,
            }
            writing = connection.write_headers(
                RequestStartLine("POST", self._target, ""), HTTPHeaders(sent), chunk=body
            )
            connection.finish()
            # A server may answer before it has read all; what it then does to the writing is of no interest.
            writing.add_done_callback(lambda done: done.exception())
            is_open = await connection.read_response(reader)
            reusable = is_open and reader.is_whole and reader.keeps_alive
        except StreamClosedError:
            # As far as it came stands in the reader.
            pass
        finally:
            self._open.discard(stream)
            if not reusable:
                stream.close()
        if reusable:
            self._keep(stream)
        return reader

    def _keep(self, stream: IOStream) -> None:
        # Makes the stream notice when the other side closes it.
        stream.set_close_callback(lambda: None)
        self._idle.append((stream, monotonic()))
        if len(self._idle) > KEPT:
            self._idle.pop(0)[0].close()


@dataclass
class _Reader(HTTPMessageDelegate):
    """Gathers one answer. `status` 0: nothing came."""

    status: int = 0
    keeps_alive: bool = False
    is_whole: bool = False
    _chunks: list[bytes] = field(default_factory=list)

    def headers_received(self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders) -> None:
        """See HTTPMessageDelegate. Comes once more after an interim answer."""
        assert isinstance(start_line, ResponseStartLine)  # noqa: S101 - a client reads nothing else
        self.status = start_line.code
        said = headers.get("Connection", "").lower()
        self.keeps_alive = start_line.version == "HTTP/1.1" and "close" not in said

    def data_received(self, chunk: bytes) -> None:
        """See HTTPMessageDelegate."""
        self._chunks.append(chunk)

    def finish(self) -> None:
        """See HTTPMessageDelegate."""
        self.is_whole = True

    def checked(self) -> HttpAnswer:
        """The answer. Raises Unanswered when it is not whole."""
        if not self.is_whole:
            raise Unanswered("closed")
        return HttpAnswer(self.status, b"".join(self._chunks))
