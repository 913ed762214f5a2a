"""One metered call, ours beside others that answer the same: how many a second, and how long each takes."""

from pathlib import Path

from tests.bench.answer import REQUEST
from tests.bench.load import Run, calls_script, finish, median, start
from tests.bench.servers import Servers

CONNECTIONS = (1, 32, 128)


def table(servers: Servers, folder: Path, seconds: int, rounds: int) -> str:
    """The Markdown table: medians of `rounds` interleaved runs, so that whatever else the machine does falls on all
    alike. The last column is the ratio to bare Tornado."""
    script = calls_script(folder, "small", servers.keys_file, REQUEST)
    lines = ["| connections | server | calls/s | p50 ms | p99 ms | of bare |", "|---|---|---|---|---|---|"]
    for connections in CONNECTIONS:
        runs: dict[str, list[Run]] = {name: [] for name in servers.ports}
        for _ in range(rounds):
            for name, port in servers.ports.items():
                runs[name].append(finish(start(port, connections, seconds, "-s", str(script))))
        bare = median(runs["bare Tornado"]).per_second
        for name, its in runs.items():
            run = median(its)
            figures = f"{run.per_second:,.0f} | {run.p50:.2f} | {run.p99:.2f} | {run.per_second / bare:.2f}"
            lines.append(f"| {connections} | {name} | {figures} |")
    return "\n".join(lines)
