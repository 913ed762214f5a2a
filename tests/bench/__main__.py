"""Runs the three servers at once and loads them in turn, so that whatever else the machine does falls on all of
them alike.

Prints, for 1, 32 and 128 connections, calls per second, p50 and p99 as medians of the rounds, and the ratio to the
bare handler. Run by `make bench`; SECONDS and ROUNDS can be set.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.bench.answer import REQUEST
from tests.bench.servers import Servers

CONNECTIONS = (1, 32, 128)
SECONDS = int(os.environ.get("SECONDS", "5"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
_UNITS = {"us": 0.001, "ms": 1.0, "s": 1_000.0}
SCRIPT = """
local keys = {}
for key in io.lines("%s") do keys[#keys + 1] = key end
local body = [==[%s]==]
local requests, turn = {}, 0
init = function()
  for i, key in ipairs(keys) do
    local headers = {["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. key}
    requests[i] = wrk.format("POST", "/v1/consensus", headers, body)
  end
end
request = function() turn = turn %% #keys + 1; return requests[turn] end
"""


@dataclass(frozen=True)
class Run:
    """One run's figures: calls per second, milliseconds."""

    per_second: float
    p50: float
    p99: float


def load(port: int, connections: int, script: Path) -> Run:
    """Loads a server for SECONDS. Ends the bench when an answer is not 200: a fast refusal is no speed."""
    command = [
        "wrk",
        "-t1",
        f"-c{connections}",
        f"-d{SECONDS}s",
        "--latency",
        "-s",
        str(script),
        f"http://127.0.0.1:{port}",
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in said:
        sys.exit(f"port {port} refused calls:\n{said}")
    rate = re.search(r"Requests/sec:\s+([\d.]+)", said)
    spread = {
        name: float(value) * _UNITS[unit] for name, value, unit in re.findall(r"(50|99)%\s+([\d.]+)(us|ms|s)", said)
    }
    if rate is None:
        sys.exit(f"wrk said nothing of use:\n{said}")
    return Run(float(rate[1]), spread["50"], spread["99"])


def median(runs: list[Run]) -> Run:
    """The median of each figure."""
    return Run(*(statistics.median(getattr(run, name) for run in runs) for name in ("per_second", "p50", "p99")))


def main() -> None:
    """Prints the table as Markdown."""
    if shutil.which("wrk") is None:
        sys.exit("wrk is missing. Install it: apt-get install wrk")
    with tempfile.TemporaryDirectory() as folder, Servers(Path(folder)) as servers:
        script = Path(folder) / "load.lua"
        script.write_text(SCRIPT % (servers.keys_file, REQUEST))
        print("| connections | server | calls/s | p50 ms | p99 ms | of bare |\n|---|---|---|---|---|---|")
        for connections in CONNECTIONS:
            runs: dict[str, list[Run]] = {name: [] for name in servers.ports}
            for _ in range(ROUNDS):
                for name, port in servers.ports.items():
                    runs[name].append(load(port, connections, script))
            bare = median(runs["bare Tornado"]).per_second
            for name, its in runs.items():
                run = median(its)
                figures = f"{run.per_second:,.0f} | {run.p50:.2f} | {run.p99:.2f} | {run.per_second / bare:.2f}"
                print(f"| {connections} | {name} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
