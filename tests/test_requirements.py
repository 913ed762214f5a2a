"""Each promise of tests/requirements.yaml has a test, and each test that names a promise names one of them."""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from api.yamlfile import read_file
from tests.examples import ROOT

TESTS = ROOT / "tests"
ISSUES = range(2, 10)
SECTIONS = range(1, 13)


@cache
def promises() -> tuple[dict[str, Any], ...]:
    return tuple(read_file(TESTS / "requirements.yaml"))


@cache
def shown() -> dict[str, str]:
    """Promise ids in markers, each with one place that carries it. Read from the source, so that the suites which
    plain pytest leaves out (browser, clients, faults) count too."""
    return {promise: place for path in _sources() for promise, place in _markers(path)}


def _sources() -> Iterator[Path]:
    for path in sorted(TESTS.rglob("*.py")):
        if "venvs" not in path.parts and "site-packages" not in path.parts:
            yield path


def _markers(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.promise":
            place = f"{path.relative_to(ROOT)}:{node.lineno}"
            for argument in node.args:
                named = argument.value if isinstance(argument, ast.Constant) else None
                assert isinstance(named, str), f"{place}: a promise is named by a literal"
                yield named, place


def test_ids_are_unique() -> None:
    twice = [name for name, count in Counter(promise["id"] for promise in promises()).items() if count > 1]
    assert not twice


def test_entries_are_whole_and_sorted_by_section() -> None:
    for promise in promises():
        planned = {"issue"} if promise["status"] == "planned" else set()
        assert set(promise) == {"id", "section", "text", "status"} | planned, promise
        assert promise["status"] in ("built", "planned"), promise
        assert promise["section"] in SECTIONS, promise
        assert promise.get("issue", ISSUES[0]) in ISSUES, promise
        assert promise["text"].endswith((".", '."')), promise
        group, _, name = promise["id"].partition(".")
        assert group, promise
        assert name, promise
    sections = [promise["section"] for promise in promises()]
    assert sections == sorted(sections)
    assert set(sections) == set(SECTIONS)


def test_every_built_promise_is_shown_by_a_test() -> None:
    unshown = [promise["id"] for promise in promises() if promise["status"] == "built" and promise["id"] not in shown()]
    assert not unshown


def test_every_shown_promise_is_listed() -> None:
    listed = {promise["id"] for promise in promises()}
    assert not {name: place for name, place in shown().items() if name not in listed}


def test_no_promise_stays_planned_once_a_test_shows_it() -> None:
    planned = {promise["id"] for promise in promises() if promise["status"] == "planned"}
    assert not {name: place for name, place in shown().items() if name in planned}
