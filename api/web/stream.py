"""A client's socket. Does for a client's faults what Tornado leaves out: says what is wrong, and lets it be read.

Tornado 6.6 refuses what it can't parse by itself, before a delegate hears of it: with a bare `HTTP/1.1 400 Bad Request`
that has neither headers nor a length, or, when a head or a chunk's size line is too long, by closing without a word. It
reads bare line feeds as line ends. And it closes with unread bytes in the socket, which resets the connection and can
take the answer with it. There is no hook for any of this, so the stream that Tornado reads from and writes to is ours:
a subclass that overrides public methods of IOStream only.
"""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tornado.httputil import HTTPInputError
from tornado.iostream import IOStream, StreamClosedError, UnsatisfiableReadError

MAX_HEAD = 64 * 1024
MAX_HEAD_LINES = 128
"""The request line and the headers of one request. A browser sends about 20, a chain of proxies some more."""
LINGER_BYTES = 8 * 1024 * 1024
LINGER_SECONDS = 2
"""How much of what a refused client goes on sending is thrown away before its connection is closed, so that it gets to
read the refusal."""
_DRAIN_CHUNK = 64 * 1024
_TORNADOS_REFUSAL = b"HTTP/1.1 400 Bad Request\r\n\r\n"


class Sockets:
    """The client sockets of one process. `open` counts them, those included that are only drained before they close.
    `limit` is how many are served at once."""

    def __init__(self, limit: int) -> None:
        self.limit, self.open = limit, 0
        self._draining: set[asyncio.Task[None]] = set()

    def close(self, closing: socket.socket, *, lingers: bool) -> None:
        """Closes one, at once or when its client has said what it had to say."""
        if not lingers:
            self._close(closing)
            return
        task = asyncio.get_running_loop().create_task(_drain(closing))
        self._draining.add(task)
        task.add_done_callback(lambda done: self._drained(done, closing))

    async def close_all(self) -> None:
        """Closes those that are being drained."""
        for task in self._draining:
            task.cancel()
        while self._draining:
            await asyncio.wait(self._draining)

    def _drained(self, task: asyncio.Task[None], closing: socket.socket) -> None:
        self._draining.discard(task)
        self._close(closing)

    def _close(self, closing: socket.socket) -> None:
        closing.close()
        self.open -= 1


class ClientStream(IOStream):
    """The stream of one client. `refusal` makes the response for a problem code, b"" once the request has one."""

    def __init__(self, client: socket.socket, sockets: Sockets, refusal: Callable[[str], bytes]) -> None:
        super().__init__(client)
        self._sockets, self.refusal = sockets, refusal
        self.lingers = False
        """Whether the client may be sending what nobody will read."""
        self._reads_head = False
        self._fault = "malformed_request"
        sockets.open += 1

    def read_until_regex(self, regex: bytes, max_bytes: int | None = None) -> "asyncio.Future[bytes]":
        """Tornado reads a request's head, and nothing else, with this. It does so on a closed stream too, which still
        gives out what came in before: a request that was sent behind the connection's last one would be carried out."""
        if self.closed():
            raise StreamClosedError
        self._reads_head = True
        reading = super().read_until_regex(regex, max_bytes)
        assert isinstance(reading, asyncio.Future)  # noqa: S101 - what IOStream makes, though it declares less
        checked: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        if reading.done():
            self._check(reading, checked)
        else:
            reading.add_done_callback(lambda done: self._check(done, checked))
        return checked

    def write(self, data: bytes | memoryview) -> "asyncio.Future[None]":
        """Writes, with a whole problem document where Tornado refuses by itself."""
        if data == _TORNADOS_REFUSAL:
            self.lingers = True
            data = self.refusal(self._fault)
        return super().write(data)

    def close(self, exc_info: Any = False) -> None:
        """Closes, with an answer to a client whose head or chunk size does not end."""
        if isinstance(exc_info, UnsatisfiableReadError) and not self.closed():
            self._refuse("headers_too_large" if self._reads_head else "malformed_request")
        super().close(exc_info)

    def close_fd(self) -> None:
        """Called by IOStream when it has closed."""
        closing, self.socket = self.socket, None  # type: ignore[assignment]  # as IOStream itself does
        self._sockets.close(closing, lingers=self.lingers)

    def turn_away(self) -> None:
        """Answers and closes without having read anything: there are too many connections."""
        self._refuse("overloaded")
        super().close()

    def _refuse(self, code: str) -> None:
        """Sends at once, past IOStream: nothing waits to be sent before, and a closing stream sends nothing after."""
        self.lingers = True
        with suppress(OSError):
            self.write_to_fd(memoryview(self.refusal(code)))

    def _check(self, reading: "asyncio.Future[bytes]", checked: "asyncio.Future[bytes]") -> None:
        """Passes the head on if it is sound. A line feed without its carriage return ends a line for us and not for
        every proxy, so what follows would be read differently by the two (RFC 9112 section 2.2)."""
        self._reads_head = False
        if checked.done():
            return
        if reading.cancelled():
            checked.cancel()
            return
        error = reading.exception()
        if error is not None:
            checked.set_exception(error)
            return
        head = reading.result()
        lines = head.count(b"\n")
        if lines > MAX_HEAD_LINES:
            self._fault = "headers_too_large"
            checked.set_exception(HTTPInputError("too many header lines"))
        elif lines != head.count(b"\r\n"):
            checked.set_exception(HTTPInputError("a line ends without a carriage return"))
        else:
            checked.set_result(head)


async def _drain(client: socket.socket) -> None:
    loop, buffer, left = asyncio.get_running_loop(), bytearray(_DRAIN_CHUNK), LINGER_BYTES
    with suppress(OSError, TimeoutError):
        client.shutdown(socket.SHUT_WR)
        async with asyncio.timeout(LINGER_SECONDS):
            while left > 0 and (received := await loop.sock_recv_into(client, buffer)):
                left -= received
