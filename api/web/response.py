"""What is sent: a status, headers and a body, without a connection."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from api.problems import Problem, ProblemTable

JSON_TYPE = "application/json"
PROBLEM_TYPE = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP response. `headers` lack Content-Length, which is the body's."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def json_response(value: Any, status: int, headers: Mapping[str, str]) -> Response:
    """`value` as JSON, not to be stored by caches."""
    return Response(status, {"Content-Type": JSON_TYPE, "Cache-Control": "no-store", **headers}, orjson.dumps(value))


def problem_response(problem: Problem, problems: ProblemTable, request_id: str, headers: Mapping[str, str]) -> Response:
    """`problem` as application/problem+json."""
    document = problems.document(problem, request_id)
    whole = {"Content-Type": PROBLEM_TYPE, "Cache-Control": "no-store", **headers, **problem.headers}
    return Response(document["status"], whole, orjson.dumps(document))
