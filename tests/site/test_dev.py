"""`make dev`, as a process on a real port: what is saved is seen, what is broken is said, and the API is there."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from site_build.tree import ROOT
from tests.site.conftest import Project, copied


@dataclass(frozen=True)
class Dev:
    """The running process and what it serves."""

    process: subprocess.Popen[str]
    project: Project
    port: int

    def said(self, expected: str) -> str:
        """The next line of the process that holds `expected`."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if expected in line:
                return line
        raise AssertionError(f"it ended without saying {expected!r}")

    def get(self, path: str, method: str = "GET", body: str | None = None) -> tuple[int, str, http.client.HTTPMessage]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text, answer.headers


@pytest.fixture
def dev(tmp_path: Path) -> Iterator[Dev]:
    project = copied(tmp_path, None)
    command = [sys.executable, "-m", "site_build.dev", "--port", "0", f"--work={tmp_path / 'work'}"]
    command += [f"--content={project.content}", f"--templates={project.templates}"]
    settings = {"DATABASE_URL": f"sqlite:///{tmp_path / 'dev.db'}"}
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | settings, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = re.search(r"serving http://127\.0\.0\.1:(\d+)", process.stdout.readline())
        assert found is not None
        yield Dev(process, project, int(found[1]))
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 0


@pytest.mark.promise("ops.make_serve_builds")
def test_a_save_is_seen_a_fault_is_shown_and_mended(dev: Dev) -> None:
    dev.said("build 1: ")
    status, page, headers = dev.get("/privacy")
    assert status == 200
    assert f'rel="canonical" href="http://127.0.0.1:{dev.port}/privacy"' in page
    assert '<script src="/-dev/reload.js" data-build="1" defer>' in page
    assert "'unsafe-inline'" not in headers["Content-Security-Policy"]
    assert "/-dev/build" in dev.get("/-dev/reload.js")[1]

    dev.project.append("content/pages/privacy.md", "A line that was not there.")
    # The page's own question: it is answered when there is a newer build.
    assert json.loads(dev.get("/-dev/build?seen=1")[1]) == {"build": 2}
    assert "A line that was not there." in dev.get("/privacy")[1]

    line = dev.project.append("content/pages/privacy.md", "{{ nope }} < here")
    assert json.loads(dev.get("/-dev/build?seen=2")[1]) == {"build": 3}
    status, page, _ = dev.get("/privacy")
    assert status == 500
    assert f"pages/privacy.md:{line}:4: &#x27;nope&#x27; is undefined" in page
    assert 'data-build="3"' in page

    dev.project.edit("content/pages/privacy.md", "{{ nope }} < here", "Mended.")
    assert json.loads(dev.get("/-dev/build?seen=3")[1]) == {"build": 4}
    status, page, _ = dev.get("/privacy")
    assert (status, "Mended." in page) == (200, True)


def test_a_page_that_is_not_there_and_another_method(dev: Dev) -> None:
    dev.said("build 1: ")
    assert dev.get("/nowhere")[0] == 404
    assert dev.get("/privacy", "POST", "{}")[0] == 405
    assert dev.get("/privacy", "HEAD")[:2] == (200, "")
    assert dev.get("/openapi.json")[2]["Content-Type"] == "application/json"


def test_the_api_is_there_and_takes_the_pages_own_origin(dev: Dev) -> None:
    dev.said("the API is ready")
    status, text, _ = dev.get("/v1/health")
    assert (status, json.loads(text)["status"]) == (200, "ok")
    status, text, _ = dev.get("/v1/keys", "POST", '{"email": "dev@example.com", "name": "Dev"}')
    assert status == 201
    assert dev.get("/v1/nothing")[0] == 404
