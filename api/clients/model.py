"""A language model behind any OpenAI-compatible `/chat/completions`."""

import asyncio

from api.clients.kept import KeptConnections
from api.clients.ports import HttpAnswer, Unanswered

MAX_ANSWER = 1024 * 1024
"""Bytes. An answer repeats a consensus at most, 16,000 characters; some models send their thoughts with it."""
CONCURRENT = 64
"""Requests of one process at a time. Whoever comes when all are taken waits, and the wait counts."""


class HttpModel:
    """A `Model` below `base_url`. Its connections are kept for the next request. One that the other side closes just
    then is a failed call: no model is asked twice, and it may have read the question."""

    def __init__(self, base_url: str, key: str, timeout_s: float, concurrent: int = CONCURRENT) -> None:
        self._headers = {"Authorization": f"Bearer {key}"}
        url = f"{base_url.rstrip('/')}/chat/completions"
        self._connections = KeptConnections(url, timeout_s, MAX_ANSWER, resends=False)
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
