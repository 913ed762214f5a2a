"""Runs every file of content/integrations with the real package of its framework against a real server.

That is a server of these tests' own, or the one that SCREWTAPE_BASE_URL names, with the key in SCREWTAPE_API_KEY.
"""

import ast
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from api.contract import Contract, load
from tests.clients.integrations.environments import CONTENT, Integration, command, integrations
from tests.live import live_server

ALL = integrations()
RUNNABLE = [integration for integration in ALL if integration.language in ("python", "sh")]
PYTHON = [integration for integration in ALL if integration.language == "python"]
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
    assigned = [node for node in ast.parse(source).body if isinstance(node, ast.Assign)]
    literals = [node for node in assigned if isinstance(node.value, ast.Dict)]
    return {ast.unparse(node.targets[0]).lower(): ast.literal_eval(node.value) for node in literals}


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
@pytest.mark.parametrize("integration", PYTHON, ids=names(PYTHON))
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
            assert file.suffix not in (".py", ".sh", ".json") or "SCREWTAPE_API_KEY" in text, file


@pytest.mark.promise("site.integration_mcp")
def test_the_mcp_files_differ_in_what_their_clients_want() -> None:
    folder = CONTENT / "integrations" / "mcp"
    cursor = json.loads((folder / "screwtape_cursor.json").read_text())["mcpServers"]["screwtape"]
    claude = json.loads((folder / "screwtape_claude.json").read_text())["mcpServers"]["screwtape"]
    assert cursor.pop("headers") == {"Authorization": "Bearer ${env:SCREWTAPE_API_KEY}"}
    assert claude.pop("headers") == {"Authorization": "Bearer ${SCREWTAPE_API_KEY}"}
    assert claude == {"type": "http"} | cursor
