"""An x402 facilitator over HTTP."""

from collections.abc import Mapping

from api.clients.http import BoundedClient
from api.clients.ports import HttpAnswer

REDIRECTS = 3
"""GET /supported may be answered with 308. The others are not: a payment goes where it was configured to go."""


class HttpFacilitator:
    """A `Facilitator` below `url`. `headers` holds extra ones by endpoint: verify, settle, supported."""

    def __init__(self, url: str, headers: Mapping[str, Mapping[str, str]], timeout_s: float) -> None:
        self._url, self._headers = url.rstrip("/"), headers
        self._client = BoundedClient(timeout_s)

    @property
    def timeout_s(self) -> float:
        """See `Facilitator`."""
        return self._client.timeout_s

    async def supported(self) -> HttpAnswer:
        """See `Facilitator`."""
        return await self._client.get(f"{self._url}/supported", self._headers.get("supported", {}), REDIRECTS)

    async def verify(self, document: str) -> HttpAnswer:
        """See `Facilitator`."""
        return await self._client.post_json(f"{self._url}/verify", self._headers.get("verify", {}), document)

    async def settle(self, document: str) -> HttpAnswer:
        """See `Facilitator`."""
        return await self._client.post_json(f"{self._url}/settle", self._headers.get("settle", {}), document)

    def close(self) -> None:
        """See `Facilitator`."""
        self._client.close()
