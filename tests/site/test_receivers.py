"""The receivers that /drift shows, each run as it stands there, against deliveries of a real server."""

import base64
import hashlib
import hmac
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from standardwebhooks import Webhook

from api.core import webhooks
from api.core.times import rfc3339
from tests.examples import CONTENT
from tests.fakes.webhook_receiver import webhook_receiver
from tests.live import FakeClock
from tests.site.conftest import Project
from tests.web.hooks import Hooked, hooked_server

PAGES = CONTENT / "pages"
PROGRAMS = {
    "receive_alerts.py": [sys.executable],
    "receive_alerts_standard.py": [sys.executable],
    "receive_alerts.mjs": ["node"],
}


@contextmanager
def running(program: str, secret: str, port: int) -> Iterator["subprocess.Popen[str]"]:
    """The program, listening."""
    command = [*PROGRAMS[program], str(PAGES / program)]
    environment = {**os.environ, "SCREWTAPE_WEBHOOK_SECRET": secret, "PORT": str(port)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while not _listens(port):
            assert process.poll() is None, "it ended"
            assert time.monotonic() < deadline
        yield process
    finally:
        process.kill()
        process.communicate()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def post(port: int, body: bytes, headers: Mapping[str, str]) -> int:
    """The status that a receiver answers to a delivery of somebody else's making."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", body, dict(headers))
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


@pytest.mark.promise("webhooks.signature", "webhooks.standard", "site.drift_guide")
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_receiver_takes_real_deliveries_and_nothing_else(tmp_path: Path, program: str) -> None:
    assert shutil.which(PROGRAMS[program][0]), "the tests need Node"
    port, clock = free_port(), FakeClock(time.time())
    with hooked_server(tmp_path, f"sqlite:///{tmp_path}/screwtape.db", None, clock=clock) as hooked:
        hooked.change(alert_webhook_url=f"http://127.0.0.1:{port}/")
        with running(program, hooked.secret, port) as process:
            hooked.raise_alert("alr_1")
            assert hooked.deliver() == "1 delivered"
            hooked.raise_alert("alr_2")
            assert hooked.deliver() == "1 delivered"
            refuses(hooked, port)
            test = hooked.change(test_alert_webhook=True).json["test_delivery"]
            assert test["delivered"]
            process.kill()
            assert process.stdout is not None
            lines = process.stdout.read().split("\n")
    expected = ["drift.alert alr_1", "drift.alert alr_2", "drift.alert alr_3", f"drift.alert.test {test['id']}", ""]
    assert lines == expected, "each once"


def refuses(hooked: Hooked, port: int) -> None:
    """Repeats are answered and not handed on; what is unsigned, changed, signed otherwise or old is refused."""
    now = int(hooked.live.clock())

    def signed(alert_id: str, at: int, secret: str = hooked.secret) -> tuple[bytes, dict[str, str]]:
        alert = {"id": alert_id, "type": "drift.alert", "created_at": rfc3339(at)}
        body = webhooks.canonical(alert).encode()
        return body, webhooks.headers(alert_id, body, secret, at)

    body, headers = signed("alr_3", now)
    assert [post(port, body, headers) for _ in range(3)] == [204, 204, 204]
    assert post(port, body.replace(b"alr_3", b"alr_4"), headers) == 400
    assert post(port, body, {"Content-Type": "application/json"}) == 400
    assert post(port, *signed("alr_5", now, webhooks.new_secret(os.urandom))) == 400
    assert post(port, *signed("alr_6", now - 26 * 3_600)) == 400


def test_the_shell_script_tells_a_signed_body_from_another(tmp_path: Path) -> None:
    with (
        webhook_receiver() as receiver,
        hooked_server(tmp_path, f"sqlite:///{tmp_path}/screwtape.db", receiver) as hooked,
    ):
        hooked.raise_alert("alr_1")
        hooked.deliver()
        (received,) = receiver.received
        (tmp_path / "body").write_bytes(received.body)
        (tmp_path / "changed").write_bytes(received.body + b" ")

        def verify(file: str, secret: str) -> tuple[int, str]:
            done = subprocess.run(
                ["sh", str(PAGES / "verify_alert.sh"), str(tmp_path / file), received.headers["x-screwtape-signature"]],
                env={**os.environ, "SCREWTAPE_WEBHOOK_SECRET": secret},
                capture_output=True,
                text=True,
                check=False,
            )
            return done.returncode, done.stdout + done.stderr

        assert verify("body", hooked.secret) == (0, "signed\n")
        assert verify("changed", hooked.secret) == (1, "not signed with this secret\n")
        assert verify("body", hooked.secret + "x") == (1, "not signed with this secret\n")


@pytest.mark.promise("site.drift_guide")
def test_the_delivery_on_the_page_is_signed_with_the_secret_of_the_example(built: Project) -> None:
    text = (built.out / "drift.md").read_text(encoding="utf-8")
    match = re.search(r"```http\n(.*?)\n\n(\{.*?\})\n```", text, re.DOTALL)
    assert match
    lines, body = match[1].split("\n"), match[2].encode()
    headers = dict(line.split(": ", 1) for line in lines[1:])
    secret = "whsec_RXhhbXBsZUV4YW1wbGVFeGFtcGxlRXhhbXBsZQ=="
    digest = hmac.new(secret.encode(), body, hashlib.sha256).digest()
    assert headers["X-Screwtape-Signature"] == base64.urlsafe_b64encode(digest).decode().rstrip("=")
    alert = json.loads(body)
    assert alert["id"] == headers["webhook-id"]
    assert (alert["type"], alert["alg"]) == ("drift.alert", "HMAC-SHA256")
    assert json.dumps(alert, sort_keys=True, separators=(",", ":")).encode() == body
    sent_at = datetime.fromtimestamp(int(headers["webhook-timestamp"]), UTC)
    signed = Webhook(secret).sign(headers["webhook-id"], sent_at, body.decode())
    assert headers["webhook-signature"] == signed


@pytest.mark.promise("site.drift_guide")
def test_the_page_explains_what_it_promises_to_and_shows_the_files_as_they_are(built: Project) -> None:
    text = (built.out / "drift.md").read_text(encoding="utf-8")
    for word in (
        "agent_id",
        "untagged",
        "fail_rate",
        "false_consensus_risk",
        "at least 20 calls",
        "0.10",
        "created_at",
    ):
        assert word in text, word
    for name in (*PROGRAMS, "verify_alert.sh"):
        assert (PAGES / name).read_text(encoding="utf-8").rstrip() in text, name
