"""The MCP adapter: POST /mcp. A tools/call becomes a Call for the same pipeline as REST."""

import logging
from collections.abc import Container, Mapping
from time import perf_counter
from typing import Any

from tornado.httputil import HTTPHeaders

from api.core.client_address import Network, client_address
from api.core.mcp import messages
from api.core.mcp import server as mcp
from api.core.mcp.eras import Era, SentHeaders, check_version, era_of
from api.core.mcp.messages import Id, RpcError, Unanswered
from api.core.mcp.server import ToolCall
from api.problems import Problem
from api.service.call import Call
from api.service.dispatch import dispatch
from api.service.mcp import OPERATION, Outcome, answered, refused, server_of
from api.service.services import Services
from api.web.cors import Cors
from api.web.endpoint import read_json, read_query
from api.web.metrics import Metrics
from api.web.request import Request
from api.web.response import Response, json_response

log = logging.getLogger(__name__)

PATH = "/mcp"
METHODS = ("POST", "OPTIONS")
_IN_BAND = ("payment", "mcp")
"""The query parameter by which a client that can't read HTTP 402 asks for 200, and its value."""


class Mcp:
    """Answers every request to /mcp, with JSON and without sessions."""

    def __init__(self, services: Services, cors: Cors, metrics: Metrics, trusted_proxies: tuple[Network, ...]) -> None:
        self._services, self._cors, self._metrics, self._trusted = services, cors, metrics, trusted_proxies
        self._server = server_of(services.contract, services.base_url)

    async def answer(self, request: Request) -> Response:
        """The response, whatever happens."""
        began = perf_counter()
        response = await self._respond(request)
        self._metrics.answered(OPERATION, response.status, perf_counter() - began)
        return response

    def refuse(self, problem: Problem, headers: HTTPHeaders, request_id: str, id: Id = None) -> Response:
        """A problem as JSON-RPC error, with the status and headers that REST gives it."""
        self._metrics.denied(problem.code)
        services = self._services
        kind, document = services.problems.kinds[problem.code], services.problems.document(problem, request_id)
        code = kind.mcp if isinstance(kind.mcp, int) else messages.INVALID_REQUEST
        body = messages.error(id, code, document["detail"], document)
        return json_response(body, kind.status, {**self._cors.headers(headers), **problem.headers})

    async def _respond(self, request: Request) -> Response:
        try:
            return await self._answer(request)
        except RpcError as error:
            body = messages.error(error.id, error.code, error.message, error.data)
            return self._json(request, body, error.status)
        except Problem as problem:
            return self.refuse(problem, request.headers, request.request_id)
        except Exception:
            log.exception("internal error", extra={"request_id": request.request_id})
            return self.refuse(Problem("internal"), request.headers, request.request_id)

    async def _answer(self, request: Request) -> Response:
        self._check_door(request)
        if request.method == "OPTIONS":
            return Response(204, self._cors.preflight(request.headers, METHODS))
        message = messages.read(read_json(request))
        sent = _sent(request.headers)
        if isinstance(message, Unanswered):
            check_version(sent)
            return Response(202, self._cors.headers(request.headers))
        era = era_of(message, sent)
        if message.method != "tools/call":
            result = mcp.answer(self._server, era, message)
            return self._json(request, messages.response(message.id, result))
        wanted = mcp.tool_call(self._server, era, message)
        in_band = _told_in_band(wanted, read_query(request.query))
        return await self._called(request, era, message.id, wanted, in_band)

    def refusal_before_body(self, request: Request) -> Response | None:
        """The answer to a request that is refused whatever its body says, None for any other."""
        try:
            self._check_door(request)
        except Problem as problem:
            return self.refuse(problem, request.headers, request.request_id)
        return None

    def _check_door(self, request: Request) -> None:
        """Raises origin_not_allowed, method_not_allowed."""
        if self._cors.refuses(request.headers):
            raise Problem("origin_not_allowed")
        if request.method not in METHODS:
            allowed = ", ".join(METHODS)
            raise Problem("method_not_allowed", f"This path takes {allowed}.", headers={"Allow": allowed})

    async def _called(self, request: Request, era: Era, id: Id, wanted: ToolCall, in_band: Container[int]) -> Response:
        outcome = await self._outcome(request, wanted)
        if outcome.problem:
            self._metrics.denied(outcome.problem)
        status = 200 if outcome.status in in_band else outcome.status
        if outcome.error is not None:
            return self._json(request, {"jsonrpc": "2.0", "id": id, "error": outcome.error}, status, outcome.headers)
        result = mcp.complete(self._server, era, outcome.result or {})
        return self._json(request, messages.response(id, result), status, outcome.headers)

    async def _outcome(self, request: Request, wanted: ToolCall) -> Outcome:
        services = self._services
        payment = wanted.payment if wanted.payment is not None else request.headers.get("PAYMENT-SIGNATURE")
        call = Call(
            operation=services.contract.operations[wanted.name],
            request_id=request.request_id,
            address=client_address(request.peer, request.headers.get("X-Forwarded-For"), self._trusted),
            read_body=lambda: wanted.arguments,
            authorization=request.headers.get("Authorization"),
            payment=payment,
            idempotency_key=request.headers.get("Idempotency-Key"),
            tool=wanted.name,
        )
        try:
            return answered(await dispatch(services, call))
        except Problem as problem:
            return refused(problem, services.problems, request.request_id)
        except Exception:
            log.exception("internal error", extra={"request_id": request.request_id})
            return refused(Problem("internal"), services.problems, request.request_id)

    def _json(
        self, request: Request, body: Any, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> Response:
        return json_response(body, status, {**self._cors.headers(request.headers), **(headers or {})})


def _sent(headers: HTTPHeaders) -> SentHeaders:
    return SentHeaders(headers.get("MCP-Protocol-Version"), headers.get("Mcp-Method"), headers.get("Mcp-Name"))


def _told_in_band(wanted: ToolCall, query: Mapping[str, str]) -> Container[int]:
    """The statuses that the body alone tells, under a 200: all to a caller who pays in the body, and that a payment is
    needed to one who asks for it."""
    if wanted.payment is not None:
        return range(600)
    name, value = _IN_BAND
    return (402,) if query.get(name) == value else ()
