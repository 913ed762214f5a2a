"""`make serve`, as make runs it: a real build first, then the server, of a copy of the project with its own address."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from site_build.tree import ROOT

PIECES = ("Makefile", "requirements.txt", "requirements-dev.txt", "api", "site_build", "content", "templates")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what make needs. Its environment is the one that runs the tests, marked as installed."""
    for name in PIECES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path / name)
    (tmp_path / "tests" / "bench").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "bench" / "requirements.txt", tmp_path / "tests" / "bench")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    python = tmp_path / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return tmp_path


def serve(project: Path, **settings: str) -> str:
    """Runs `make serve` until the server listens, then ends it; what was said on standard output."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    stamp = (
        subprocess.run(["make", "-pn", "serve"], cwd=project, capture_output=True, text=True, check=False)
        .stdout.partition("\nRUN_STAMP := ")[2]
        .split("\n")[0]
    )
    (project / stamp).touch()
    environment = {name: value for name, value in os.environ.items() if name not in ("PUBLIC_BASE_URL", "MAKEFLAGS")}
    process = subprocess.Popen(
        ["make", "serve"],
        cwd=project,
        env=environment | {"PORT": port, "LOG_LEVEL": "info"} | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if "serving http:" in line:
            break
    else:
        pytest.fail("".join(lines))
    os.killpg(process.pid, signal.SIGTERM)
    said, _ = process.communicate(timeout=60)
    return said


@pytest.mark.promise("ops.make_serve_builds")
def test_make_serve_builds_what_is_missing_or_out_of_date_for_its_own_address(project: Path) -> None:
    home = project / "dist" / "index.html"
    assert "dist built" in serve(project)
    assert 'href="https://screwtape.ai/"' in home.read_text()
    made = home.stat().st_ino

    assert "dist is up to date" in serve(project)
    assert home.stat().st_ino == made

    page = project / "content" / "pages" / "privacy.md"
    page.write_text(page.read_text() + "\nOne more line.\n")
    assert "dist built" in serve(project)
    assert "One more line." in (project / "dist" / "privacy.html").read_text()

    assert "dist built" in serve(project, PUBLIC_BASE_URL="http://site.test")
    assert 'href="http://site.test/"' in home.read_text()
    assert "dist built" in serve(project)
    assert 'href="https://screwtape.ai/"' in home.read_text()
