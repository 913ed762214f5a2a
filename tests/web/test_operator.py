"""Readiness and metrics over a real socket; tests/web/test_admin.py has the operator's other routes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live import Live, live_server
from tests.problem_checks import assert_problem

TOKEN = "operator-token-of-these-tests"


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with live_server(tmp_path, ADMIN_TOKEN=TOKEN) as server:
        server.new_key()
        yield server


@pytest.mark.promise("ops.ready")
def test_ready_asks_the_database(live: Live) -> None:
    answer = live.request("GET", "/v1/ready")
    assert (answer.status, answer.json) == (200, {"status": "ready"})


@pytest.mark.promise("ops.metrics")
def test_metrics_are_the_operators_and_hold_no_content(live: Live) -> None:
    body = {"task": "MARKER", "agent_output": "MARKER", "agent_id": "MARKER"}
    live.request("POST", "/v1/judge", body, key=live.keys[0])
    live.request("GET", "/v1/MARKER?MARKER=MARKER", headers={"User-Agent": "MARKER"})
    for token in (None, TOKEN + "x", live.keys[0]):
        # Answered as any path of the site would be, which is not built here.
        assert_problem(live.request("GET", "/metrics", key=token), "site_unavailable")
    answer = live.request("GET", "/metrics", key=TOKEN)
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain")
    assert b"judge" in answer.body
    assert b"MARKER" not in answer.body
    assert live.keys[0][12:].encode() not in answer.body


@pytest.mark.promise("ops.metrics")
def test_metrics_do_not_exist_without_a_token(tmp_path: Path) -> None:
    with live_server(tmp_path) as live:
        assert_problem(live.request("GET", "/metrics", key=TOKEN), "site_unavailable")
