"""Errors that a caller sees: one table (content/problems.yaml), one exception, one document shape (RFC 9457).

Code raises `Problem("quota_exceeded", "...")`. Whatever speaks a protocol renders it from the table's row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.yamlfile import read_file


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in a body. `path` is a JSON Pointer (RFC 6901); "" is the whole body."""

    path: str
    message: str


class Problem(Exception):
    """A failure with a code of problems.yaml. `detail` speaks of this occurrence and holds no secret; "" means the
    title.

    `headers` are sent with it; `extra` are further members of the document.
    """

    def __init__(
        self,
        code: str,
        detail: str = "",
        *,
        errors: Sequence[Fault] = (),
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code, self.detail, self.errors = code, detail, tuple(errors)
        self.headers, self.extra = dict(headers or {}), dict(extra or {})


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """One row of the table. `mcp` is a JSON-RPC error code, or "tool_error" for a result with isError."""

    code: str
    status: int
    title: str
    meaning: str
    remedy: str
    mcp: int | str
    headers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProblemTable:
    """All kinds by code. `base_url` begins the `type` of every document and has no slash at its end."""

    kinds: Mapping[str, ProblemKind]
    base_url: str

    def status(self, problem: Problem) -> int:
        """The HTTP status of the problem's kind."""
        return self.kinds[problem.code].status

    def document(self, problem: Problem, request_id: str) -> dict[str, Any]:
        """The application/problem+json document, members in RFC 9457's order, then ours."""
        kind = self.kinds[problem.code]
        document: dict[str, Any] = {
            "type": f"{self.base_url}/errors#{kind.code}",
            "title": kind.title,
            "status": kind.status,
            "detail": problem.detail or kind.title + ".",
            "code": kind.code,
            "request_id": request_id,
        }
        if problem.errors:
            document["errors"] = [{"path": fault.path, "message": fault.message} for fault in problem.errors]
        return {**document, **problem.extra}


def load(content: Path, base_url: str) -> ProblemTable:
    """Reads content/problems.yaml."""
    rows: dict[str, dict[str, Any]] = read_file(content / "problems.yaml")
    return ProblemTable({code: _kind(code, **row) for code, row in rows.items()}, base_url.rstrip("/"))


def _kind(code: str, *, headers: Sequence[str] = (), **row: Any) -> ProblemKind:
    return ProblemKind(code=code, headers=tuple(headers), **row)
