"""A language model behind any OpenAI-compatible `/chat/completions`."""

import asyncio

from api.clients.http import BoundedClient
from api.clients.ports import HttpAnswer, Unanswered

MAX_ANSWER = 1024 * 1024
"""Bytes. An answer repeats a consensus at most, 16,000 characters; some models send their thoughts with it."""
CONCURRENT = 64
"""Requests of one process at a time. Whoever comes when all are taken waits, and the wait counts."""
MOMENT_S = 0.001
"""What is left at least: to Tornado no time at all would mean no limit."""


class HttpModel:
    """A `Model` below `base_url`.

    Each request has a connection of its own. A kept one saves a round trip of seconds that the model takes, and can
    be closed by the other side just when it is used again: a call that failed so must not be sent twice, so it would
    be lost.
    """

    def __init__(self, base_url: str, key: str, timeout_s: float, concurrent: int = CONCURRENT) -> None:
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._headers = {"Authorization": f"Bearer {key}"}
        self._client = BoundedClient(timeout_s, MAX_ANSWER)
        self._places = asyncio.Semaphore(concurrent)
        self._asking: set[asyncio.Task[HttpAnswer | Unanswered]] = set()
        self._abandoned = asyncio.get_running_loop().create_future()

    @property
    def timeout_s(self) -> float:
        """See `Model`."""
        return self._client.timeout_s

    async def complete(self, document: str) -> HttpAnswer:
        """See `Model`."""
        if self._abandoned.done():
            raise Unanswered("stopping")
        asking = asyncio.create_task(self._ask(document))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)
        await asyncio.wait([asking, self._abandoned], return_when=asyncio.FIRST_COMPLETED)
        if not asking.done():
            # It goes on by itself to its end: Tornado would call its being cancelled an error.
            raise Unanswered("stopping")
        found = asking.result()
        if isinstance(found, Unanswered):
            raise found
        return found

    def abandon(self) -> None:
        """See `Model`."""
        if not self._abandoned.done():
            self._abandoned.set_result(None)

    def close(self) -> None:
        """See `Model`."""
        self.abandon()
        for asking in self._asking:
            asking.cancel()
        self._client.close()

    async def _ask(self, document: str) -> HttpAnswer | Unanswered:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.timeout_s
        try:
            async with asyncio.timeout_at(deadline):
                await self._places.acquire()
        except TimeoutError:
            return Unanswered("Timeout of the wait for a place")
        try:
            left = max(deadline - loop.time(), MOMENT_S)
            return await self._client.post_json(self._url, self._headers, document, left)
        except Unanswered as error:
            return error
        finally:
            self._places.release()
