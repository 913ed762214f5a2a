"""A model that fails in every way, and a stop while it hangs: documented text, bounded time and memory, one charge."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import pytest

from tests.examples import example
from tests.fakes.model import (
    CLOSES,
    CUT,
    DRIPS,
    GARBAGE,
    HANGS,
    HUGE,
    HUGE_UNSIZED,
    PRIMARY,
    Behaviour,
    FakeModel,
    always,
    fake_model,
    honest,
    refusing,
    replying,
)
from tests.live import Wire
from tests.test_workers import LIMIT_S, STOP_LIMIT_S, Server, running
from tests.web.llm import FAILED, JUDGED, UNUSABLE

TIMEOUT_S = 1
FIVE_TIMES = 5
GROWTH = 64 * 2**20
"""What 16 answers of 50 MB each may add to the server's memory, five times as much as they are bounded to, and more
than its own coming and going."""


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with fake_model() as fake:
        yield fake


@pytest.fixture
def server(tmp_path: Path, model: FakeModel) -> Iterator[Server]:
    settings = {**model.settings, "LLM_TIMEOUT_S": str(TIMEOUT_S)}
    with running(f"sqlite:///{tmp_path}/screwtape.db", workers=1, **settings) as started:
        yield started


WAYS: dict[str, tuple[Behaviour, str]] = {
    "well": (honest, JUDGED),
    "404, then well": (refusing(404), JUDGED),
    "500, then well": (refusing(500), JUDGED),
    "429": (refusing(429), FAILED),
    "hangs": (always(HANGS), FAILED),
    "drips": (always(DRIPS), FAILED),
    "closes": (always(CLOSES), FAILED),
    "cut off": (always(CUT), FAILED),
    "50 MB": (always(HUGE), FAILED),
    "50 MB without a length": (always(HUGE_UNSIZED), FAILED),
    "garbage": (always(GARBAGE), UNUSABLE),
    "truncated": (replying('{"verdict": "pass", "score": 0.9, "rea'), UNUSABLE),
}


@pytest.mark.promise("llm.bounded")
@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_fail_has_its_text_takes_bounded_time_and_one_charge(
    server: Server, model: FakeModel, way: str
) -> None:
    behaviour, text = WAYS[way]
    key = server.new_key()
    model.next_of[PRIMARY].append(behaviour)
    began = monotonic()
    status, body = server.request("POST", "/v1/judge", example("judge"), key)
    assert monotonic() - began < FIVE_TIMES * 2 * TIMEOUT_S
    assert (status, body["reasons"][-1]) == (200, text)
    assert server.used(key) == 1


def resident(server: Server) -> int:
    """Bytes of memory that the server holds at most so far."""
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


@pytest.mark.promise("llm.bounded")
def test_endless_answers_cost_little_memory(server: Server, model: FakeModel) -> None:
    key = server.new_key()
    assert server.request("POST", "/v1/judge", example("judge"), key)[0] == 200
    before = resident(server)
    model.always = always(HUGE_UNSIZED)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: server.request("POST", "/v1/judge", example("judge"), key), range(16)))
    assert {(status, body["reasons"][-1]) for status, body in answers} == {(200, FAILED)}
    assert resident(server) - before < GROWTH
    assert server.used(key) == 17


@pytest.mark.promise("ops.graceful_stop")
def test_sigterm_with_a_hung_model_an_open_mcp_post_and_an_idle_client_exits_in_time(
    tmp_path: Path, model: FakeModel
) -> None:
    model.always = always(HANGS)
    url = f"sqlite:///{tmp_path}/screwtape.db"
    with running(url, workers=1, **model.settings) as server:
        key = server.new_key()
        with Wire(server.port) as idle, Wire(server.port) as rest, Wire(server.port) as mcp:
            idle.send_request("GET", "/v1/health")
            assert idle.receive().status == 200
            body = json.dumps(example("judge")).encode()
            rest.send_request("POST", "/v1/judge", body, Authorization=f"Bearer {key}", Content_Type="application/json")
            params = {"name": "judge", "arguments": example("judge")}
            message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
            mcp.send_request("POST", "/mcp", message, Authorization=f"Bearer {key}", Content_Type="application/json")
            for _ in range(2):
                assert model.arrived.acquire(timeout=LIMIT_S)
            server.process.terminate()
            assert rest.receive().json["reasons"][-1] == FAILED
            assert mcp.receive().json["result"]["structuredContent"]["reasons"][-1] == FAILED
            assert server.process.wait(STOP_LIMIT_S) == 0
            assert idle.is_closed()
    with running(url, workers=1) as server:
        assert server.used(key) == 2
