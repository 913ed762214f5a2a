"""POSTs to webhooks, whose receivers anybody can choose: bounded in time and size, and never to the inside.

A name is looked up once for each POST, every address that comes is checked, and the connection goes to a checked one: a
name that points elsewhere a moment later gains nothing. TLS is checked against the name. No redirects, no cookies, no
proxy of the environment; nothing of the answer is kept but its status and Retry-After. URLs can hold secrets, so
nothing here is logged.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

from tornado.http1connection import HTTP1Connection, HTTP1ConnectionParameters
from tornado.httputil import HTTPHeaders, HTTPMessageDelegate, RequestStartLine, ResponseStartLine
from tornado.iostream import IOStream, SSLIOStream, StreamClosedError

from api.clients.names import Names, Resolve
from api.clients.ports import Posted
from api.core import webhook_target
from api.core.webhooks import Refusal

TIMEOUT_S = 15.0
CONNECT_S = 5.0
LOOK_S = 3.0
"""How long saving a URL waits for its name."""
MAX_HEAD = 16 * 1024
MAX_BODY = 4 * 1024
REST_S = 1.0
"""How long the rest of an answer is read, once its status is known: closing at once would look like a failure."""
ADDRESSES_TRIED = 4


class HttpWebhooks:
    """A `WebhookSender`. `allow_private`: also plain http, and loopback addresses. `lets_through` decides about
    addresses, as a resolver gives them. Belongs to one event loop."""

    def __init__(
        self,
        *,
        allow_private: bool = False,
        resolve: Resolve | None = None,
        lets_through: Callable[[str], bool] | None = None,
        tls: ssl.SSLContext | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self.allow_private = allow_private
        self._resolve = resolve or Names()
        self._lets_through = lets_through or (_public_or_loopback if allow_private else webhook_target.is_public)
        self._tls = tls or ssl.create_default_context()
        self._timeout_s = timeout_s

    async def leads_inside(self, url: str) -> bool:
        """See `WebhookSender`."""
        try:
            async with asyncio.timeout(LOOK_S):
                found = await self._resolve(_host(urlsplit(url)))
        except (OSError, TimeoutError):
            return False
        return not all(map(self._lets_through, found))

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Posted:
        """See `WebhookSender`."""
        began = time.monotonic()
        status: int | None = None
        failure: Refusal | None = None
        retry_after = ""
        try:
            async with asyncio.timeout(self._timeout_s):
                status, retry_after = await self._exchange(url, headers, body)
        except TimeoutError:
            failure = "timeout"
        except _Failed as error:
            failure = error.why
        return Posted(status, failure, retry_after, round((time.monotonic() - began) * 1_000))

    async def _exchange(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, str]:
        if webhook_target.fault(url, allow_private=self.allow_private) is not None:
            # It was saved under other settings.
            raise _Failed("not_public")
        parts = urlsplit(url)
        stream = await self._connect(parts, await self._addresses(_host(parts)))
        try:
            return await _ask(stream, parts, headers, body)
        finally:
            stream.close()

    async def _addresses(self, host: str) -> list[str]:
        """The addresses of a host, all of them checked."""
        try:
            found = await self._resolve(host)
        except TimeoutError:
            raise
        except OSError as error:
            raise _Failed("dns") from error
        if not found:
            raise _Failed("dns")
        if not all(map(self._lets_through, found)):
            raise _Failed("not_public")
        return found

    async def _connect(self, parts: SplitResult, addresses: Sequence[str]) -> IOStream:
        """A connection to the first address that takes one."""
        failure = _Failed("refused")
        for address in addresses[:ADDRESSES_TRIED]:
            stream = self._stream(parts, address)
            port = parts.port or (443 if parts.scheme == "https" else 80)
            try:
                async with asyncio.timeout(CONNECT_S):
                    # The address is checked, and no name: nothing is looked up again.
                    await stream.connect((address, port), server_hostname=_host(parts))
                return stream
            except TimeoutError:
                stream.close()
                failure = _Failed("timeout")
            except (StreamClosedError, OSError) as error:
                stream.close()
                cause = error.real_error if isinstance(error, StreamClosedError) else error
                failure = _Failed("tls" if isinstance(cause, ssl.SSLError) else "refused")
            except BaseException:
                stream.close()
                raise
        raise failure

    def _stream(self, parts: SplitResult, address: str) -> IOStream:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        plain = socket.socket(family, socket.SOCK_STREAM)
        # A receiver can send no more than this before it is cut.
        limit = MAX_HEAD + MAX_BODY
        if parts.scheme == "https":
            return SSLIOStream(plain, ssl_options=self._tls, max_buffer_size=4 * limit)
        return IOStream(plain, max_buffer_size=4 * limit)


async def _ask(stream: IOStream, parts: SplitResult, headers: Mapping[str, str], body: bytes) -> tuple[int, str]:
    """Sends the request; the answer's status and Retry-After."""
    limits = HTTP1ConnectionParameters(no_keep_alive=True, max_header_size=MAX_HEAD, max_body_size=MAX_BODY)
    connection = HTTP1Connection(stream, True, limits)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    sent = {"Host": parts.netloc, "Connection": "close", "Content-Length": str(len(body)), **headers}
    answer = _Answer()
    try:
        writing = connection.write_headers(RequestStartLine("POST", target, ""), HTTPHeaders(sent), body)
        connection.finish()
        # A receiver may answer and close before it has read all.
        writing.add_done_callback(lambda done: done.cancelled() or done.exception())
    except StreamClosedError as error:
        raise _Failed("no_answer") from error
    reading = asyncio.create_task(_read(connection, answer))
    ends: set[asyncio.Future[Any]] = {reading, answer.head}
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    if not answer.head.done():
        raise _Failed("no_answer")
    await asyncio.wait({reading}, timeout=REST_S)
    return answer.head.result()


async def _read(connection: HTTP1Connection, answer: "_Answer") -> None:
    """Reads until the end of the answer or of the connection."""
    with suppress(StreamClosedError):
        await connection.read_response(answer)


class _Answer(HTTPMessageDelegate):
    """Notes the head of an answer."""

    def __init__(self) -> None:
        self.head: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()

    def headers_received(self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders) -> None:
        """Called for interim answers too."""
        if isinstance(start_line, ResponseStartLine) and start_line.code >= 200:
            self.head.set_result((start_line.code, headers.get("Retry-After", "")))


class _Failed(Exception):
    def __init__(self, why: Refusal) -> None:
        super().__init__(why)
        self.why: Refusal = why


def _host(parts: SplitResult) -> str:
    return (parts.hostname or "").removesuffix(".")


def _public_or_loopback(address: str) -> bool:
    return webhook_target.is_public(address) or ip_address(address.partition("%")[0]).is_loopback
