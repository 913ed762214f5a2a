"""The front door: sends a request to the API or to the site, bounds what is in flight, and adds what every response
has."""

from collections.abc import Mapping

from tornado.httputil import HTTPHeaders

from api.core.receipts.keys import JWKS_PATH
from api.problems import Problem
from api.service.services import Services
from api.web import metrics
from api.web.cors import Cors
from api.web.endpoint import Endpoint
from api.web.mcp import PATH as MCP_PATH
from api.web.mcp import Mcp
from api.web.metrics import Metrics
from api.web.request import Request
from api.web.response import Response, problem_response
from api.web.static import Site

MAX_BODY = 2 * 1024 * 1024
MAX_IN_FLIGHT = 2_048
MAX_BUFFERED = 256 * 1024 * 1024
RETRY_AFTER_S = 1
_API_PATHS = ("/v1/",)
_EVERYWHERE = {"X-Content-Type-Options": "nosniff"}
_HSTS = {"Strict-Transport-Security": "max-age=31536000; includeSubDomains"}


class Front:
    """Answers any request. `in_flight` counts requests being answered, `buffered` the bytes held of bodies that come in
    and of answers that their clients are slow to take."""

    def __init__(
        self,
        services: Services,
        endpoint: Endpoint,
        mcp: Mcp,
        site: Site,
        keys: Site,
        cors: Cors,
        metrics: Metrics,
        *,
        https: bool,
    ) -> None:
        self._services, self._cors, self._metrics = services, cors, metrics
        self._endpoint, self._mcp, self._site, self._keys = endpoint, mcp, site, keys
        self._problems = services.problems
        self._always = _EVERYWHERE | (_HSTS if https else {})
        self.in_flight = 0
        self.buffered = 0

    async def answer(self, request: Request) -> Response:
        """The response, never an exception."""
        if self.in_flight >= MAX_IN_FLIGHT:
            return self.refuse("overloaded", request.path, request.headers, request.request_id)
        self.in_flight += 1
        try:
            response = await self._route(request)
        finally:
            self.in_flight -= 1
        return Response(response.status, self._complete(response.headers, request.request_id), response.body)

    def refuse(self, code: str, path: str, headers: HTTPHeaders, request_id: str) -> Response:
        """A refusal that needs no look at the body: too large, or too much to do."""
        kind = self._problems.kinds[code]
        wait = {"Retry-After": str(RETRY_AFTER_S)} if kind.status == 503 else {}
        problem = Problem(code, kind.meaning, headers=wait)
        if path == MCP_PATH:
            response = self._mcp.refuse(problem, headers, request_id)
        else:
            cors = self._cors.headers(headers) if path.startswith(_API_PATHS) else {}
            self._metrics.denied(code)
            response = problem_response(problem, self._problems, request_id, cors)
        return Response(response.status, self._complete(response.headers, request_id), response.body)

    async def refusal_before_body(self, request: Request) -> Response | None:
        """The answer to a request that is refused whatever its body says. None when the body has to be read to know.
        `request` has none yet."""
        if self.in_flight >= MAX_IN_FLIGHT:
            return self.refuse("overloaded", request.path, request.headers, request.request_id)
        if request.path.startswith(_API_PATHS):
            response = await self._endpoint.refusal_before_body(request)
        elif request.path == MCP_PATH:
            response = self._mcp.refusal_before_body(request)
        else:
            # The site's answers do not depend on a body.
            response = self._site.answer(request)
        if response is None:
            return None
        return Response(response.status, self._complete(response.headers, request.request_id), response.body)

    async def _route(self, request: Request) -> Response:
        if request.path.startswith(_API_PATHS):
            return await self._endpoint.answer(request)
        if request.path == MCP_PATH:
            return await self._mcp.answer(request)
        if request.path == JWKS_PATH:
            return self._keys.answer(request)
        if request.path == metrics.PATH:
            return await self._measures(request)
        return self._site.answer(request)

    async def _measures(self, request: Request) -> Response:
        self._metrics.levels(self.in_flight, self._services.charges.waiting)
        answer = await metrics.answer(self._metrics, self._services, request.headers.get("Authorization"))
        return answer or self._site.answer(request)

    def _complete(self, headers: Mapping[str, str], request_id: str) -> dict[str, str]:
        return {**self._always, "X-Request-Id": request_id, **headers}
