"""The official conformance suites of both eras, by the scenarios that a server of tools has, and the inspector."""

import json
from pathlib import Path

import pytest

from tests.clients.mcp.conftest import Served
from tests.clients.mcp.environment import run_node
from tests.examples import the_contract

LEGACY_SUITE = "@modelcontextprotocol/conformance/dist/index.js"
MODERN_SUITE = "conformance-modern/dist/index.js"
INSPECTOR = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"

NO_SUCH_PART = {
    "sep-2549-prompts-list-caching-hints",
    "sep-2549-resources-list-caching-hints",
    "sep-2549-resources-templates-list-caching-hints",
}
"""Checks of prompts and resources. The server declares neither."""
NO_SUCH_TOOL = {
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
}
"""Checks that call tools made for the suite (test_missing_capability and the like). They say so themselves."""
NO_KEY = {"sep-2243-server-accepts-whitespace-header-value"}
"""A check that calls a tool, for which the suite has no key to send: it gets a 402. tests/web/test_mcp.py has it."""

SCENARIOS: list[tuple[str, str, str, set[str]]] = [
    (LEGACY_SUITE, "2025-11-25", "server-initialize", set()),
    (LEGACY_SUITE, "2025-11-25", "ping", set()),
    (LEGACY_SUITE, "2025-11-25", "tools-list", set()),
    (LEGACY_SUITE, "2025-11-25", "dns-rebinding-protection", set()),
    (MODERN_SUITE, "2025-11-25", "server-initialize", set()),
    (MODERN_SUITE, "2025-11-25", "tools-list", set()),
    (MODERN_SUITE, "2026-07-28", "tools-list", set()),
    (MODERN_SUITE, "2026-07-28", "dns-rebinding-protection", set()),
    (MODERN_SUITE, "2026-07-28", "http-header-validation", NO_KEY),
    (MODERN_SUITE, "2026-07-28", "server-stateless", NO_SUCH_TOOL),
    (MODERN_SUITE, "2026-07-28", "caching", NO_SUCH_PART),
]


@pytest.mark.promise("mcp.transport")
@pytest.mark.promise("mcp.eras")
@pytest.mark.parametrize(("suite", "version", "scenario", "not_ours"), SCENARIOS)
def test_a_scenario_of_the_official_suite(
    served: Served, tmp_path: Path, suite: str, version: str, scenario: str, not_ours: set[str]
) -> None:
    words = ["server", "--url", served.url, "--scenario", scenario, "--spec-version", version, "-o", str(tmp_path)]
    done = run_node(suite, *words)
    [report] = tmp_path.rglob("checks.json")
    checks = json.loads(report.read_text(encoding="utf-8"))
    by_status: dict[str, set[str]] = {}
    for check in checks:
        by_status.setdefault(check["status"], set()).add(check["id"])
    assert by_status["SUCCESS"], done.stdout
    assert by_status.get("FAILURE", set()) == not_ours, done.stdout
    assert not by_status.get("WARNING"), done.stdout


@pytest.mark.promise("mcp.tools")
def test_the_inspector_lists_and_calls(served: Served) -> None:
    words = ["--cli", served.url, "--transport", "http"]
    listed = run_node(INSPECTOR, *words, "--method", "tools/list")
    assert [tool["name"] for tool in json.loads(listed.stdout)["tools"]] == ["judge", "consensus"], listed.stderr
    call = ["--method", "tools/call", "--tool-name", "judge", "--tool-arg", "task=t", "--tool-arg", "agent_output=o"]
    called = run_node(INSPECTOR, *words, "--header", f"Authorization: Bearer {served.key}", *call)
    result = json.loads(called.stdout)
    assert result["isError"] is False
    assert the_contract().body_schema("JudgeResponse").faults(result["structuredContent"]) == []
