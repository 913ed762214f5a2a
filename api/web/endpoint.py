"""The REST adapter: a Request becomes a Call, its Reply or Problem becomes a Response."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter
from typing import Any
from urllib.parse import parse_qsl

from api.core.client_address import Network, client_address
from api.core.strict_json import MalformedJson, parse
from api.problems import Problem
from api.service.call import Call
from api.service.dispatch import admit, dispatch
from api.service.services import Services
from api.web.cors import Cors
from api.web.metrics import Metrics
from api.web.request import Request
from api.web.response import JSON_TYPE, Response, json_response, problem_response
from api.web.routing import Route, Router

log = logging.getLogger(__name__)

MAX_PARAMETERS = 32

_Work = Callable[[Request, Route | None, Mapping[str, str]], Awaitable[Response]]
_READ_ON = Response(100)
"""Stands for no answer yet; it is never sent."""


class Endpoint:
    """Answers every request below the API's paths."""

    def __init__(self, services: Services, cors: Cors, metrics: Metrics, trusted_proxies: tuple[Network, ...]) -> None:
        self._services, self._cors, self._metrics, self._trusted = services, cors, metrics, trusted_proxies
        self._router = Router(services.contract)

    async def answer(self, request: Request) -> Response:
        """The response, whatever happens: what is no Problem is logged and answered as `internal`."""
        began = perf_counter()
        route = self._router.find(request.path)
        response = await self._respond(request, route, self._answer)
        self._note(request, route, response, perf_counter() - began)
        return response

    async def refusal_before_body(self, request: Request) -> Response | None:
        """The answer to a request that is refused whatever its body says, None for any other."""
        began = perf_counter()
        route = self._router.find(request.path)
        response = await self._respond(request, route, self._look)
        if response is _READ_ON:
            return None
        self._note(request, route, response, perf_counter() - began)
        return response

    def _note(self, request: Request, route: Route | None, response: Response, seconds: float) -> None:
        operation = route.operation(request.method) if route else None
        name = operation.id if operation else "unknown"
        self._metrics.answered(name, response.status, seconds)
        if response.status >= 400:
            extra = {"request_id": request.request_id, "operation": name, "status": response.status}
            log.info("refused", extra=extra)

    async def _respond(self, request: Request, route: Route | None, work: _Work) -> Response:
        cors = self._cors.headers(request.headers)
        try:
            return await work(request, route, cors)
        except Problem as problem:
            self._metrics.denied(problem.code)
            return problem_response(problem, self._services.problems, request.request_id, cors)
        except Exception:
            self._metrics.denied("internal")
            log.exception("internal error", extra={"request_id": request.request_id})
            return problem_response(Problem("internal"), self._services.problems, request.request_id, cors)

    async def _answer(self, request: Request, route: Route | None, cors: Mapping[str, str]) -> Response:
        if route is not None and request.method == "OPTIONS":
            return Response(204, self._cors.preflight(request.headers, route.methods))
        reply = await dispatch(self._services, self._call(request, route))
        return json_response(reply.body, reply.status, {**cors, **reply.headers})

    async def _look(self, request: Request, route: Route | None, cors: Mapping[str, str]) -> Response:
        if route is None or request.method != "OPTIONS":
            await admit(self._services, self._call(request, route))
        return _READ_ON

    def _call(self, request: Request, route: Route | None) -> Call:
        """Raises not_found, method_not_allowed."""
        if route is None:
            raise Problem("not_found", "No operation of the API has this path. The reference is at /docs.")
        operation = route.operation(request.method)
        if operation is None:
            allowed = ", ".join(route.methods)
            raise Problem("method_not_allowed", f"This path takes {allowed}.", headers={"Allow": allowed})
        return Call(
            operation=operation,
            request_id=request.request_id,
            address=client_address(request.peer, request.headers.get("X-Forwarded-For"), self._trusted),
            read_body=lambda: request.body if operation.raw_body else read_json(request),
            authorization=request.headers.get("Authorization"),
            payment=request.headers.get("PAYMENT-SIGNATURE"),
            idempotency_key=request.headers.get("Idempotency-Key"),
            signature=request.headers.get("Stripe-Signature"),
            path=route.values,
            query=read_query(request.query),
        )


def read_query(query: str) -> dict[str, str]:
    """The parameters by name, the first of several with the same. Raises invalid_request for more than a query can
    need."""
    if not query:
        return {}
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        raise Problem("invalid_request", f"The query has more than {MAX_PARAMETERS} parameters.") from None
    for name, value in pairs:
        if not value.isprintable():
            raise Problem("invalid_request", f"The query parameter {name[:40]!r} has characters that can't be printed.")
    return dict(reversed(pairs))


def read_json(request: Request) -> Any:
    """The body as strict JSON. Raises unsupported_media_type, missing_body, malformed_json."""
    if not request.body:
        raise Problem("missing_body")
    media_type, *parameters = (part.strip().lower() for part in request.headers.get("Content-Type", "").split(";"))
    if media_type != JSON_TYPE:
        raise Problem("unsupported_media_type", f"Content-Type must be {JSON_TYPE}.")
    charsets = [part.removeprefix("charset=").strip('"') for part in parameters if part.startswith("charset=")]
    if any(charset not in ("utf-8", "utf8") for charset in charsets):
        raise Problem("unsupported_media_type", "JSON is sent in UTF-8; leave the charset out.")
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Problem("unsupported_media_type", "The body must not be compressed: leave Content-Encoding out.")
    try:
        return parse(request.body)
    except MalformedJson as error:
        raise Problem("malformed_json", str(error)) from None
