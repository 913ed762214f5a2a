"""The table of problems and the code, both ways."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from api import problems
from api.problems import Fault, Problem
from tests.examples import CONTENT, ROOT, the_contract
from tests.problem_checks import the_problems

RAISERS = ("Problem", "refuse", "_refuse", "self._refuse", "self.refuse", "self._front.refuse")
BESIDE_OPERATIONS = {
    "malformed_request",
    "headers_too_large",
    "not_found",
    "method_not_allowed",
    "site_unavailable",
    "internal",
}
"""What any path can answer, so that no operation lists it."""


def _trees(folder: str) -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted((ROOT / folder).rglob("*.py")):
        if "venvs" not in path.parts:
            yield path, ast.parse(path.read_text(encoding="utf-8"))


@cache
def raised() -> dict[str, str]:
    """The codes that the source raises, each with one place."""
    found = {}
    for path, tree in _trees("api"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in RAISERS and node.args:
                for code in _literals(node.args[0]):
                    found[code] = f"{path}:{node.lineno}"
    return found


def _literals(node: ast.expr) -> Iterator[str]:
    """The strings that an argument can be: a literal, or either side of a choice."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


@cache
def named_in_tests() -> frozenset[str]:
    return frozenset(
        node.value
        for path, tree in _trees("tests")
        if path.name.startswith("test_") and path != Path(__file__)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


@pytest.mark.promise("http.one_problem_table")
def test_every_code_that_is_raised_stands_in_the_table() -> None:
    assert not {code: place for code, place in raised().items() if code not in the_problems().kinds}


@pytest.mark.promise("http.one_problem_table")
def test_every_row_of_the_table_is_raised() -> None:
    assert not set(the_problems().kinds) - set(raised())


def test_every_row_is_asserted_in_a_test() -> None:
    assert not set(the_problems().kinds) - named_in_tests()


@pytest.mark.promise("http.one_problem_table")
def test_operations_name_codes_of_the_table_and_name_them_all() -> None:
    named = {code for operation in the_contract().operations.values() for code in operation.problems}
    assert named <= set(the_problems().kinds)
    assert set(the_problems().kinds) - named <= BESIDE_OPERATIONS


def test_a_row_is_whole() -> None:
    for kind in the_problems().kinds.values():
        assert 400 <= kind.status <= 599
        assert kind.title
        assert not kind.title.endswith(".")
        assert kind.meaning.endswith(".")
        assert kind.remedy.endswith(".")
        assert kind.mcp == "tool_error" or isinstance(kind.mcp, int)
        if kind.status == 503:
            assert "Retry-After" in kind.headers, kind.code


@pytest.mark.promise("http.problem_document")
def test_a_document_has_its_members_in_order() -> None:
    table = problems.load(CONTENT, "https://judge.example.org/")
    problem = Problem("invalid_request", "why", errors=[Fault("/a~1b", "is wrong")], extra={"hint": 1})
    document = table.document(problem, "req_1")
    assert list(document) == ["type", "title", "status", "detail", "code", "request_id", "errors", "hint"]
    assert document["type"] == "https://judge.example.org/errors#invalid_request"
    assert document["errors"] == [{"path": "/a~1b", "message": "is wrong"}]
    bare = table.document(Problem("internal"), "req_1")
    assert bare["detail"] == "The server made a mistake."
    assert "errors" not in bare
