"""Load from wrk, and what it measured."""

import re
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_UNITS = {"us": 0.001, "ms": 1.0, "s": 1_000.0}
_CALLS = """
local keys = {}
for key in io.lines("%s") do keys[#keys + 1] = key end
local file = io.open("%s")
local body = file:read("*a")
file:close()
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
    """One run's figures: answers per second, milliseconds."""

    per_second: float
    p50: float
    p99: float


def calls_script(folder: Path, name: str, keys_file: Path, body: str) -> Path:
    """A script of wrk's that posts `body` to /v1/consensus with one key after the other."""
    (folder / f"{name}.json").write_text(body)
    script = folder / f"{name}.lua"
    script.write_text(_CALLS % (keys_file, folder / f"{name}.json"))
    return script


def start(port: int, connections: int, seconds: int, *more: str, path: str = "/") -> "subprocess.Popen[str]":
    """Begins to load a server. `more`: options of wrk."""
    options = ["-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s", "--latency", *more]
    return subprocess.Popen(["wrk", *options, f"http://127.0.0.1:{port}{path}"], stdout=subprocess.PIPE, text=True)


def finish(loading: "subprocess.Popen[str]", *, may_refuse: bool = False) -> Run:
    """What it measured. Ends the bench when an answer was not a success and may not be: a fast refusal is no speed."""
    said, _ = loading.communicate()
    if "Non-2xx" in said and not may_refuse:
        sys.exit(f"calls were refused:\n{said}")
    rate = re.search(r"Requests/sec:\s+([\d.]+)", said)
    spread = {
        name: float(value) * _UNITS[unit] for name, value, unit in re.findall(r"(50|99)%\s+([\d.]+)(us|ms|s)", said)
    }
    if rate is None or len(spread) < 2:
        sys.exit(f"wrk said nothing of use:\n{said}")
    return Run(float(rate[1]), spread["50"], spread["99"])


def median(runs: list[Run]) -> Run:
    """The median of each figure."""
    return Run(*(statistics.median(getattr(run, name) for run in runs) for name in ("per_second", "p50", "p99")))
