"""Fault 25, and what several processes and kill -9 do to deliveries: real processes, a real receiver."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from api.service.deliveries import HELD_S
from tests.databases import ROOT
from tests.fakes.webhook_receiver import webhook_receiver
from tests.live import FakeClock
from tests.web.hooks import Hooked, hooked_server
from tests.web.ledger import SECRET_KEY


def job(database_url: str) -> "subprocess.Popen[str]":
    """A process that delivers what is due, by the machine's clock."""
    settings = {"DATABASE_URL": database_url, "SECRET_KEY": SECRET_KEY, "WEBHOOK_ALLOW_PRIVATE": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "api", "jobs", "run", "webhook_deliveries"],
        cwd=ROOT,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def done(process: "subprocess.Popen[str]") -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return str(json.loads(out)["done"])


def alerts(hooked: Hooked, count: int) -> list[str]:
    """So many alerts, each of a key of its own with the same receiver, so that all may be sent at once."""
    url = hooked.live.request("GET", "/v1/account/settings", key=hooked.key).json["alert_webhook_url"]
    for n in range(count):
        one = Hooked(hooked.live, hooked.live.new_key(f"dev{n}@example.com"))
        one.change(alert_webhook_url=url)
        assert one.raise_alert(f"alr_{n:03}")
    return [f"alr_{n:03}" for n in range(count)]


@pytest.mark.promise("webhooks.retries")
def test_three_processes_send_each_delivery_once(tmp_path: Path, database_url: str) -> None:
    with webhook_receiver() as receiver:
        with hooked_server(tmp_path, database_url, receiver, clock=FakeClock(time.time() - 1)) as hooked:
            raised = alerts(hooked, 60)
            processes = [job(database_url) for _ in range(3)]
            reports = [done(process) for process in processes]
            assert sorted(receiver.ids) == raised
            assert {hooked.shown(alert_id)["attempts"] for alert_id in raised} == {1}
        assert sum(int(report.split()[0]) for report in reports if report.endswith("delivered")) == len(raised)


@pytest.mark.promise("webhooks.retries")
def test_a_process_killed_while_it_sends_loses_nothing_and_the_id_stays(tmp_path: Path, database_url: str) -> None:
    with (
        webhook_receiver() as receiver,
        hooked_server(tmp_path, database_url, receiver, clock=FakeClock(time.time() - 1)) as hooked,
    ):
        raised = alerts(hooked, 5)
        receiver.answer = "hang"
        killed = job(database_url)
        assert receiver.wait_for(5)
        killed.send_signal(signal.SIGKILL)
        killed.communicate(timeout=60)
        receiver.answer = 200
        assert done(job(database_url)) == "nothing to do", "they may still be on their way"
        hooked.live.clock.now = time.time() + HELD_S + 1
        assert hooked.deliver() == "5 delivered"
        assert Counter(receiver.ids) == dict.fromkeys(raised, 2)
        bodies = {(one.headers["webhook-id"], one.body) for one in receiver.received}
        assert len(bodies) == 5, "and the body is the same"
        assert {hooked.shown(alert_id)["attempts"] for alert_id in raised} == {2}
