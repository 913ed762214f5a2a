"""Runs every file of content/integrations with the real package of its framework against a real server.

That is a server of these tests' own, or the one that SCREWTAPE_BASE_URL names, with the key in SCREWTAPE_API_KEY.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.contract import Contract, load
from tests.clients.integrations.environments import CONTENT, Integration, command, integrations
from tests.live import live_server

HERE = Path(__file__).parent
ALL = integrations()
NAMED = {integration.name: integration for integration in ALL}
RUNNABLE = [integration for integration in ALL if integration.language in ("python", "sh", "javascript")]
HELPED = [integration for integration in RUNNABLE if integration.language != "sh"]
RUN_TIMEOUT_S = 120
UNKNOWN_KEY = "scr_" + "0" * 42


def names(chosen: list[Integration]) -> list[str]:
    return [integration.name for integration in chosen]


@pytest.fixture(scope="session")
def contract() -> Contract:
    return load(CONTENT)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment variables that a reader sets: those of the caller, or of a server that runs for these tests."""
    if "SCREWTAPE_BASE_URL" in os.environ:
        yield {name: os.environ[name] for name in ("SCREWTAPE_BASE_URL", "SCREWTAPE_API_KEY")}
        return
    with live_server(tmp_path_factory.mktemp("server")) as live:
        yield {"SCREWTAPE_BASE_URL": f"http://127.0.0.1:{live.port}", "SCREWTAPE_API_KEY": live.new_key()}


class Listing(BaseHTTPRequestHandler):
    """Answers every POST with a JSON list."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"[]")

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture
def listing_server() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Listing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def run(integration: Integration, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs the file with `variables` and without a model key: no example may need one."""
    kept = {name: value for name, value in os.environ.items() if not re.match("SCREWTAPE_|OPENAI_|PYTHON", name)}
    return subprocess.run(
        command(integration),
        env=kept | variables,
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_S,
        check=False,
        cwd=integration.file.parent,
    )


def objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects that stand one after the other in `text`."""
    decoder, found = json.JSONDecoder(), []
    while text := text.lstrip():
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:]
    return found


def bodies(integration: Integration) -> dict[str, Any]:
    """The request bodies that stand in the file, by operation id."""
    source = integration.file.read_text()
    if integration.language == "sh":
        calls = re.findall(r"^post /v1/(\w+) '([^']*)'", source, re.MULTILINE)
        return {path: json.loads(body) for path, body in calls}
    if integration.language == "javascript":
        literals = re.findall(r"^const (JUDGE|CONSENSUS) = (\{.*?^\});", source, re.MULTILINE | re.DOTALL)
        # An object literal of plain values is a flow mapping of YAML too.
        return {name.lower(): yaml.safe_load(text) for name, text in literals}
    assigned = [node for node in ast.parse(source).body if isinstance(node, ast.Assign)]
    return {
        ast.unparse(node.targets[0]).lower(): ast.literal_eval(node.value)
        for node in assigned
        if isinstance(node.value, ast.Dict)
    }


@pytest.mark.promise("site.integrations_python_helper")
@pytest.mark.parametrize("integration", RUNNABLE, ids=names(RUNNABLE))
def test_it_prints_the_verdict_and_the_consensus(
    integration: Integration, server: dict[str, str], contract: Contract
) -> None:
    done = run(integration, server)
    assert done.returncode == 0, done.stderr
    verdict, consensus = objects(done.stdout)
    assert not contract.body_schema("JudgeResponse").faults(verdict)
    assert not contract.body_schema("ConsensusResponse").faults(consensus)
    assert verdict["verdict"] == "pass"
    assert consensus["false_consensus_risk"] == "high"
    assert verdict["request_id"] != consensus["request_id"]


@pytest.mark.promise("site.integration_curl")
@pytest.mark.parametrize("integration", RUNNABLE, ids=names(RUNNABLE))
def test_it_says_that_the_key_is_not_set(integration: Integration, server: dict[str, str]) -> None:
    done = run(integration, {"SCREWTAPE_BASE_URL": server["SCREWTAPE_BASE_URL"]})
    assert done.returncode == 1
    assert "SCREWTAPE_API_KEY is not set" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("integration", RUNNABLE, ids=names(RUNNABLE))
def test_it_shows_what_the_server_says_about_an_unknown_key(integration: Integration, server: dict[str, str]) -> None:
    done = run(integration, server | {"SCREWTAPE_API_KEY": UNKNOWN_KEY})
    assert done.returncode != 0
    assert "401" in done.stderr
    assert "key" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.promise("site.integrations_python_helper")
@pytest.mark.parametrize("integration", HELPED, ids=names(HELPED))
def test_it_refuses_a_reply_that_is_not_an_object(integration: Integration, listing_server: str) -> None:
    done = run(integration, {"SCREWTAPE_BASE_URL": listing_server, "SCREWTAPE_API_KEY": UNKNOWN_KEY})
    assert done.returncode == 1
    assert "the reply is not a JSON object" in done.stderr


@pytest.mark.parametrize("integration", RUNNABLE, ids=names(RUNNABLE))
def test_its_bodies_are_the_examples_of_the_contract(integration: Integration, contract: Contract) -> None:
    assert bodies(integration) == {id: contract.operations[id].example for id in ("judge", "consensus")}


@pytest.mark.promise("site.integrations_no_key")
@pytest.mark.parametrize("integration", ALL, ids=names(ALL))
def test_no_file_holds_a_key(integration: Integration) -> None:
    for file in integration.file.parent.iterdir():
        if file.is_file():
            text = file.read_text()
            assert not re.search(r"scr_[0-9A-Za-z]{8}", text), file
            assert file.suffix not in (".py", ".sh", ".json", ".mjs", ".toml") or "SCREWTAPE_API_KEY" in text, file


@pytest.mark.promise("site.integration_mcp")
def test_the_mcp_files_differ_in_what_their_clients_want() -> None:
    folder = CONTENT / "integrations" / "mcp"
    cursor = json.loads((folder / "screwtape_cursor.json").read_text())["mcpServers"]["screwtape"]
    claude = json.loads((folder / "screwtape_claude.json").read_text())["mcpServers"]["screwtape"]
    assert cursor.pop("headers") == {"Authorization": "Bearer ${env:SCREWTAPE_API_KEY}"}
    assert claude.pop("headers") == {"Authorization": "Bearer ${SCREWTAPE_API_KEY}"}
    assert claude == {"type": "http"} | cursor
    vscode = json.loads((folder / "screwtape_vscode.json").read_text())
    (asked,) = vscode["inputs"]
    assert asked["password"] is True
    assert vscode["servers"]["screwtape"].pop("headers") == {"Authorization": "Bearer ${input:SCREWTAPE_API_KEY}"}
    assert vscode["servers"]["screwtape"] == claude
    codex = tomllib.loads((folder / "screwtape_codex.toml").read_text())["mcp_servers"]["screwtape"]
    assert codex == {"url": cursor["url"], "bearer_token_env_var": "SCREWTAPE_API_KEY"}
    desktop = json.loads((folder / "screwtape_claude_desktop.json").read_text())["mcpServers"]["screwtape"]
    assert desktop["args"][2:] == [cursor["url"], "--header", "Authorization:Bearer ${SCREWTAPE_API_KEY}"]


def run_beside(integration: Integration, program: str, variables: dict[str, str]) -> str:
    """What a program of this folder prints that imports the integration's file."""
    runner, file = command(integration)
    place = Path(file).parent
    copied = Path(shutil.copy(HERE / program, place)) if integration.language == "javascript" else HERE / program
    done = subprocess.run(
        [runner, str(copied)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1", **variables},
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.promise("site.integration_pydantic_ai")
def test_what_pydantic_ai_does_not_let_through_goes_back_to_the_model(server: dict[str, str]) -> None:
    told, output = run_beside(NAMED["pydantic-ai"], "mend_with_pydantic_ai.py", server).rsplit("\n\n", 1)
    assert "5 is not 4" in told
    assert output == "The crew size was 4. The mission launched from Cape Canaveral.\n"


@pytest.mark.promise("site.integration_vercel_ai")
def test_a_model_of_the_vercel_ai_sdk_calls_the_tool(server: dict[str, str]) -> None:
    verdict = json.loads(run_beside(NAMED["vercel-ai"], "call_with_vercel_ai.mjs", server))
    assert verdict["verdict"] == "fail"
