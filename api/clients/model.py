"""A language model behind any OpenAI-compatible `/chat/completions`."""

import asyncio

from api.clients.kept import KeptConnections
from api.clients.ports import HttpAnswer, Unanswered

MAX_ANSWER = 1024 * 1024
"""Bytes. An answer repeats a consensus at most, 16,000 characters; some models send their thoughts with it."""
CONCURRENT = 64
"""Requests of one process at a time. Whoever comes when all are taken waits, and the wait counts."""


class HttpModel:
    """A `Model` below `base_url`. Its connections are kept for the next request."""

    def __init__(self, base_url: str, key: str, timeout_s: float, concurrent: int = CONCURRENT) -> None:
        self._headers = {"Authorization": f"Bearer {key}"}
        self._connections = KeptConnections(f"{base_url.rstrip('/')}/chat/completions", timeout_s, MAX_ANSWER)
        self._places = asyncio.Semaphore(concurrent)

    @property
    def timeout_s(self) -> float:
        """See `Model`."""
        return self._connections.timeout_s

    async def complete(self, document: str) -> HttpAnswer:
        """See `Model`."""
        try:
            async with asyncio.timeout(self.timeout_s), self._places:
                return await self._connections.post_json(self._headers, document)
        except TimeoutError:
            raise Unanswered("TimeoutError") from None

    def abandon(self) -> None:
        """See `Model`."""
        self._connections.close()

    def close(self) -> None:
        """See `Model`."""
        self._connections.close()
