"""The shape of the integration examples, read from their source; tests/clients runs them with the real packages."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.examples import CONTENT
from tests.site.conftest import Project

FOLDER = CONTENT / "integrations"
NAMES = ("crewai", "langgraph", "autogen", "openai-agents", "mcp", "curl", "pydantic-ai", "vercel-ai")
PYTHON = ("crewai", "langgraph", "autogen", "openai-agents", "pydantic-ai")


def tree(name: str) -> ast.Module:
    (file,) = (FOLDER / name).glob("screwtape_*.py")
    return ast.parse(file.read_text(encoding="utf-8"))


def functions(module: ast.AST) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)}


def calls(module: ast.AST) -> Iterator[str]:
    return (ast.unparse(node.func) for node in ast.walk(module) if isinstance(node, ast.Call))


def parameters(function: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in function.args.args]


@pytest.mark.promise("site.integrations_pages")
@pytest.mark.parametrize("name", NAMES)
def test_each_integration_has_its_page_with_the_whole_file(name: str, built: Project) -> None:
    page = (built.out / "integrations" / f"{name}.md").read_text(encoding="utf-8")
    files = list((FOLDER / name).glob("screwtape_*"))
    assert files
    for file in files:
        assert file.read_text(encoding="utf-8").strip() in page
    assert f"/integrations/{name}" in (built.out / "integrations.md").read_text(encoding="utf-8")


@pytest.mark.promise("site.integrations_python_helper")
@pytest.mark.parametrize("name", PYTHON)
def test_python_files_have_a_helper_and_run_both_examples(name: str) -> None:
    module = tree(name)
    assert parameters(functions(module)["post"]) == ["path", "body"]
    source = ast.unparse(module)
    assert "isinstance(reply, dict)" in source
    assert "os.environ.get('SCREWTAPE_API_KEY')" in source
    main = [node for node in module.body if isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)]
    assert len(main) == 1


@pytest.mark.promise("site.integration_crewai")
def test_the_crewai_tool_takes_a_task_and_an_output() -> None:
    module = tree("crewai")
    (tool,) = [
        node
        for node in module.body
        if isinstance(node, ast.ClassDef) and "BaseTool" in [ast.unparse(base) for base in node.bases]
    ]
    assert parameters(functions(tool)["_run"]) == ["self", "task", "agent_output"]
    (agent,) = [node for node in ast.walk(module) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Agent"]
    assert "tools" in [keyword.arg for keyword in agent.keywords]


@pytest.mark.promise("site.integration_langgraph")
def test_the_langgraph_example_has_one_node_that_stores_the_verdict() -> None:
    module = tree("langgraph")
    names = list(calls(module))
    assert "StateGraph" in names
    assert names.count("builder.add_node") == 1
    node = ast.unparse(functions(module)["judge"])
    assert "if name in state" in node
    assert "'evidence', 'criteria'" in node
    assert "return {'verdict': post('/v1/judge', body)}" in node


@pytest.mark.promise("site.integration_autogen")
def test_the_autogen_tool_is_called_without_a_model() -> None:
    source = ast.unparse(tree("autogen"))
    assert "FunctionTool(" in source
    assert "run_json(" in source
    assert "ChatCompletionClient" not in source


@pytest.mark.promise("site.integration_openai_agents")
def test_the_openai_agents_functions_are_decorated_tools() -> None:
    module = tree("openai-agents")
    for name in ("judge", "consensus"):
        assert [ast.unparse(mark) for mark in functions(module)[name].decorator_list] == ["function_tool"]


@pytest.mark.promise("site.integration_curl")
def test_the_curl_example_is_plain_sh() -> None:
    source = (FOLDER / "curl" / "screwtape_curl.sh").read_text(encoding="utf-8")
    assert source.startswith("#!/bin/sh\n")
    assert re.search(r"^set -eu$", source, re.MULTILINE)
    assert not re.search(r"\[\[|\bfunction \w|\$\(\(|<<<|pipefail", source)
    assert re.search(r'echo "SCREWTAPE_API_KEY is not set.*" >&2\n  exit 1\n', source)
