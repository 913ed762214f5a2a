"""Bodies that are too large, however they come, are refused before they are held."""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.leaks import watched
from tests.faults.process import forget_peak, memory_kb
from tests.live import Wire
from tests.test_workers import Server

LIMIT_KB = 2 * 1_024
MEGABYTE = b" " * 1_048_576


@pytest.fixture(scope="module")
def flooded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    folder: Path = tmp_path_factory.mktemp("bodies")
    with watched(f"sqlite:///{folder}/screwtape.db") as server:
        yield server, server.new_key()


def head(key: str, more: str) -> bytes:
    lines = "POST /v1/judge HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
    return f"{lines}Authorization: Bearer {key}\r\n{more}\r\n\r\n".encode()


def send_while_it_lasts(wire: Wire, part: bytes) -> None:
    """Up to a hundred times, as a client that looks at no answer."""
    for _ in range(100):
        try:
            wire.send(part)
        except OSError:
            return


def declared(wire: Wire, key: str) -> int:
    wire.send(head(key, "Content-Length: 104857600"))
    send_while_it_lasts(wire, MEGABYTE)
    return wire.receive().status


def without_length(wire: Wire, key: str) -> int:
    wire.send(head(key, "Transfer-Encoding: chunked"))
    send_while_it_lasts(wire, b"100000\r\n" + MEGABYTE + b"\r\n")
    return wire.receive().status


def bomb(wire: Wire, key: str) -> int:
    packed = gzip.compress(MEGABYTE * 100)
    wire.send(head(key, f"Content-Encoding: gzip\r\nContent-Length: {len(packed)}") + packed)
    return wire.receive().status


@pytest.mark.promise("http.body_limit")
@pytest.mark.parametrize(("flood", "status"), [(declared, 413), (without_length, 413), (bomb, 415)])
def test_a_flood_is_refused_and_takes_no_memory(
    flood: Callable[[Wire, str], int], status: int, flooded: tuple[Server, str]
) -> None:
    server, key = flooded
    for _ in range(3):
        with Wire(server.port) as wire:
            assert flood(wire, key) == status
    pid = server.process.pid
    forget_peak(pid)
    before = memory_kb(pid)
    for _ in range(5):
        with Wire(server.port) as wire:
            assert flood(wire, key) == status
    growth = memory_kb(pid, "VmHWM") - before
    print(f"{growth} KiB more at the highest")
    assert growth < 2 * LIMIT_KB
    assert server.request("GET", "/v1/health")[0] == 200
