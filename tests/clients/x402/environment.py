"""What the tests of real settlement run with, made once below .cache and again when its pins change: a virtual
environment with the official Python packages, and a folder with those of npm."""

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
PROGRAMS = ("buyer.mjs",)
"""Node looks for packages beside the program, so they are copied."""


@cache
def python() -> Path:
    """The interpreter that has x402 with its EVM parts."""
    home, pins = CACHE / "venvs" / "x402", HERE / "requirements.txt"
    interpreter = home / "bin" / "python"
    if _is_stale(home, pins.read_bytes() + sys.version.encode()):
        _run([sys.executable, "-m", "venv", "--clear", str(home)])
        _run([str(interpreter), "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", str(pins)])
        _stamp(home, pins.read_bytes() + sys.version.encode())
    return interpreter


@cache
def node_folder() -> Path:
    """The folder in which Node finds the packages, and our programs."""
    home, pins = CACHE / "npm" / "x402", [HERE / "package.json", HERE / "package-lock.json"]
    content = b"".join(pin.read_bytes() for pin in pins)
    if _is_stale(home, content):
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        for pin in pins:
            shutil.copy(pin, home)
        _run(["npm", "ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund"], home)
        _stamp(home, content)
    for program in PROGRAMS:
        shutil.copy(HERE / program, home)
    return home


def anvil() -> Path:
    """The program that is a chain."""
    return node_folder() / "node_modules" / "@foundry-rs" / "anvil-linux-amd64" / "bin" / "anvil"


def run_python(program: str, *arguments: str) -> str:
    """What a program beside this file prints, run with the official packages."""
    return _run([str(python()), str(HERE / program), *arguments])


def run_node(program: str, *arguments: str) -> str:
    """What one of PROGRAMS prints."""
    return _run(["node", program, *arguments], node_folder())


def clean_environment() -> dict[str, str]:
    """Ours without what would make another Python look for packages here."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _is_stale(home: Path, content: bytes) -> bool:
    stamp = home / "installed"
    return not stamp.exists() or stamp.read_text() != hashlib.sha256(content).hexdigest()


def _stamp(home: Path, content: bytes) -> None:
    (home / "installed").write_text(hashlib.sha256(content).hexdigest())


def _run(words: list[str], folder: Path = ROOT) -> str:
    done = subprocess.run(
        words,
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=INSTALL_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{shlex.join(words)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout
