"""A language model behind any OpenAI-compatible `/chat/completions`."""

import asyncio

from api.clients.http import BoundedClient
from api.clients.ports import HttpAnswer, Unanswered

MAX_ANSWER = 1024 * 1024
"""Bytes. An answer repeats a consensus at most, 16,000 characters; some models send their thoughts with it."""
CONCURRENT = 64
"""Requests of one process at a time. Whoever comes when all are taken waits, and the wait counts."""


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
        self._asking: set[asyncio.Task[HttpAnswer]] = set()
        self._abandoned = False

    @property
    def timeout_s(self) -> float:
        """See `Model`."""
        return self._client.timeout_s

    async def complete(self, document: str) -> HttpAnswer:
        """See `Model`."""
        if self._abandoned:
            raise Unanswered("stopping")
        asking = asyncio.create_task(self._ask(document))
        self._asking.add(asking)
        try:
            await asyncio.wait([asking])
        finally:
            self._asking.discard(asking)
            asking.cancel()
        if asking.cancelled():
            raise Unanswered("stopping")
        return asking.result()

    def abandon(self) -> None:
        """See `Model`."""
        self._abandoned = True
        for asking in self._asking:
            asking.cancel()

    def close(self) -> None:
        """See `Model`."""
        self._client.close()

    async def _ask(self, document: str) -> HttpAnswer:
        try:
            async with asyncio.timeout(self.timeout_s), self._places:
                return await self._client.post_json(self._url, self._headers, document)
        except TimeoutError:
            raise Unanswered("TimeoutError") from None
