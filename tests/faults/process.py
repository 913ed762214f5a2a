"""What a server's process holds, read from /proc, and waiting for it to become so."""

import os
import select
from collections.abc import Callable
from pathlib import Path
from time import monotonic


def descriptors(pid: int) -> int:
    """How many files and sockets the process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def memory_kb(pid: int, field: str = "VmRSS") -> int:
    """Resident memory of the process now, or at its highest ("VmHWM")."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1])
    raise AssertionError(f"no {field}")


def forget_peak(pid: int) -> None:
    """Makes the present memory the highest so far (proc(5), clear_refs)."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def until(condition: Callable[[], bool], limit_s: float) -> None:
    """Looks again and again until it is so. Fails after `limit_s`."""
    give_up = monotonic() + limit_s
    while not condition():
        assert monotonic() < give_up, "it never became so"
        select.select([], [], [], 0.01)


def p99(seconds: list[float]) -> float:
    """The 99th percentile."""
    return sorted(seconds)[int(len(seconds) * 0.99)]
