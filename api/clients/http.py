"""Small requests to services that may misbehave: bounded in time and size, no redirects unless asked for."""

from collections.abc import Mapping
from urllib.parse import urljoin, urlsplit

from tornado.simple_httpclient import SimpleAsyncHTTPClient

from api.clients.ports import HttpAnswer, Unanswered

MAX_BODY = 256 * 1024
MAX_CLIENTS = 256
_MOVED = (301, 302, 307, 308)


class BoundedClient:
    """Requests that take `timeout_s` seconds at most, the wait for their turn included. Belongs to one event loop."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._client = SimpleAsyncHTTPClient(force_instance=True, max_clients=MAX_CLIENTS, max_body_size=MAX_BODY)

    async def get(self, url: str, headers: Mapping[str, str], redirects: int = 0) -> HttpAnswer:
        """GET, following at most so many redirects. `headers` go to the origin of `url` only. Raises Unanswered."""
        origin = urlsplit(url)[:2]
        for _ in range(redirects):
            answer, location = await self._send("GET", url, headers if urlsplit(url)[:2] == origin else {}, None)
            if answer.status not in _MOVED or not location:
                return answer
            url = urljoin(url, location)
        answer, _ = await self._send("GET", url, headers if urlsplit(url)[:2] == origin else {}, None)
        return answer

    async def post_json(self, url: str, headers: Mapping[str, str], body: str) -> HttpAnswer:
        """POST of JSON, following no redirect. Raises Unanswered."""
        answer, _ = await self._send("POST", url, {"Content-Type": "application/json", **headers}, body)
        return answer

    def close(self) -> None:
        """Ends all connections."""
        self._client.close()

    async def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: str | None
    ) -> tuple[HttpAnswer, str]:
        try:
            response = await self._client.fetch(
                url,
                raise_error=False,
                method=method,
                headers={"Accept": "application/json", **headers},
                body=body,
                follow_redirects=False,
                # A small compressed body can be a large one; none is asked for.
                decompress_response=False,
                connect_timeout=self.timeout_s,
                request_timeout=self.timeout_s,
            )
        except Exception as error:
            # Tornado raises whatever ended the exchange: a time-out, TLS, the socket, bytes that are no HTTP.
            raise Unanswered(type(error).__name__) from error
        return HttpAnswer(response.code, response.body), response.headers.get("Location", "")
