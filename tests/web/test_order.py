"""The order of checks: of two things wrong with one request, the earlier is told."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

import pytest

from tests.live import Live, live_server
from tests.problem_checks import assert_problem

GOOD = b'{"task": "t", "agent_output": "o"}'
TOO_LARGE = b" " * 2_097_153
BURST = 120


@dataclass(frozen=True)
class Server:
    """A server and its four keys, by what is wrong with each."""

    live: Live
    keys: dict[frozenset[str], str]


@dataclass(frozen=True)
class Sent:
    """A request in the making. `wrong` names what is wrong with its key."""

    body: bytes = GOOD
    media_type: str = "application/json"
    authorization: str | None = ""
    wrong: frozenset[str] = field(default_factory=frozenset)


FAULTS = {
    "payload_too_large": lambda sent: replace(sent, body=TOO_LARGE),
    "unknown_key": lambda sent: replace(sent, authorization="Bearer scr_unknown"),
    "payment_required": lambda sent: replace(sent, authorization=None),
    "rate_limited": lambda sent: replace(sent, wrong=sent.wrong | {"rate_limited"}),
    "unsupported_media_type": lambda sent: replace(sent, media_type="text/plain"),
    "malformed_json": lambda sent: replace(sent, body=b"{"),
    "invalid_request": lambda sent: replace(sent, body=b"{}"),
    "quota_exceeded": lambda sent: replace(sent, wrong=sent.wrong | {"quota_exceeded"}),
}
"""What can be wrong with a request, in the order in which it is looked for. Of two, the later is applied first."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("order")
    with live_server(folder, KEY_REQUESTS_PER_SECOND=str(BURST // 4)) as live:
        by_key = ("rate_limited", "quota_exceeded")
        wrongs = [frozenset(some) for n in range(3) for some in combinations(by_key, n)]
        keys = {wrong: live.new_key(f"{n}@example.com") for n, wrong in enumerate(wrongs)}
        for wrong, key in keys.items():
            if "quota_exceeded" in wrong:
                live.use_up(key)
        live.clock.now += 10  # the buckets are full again
        for wrong, key in keys.items():
            if "rate_limited" in wrong:
                for _ in range(BURST):
                    assert live.request("GET", "/v1/keys/me", key=key).status == 200
        yield Server(live, keys)


def send(server: Server, sent: Sent, code: str) -> None:
    headers = {"Content-Type": sent.media_type}
    if sent.authorization is not None:
        headers["Authorization"] = sent.authorization or f"Bearer {server.keys[sent.wrong]}"
    assert_problem(server.live.request("POST", "/v1/judge", sent.body, headers=headers), code)


@pytest.mark.promise("http.check_order")
@pytest.mark.parametrize("code", FAULTS)
def test_each_fault_alone_is_told(server: Server, code: str) -> None:
    send(server, FAULTS[code](Sent()), code)


@pytest.mark.promise("http.check_order")
@pytest.mark.parametrize(("earlier", "later"), list(combinations(FAULTS, 2)))
def test_of_two_faults_the_earlier_is_told(server: Server, earlier: str, later: str) -> None:
    send(server, FAULTS[earlier](FAULTS[later](Sent())), earlier)


def test_a_request_with_no_fault_is_answered(server: Server) -> None:
    answer = server.live.request("POST", "/v1/judge", GOOD, key=server.keys[frozenset()])
    assert answer.status == 200
