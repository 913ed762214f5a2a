"""A small call while the largest ones run: does one caller wait for another?"""

import json
from pathlib import Path

from tests.bench.answer import REQUEST
from tests.bench.load import Run, calls_script, finish, median, start
from tests.bench.servers import OURS, Servers

SMALL, LARGE = 4, 4
ANSWERS, CHARACTERS = 16, 15_000


def largest() -> str:
    """A consensus request near the largest that is accepted: 16 answers, 240,000 characters, each of them different."""
    words = [f"word{number}" for number in range(3_000)]
    answers = [{"output": " ".join(words[place:] + words[:place])[:CHARACTERS]} for place in range(ANSWERS)]
    return json.dumps({"task": "Compare.", "answers": answers})


def table(servers: Servers, folder: Path, seconds: int, rounds: int) -> str:
    """The Markdown table: the small call by itself, and beside large ones on other connections."""
    small = calls_script(folder, "small", servers.keys_file, REQUEST)
    large = calls_script(folder, "large", servers.keys_file, largest())
    port = servers.ports[OURS]
    alone, beside, heavy = [], [], []
    for _ in range(rounds):
        alone.append(finish(start(port, SMALL, seconds, "-s", str(small))))
        loading = start(port, LARGE, seconds + 1, "-s", str(large))
        beside.append(finish(start(port, SMALL, seconds, "-s", str(small))))
        heavy.append(finish(loading, may_refuse=True))
    rows = {"small calls alone": alone, "small calls beside large ones": beside, "the large ones": heavy}
    lines = ["| what | calls/s | p50 ms | p99 ms |", "|---|---|---|---|"]
    return "\n".join([*lines, *(_row(name, median(runs)) for name, runs in rows.items())])


def _row(name: str, run: Run) -> str:
    return f"| {name} | {run.per_second:,.1f} | {run.p50:.2f} | {run.p99:.2f} |"
