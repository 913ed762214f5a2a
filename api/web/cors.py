"""Which browser origins may read the API's answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tornado.httputil import HTTPHeaders

_ALLOW_HEADERS = (
    "Authorization, Content-Type, Idempotency-Key, PAYMENT-SIGNATURE, MCP-Protocol-Version, Mcp-Method, Mcp-Name"
)
_EXPOSE = (
    "X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, Allow, "
    "PAYMENT-REQUIRED, PAYMENT-RESPONSE, Idempotency-Replayed"
)
_PREFLIGHT_AGE_S = 7_200
_VARY = {"Vary": "Origin"}


@dataclass(frozen=True, slots=True)
class Cors:
    """The allowed origins, exact strings."""

    origins: frozenset[str]

    def headers(self, request: HTTPHeaders) -> Mapping[str, str]:
        """CORS headers of an answer. Vary is always there: without Origin the answer differs from the one with it."""
        origin = request.get("Origin")
        if origin is None or origin not in self.origins:
            return _VARY
        return {**_VARY, "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": _EXPOSE}

    def refuses(self, request: HTTPHeaders) -> bool:
        """Whether the request comes from a browser page whose origin is not allowed."""
        return request.get("Origin") not in (None, *self.origins)

    def preflight(self, request: HTTPHeaders, methods: Sequence[str]) -> Mapping[str, str]:
        """Headers of the answer to OPTIONS: Allow, and for an allowed origin's preflight what it may send."""
        headers = {**self.headers(request), "Allow": ", ".join(methods)}
        if "Access-Control-Allow-Origin" in headers and "Access-Control-Request-Method" in request:
            headers.pop("Access-Control-Expose-Headers")
            headers |= {
                "Access-Control-Allow-Methods": ", ".join(methods),
                "Access-Control-Allow-Headers": _ALLOW_HEADERS,
                "Access-Control-Max-Age": str(_PREFLIGHT_AGE_S),
            }
        return headers
