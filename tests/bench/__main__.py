"""Measures the server beside others, on this machine, and prints Markdown tables. Run by `make bench`.

SECONDS and ROUNDS, from the environment, say how long a run takes and of how many runs the median is. `--page FILE`
also writes everything to a file that the site shows.
"""

import argparse
import os
import platform
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from tests.bench import calls, mixed, node, pages
from tests.bench.servers import Servers

SECONDS = int(os.environ.get("SECONDS", "5"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
SECTIONS = {
    "A metered call": calls.table,
    "A small call beside the largest": mixed.table,
    "A page of the site": pages.table,
}


def main() -> None:
    """Prints one table after the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("--page", type=Path, help="also write the tables to this file")
    page = parser.parse_args().page
    for tool, package in (("wrk", "wrk"), ("/usr/sbin/nginx", "nginx")):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is missing. Install it: apt-get install {package}")
    parts = [_machine()]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Servers(folder, node.binary()) as servers:
            for title, table in SECTIONS.items():
                parts.append(f"### {title}\n\n{table(servers, folder, SECONDS, ROUNDS)}")
                print(parts[-1], end="\n\n", flush=True)
    if page is not None:
        page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _machine() -> str:
    day = datetime.now(UTC).strftime("%-d %B %Y")
    return (
        f"Measured on {day}: {os.cpu_count()} cores of {_processor()}, Linux {platform.release()}, Python "
        f"{platform.python_version()}. Medians of {ROUNDS} interleaved runs of {SECONDS} s; load and servers share the "
        "machine."
    )


def _processor() -> str:
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return names[0].partition(":")[2].strip() if names else platform.machine()


if __name__ == "__main__":
    main()
