"""`make dev`: builds the site for this machine's address, serves it with the API, and builds again on every save.

Run as `python -m site_build.dev`. PORT is where it listens, 8000 unless set. Every build is said in a line on standard
output. Changes of Python code want a new start.
"""

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

from site_build import tree
from site_build.build import build
from site_build.devserver import Builds, DevServer
from site_build.faults import BuildFailed
from site_build.tree import Sources

LOOK_SECONDS = 0.25
"""Between two looks at the times of all source files."""


class Api:
    """The API in a process of its own, behind the pages. It reads the contract when it starts."""

    def __init__(self, base_url: str) -> None:
        self._base_url, self.port = base_url, _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it, or starts it anew."""
        self.stop()
        settings = {
            "HOST": "127.0.0.1",
            "PORT": str(self.port),
            "PUBLIC_BASE_URL": self._base_url,
            "LOG_LEVEL": "warning",
        }
        command = [sys.executable, "-m", "api", "serve"]
        self._process = subprocess.Popen(command, cwd=tree.ROOT, env={**os.environ, **settings})  # noqa: S603 - ours

    def wait(self, stop: threading.Event) -> bool:
        """Whether it answers; waits until it does, has ended, or `stop` is set."""
        while self._process is not None and self._process.poll() is None and not stop.wait(0.05):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return True
        return False

    def stop(self) -> None:
        """Waits until it is gone."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()


class Watcher:
    """Builds when a file of the sources is another than before."""

    def __init__(self, content: Path, templates: Path, out: Path, cache: Path, base_url: str) -> None:
        self._content, self._templates, self._out, self._cache = content, templates, out, cache
        self._base_url = base_url
        self._seen: dict[str, tuple[int, int]] = {}
        self._shared = b""
        self.builds = Builds()

    def look(self) -> bool:
        """Builds when something changed since the last look; whether the API must start anew for it."""
        now = _times(self._content) | _times(self._templates)
        if now == self._seen:
            return False
        self._seen = now
        sources = Sources.read(self._content, self._templates)
        faults, shared = "", sources.contract_digest()
        try:
            said = build(sources, self._out, self._base_url, "", self._cache)
        except BuildFailed as failed:
            faults = said = str(failed)
        state = self.builds.done(faults)
        print(f"build {state.build}: {said}", flush=True)
        anew = not faults and shared != self._shared
        self._shared = self._shared if faults else shared
        return anew


def main(arguments: list[str] | None = None) -> int:
    """Serves until it is told to stop."""
    parser = argparse.ArgumentParser(prog="python -m site_build.dev", description="Serves the site as you write it.")
    parser.add_argument("--content", type=Path, default=tree.ROOT / "content", metavar="DIR")
    parser.add_argument("--templates", type=Path, default=tree.ROOT / "templates", metavar="DIR")
    parser.add_argument(
        "--work", type=Path, default=tree.ROOT / ".cache" / "dev", metavar="DIR", help="for its own dist"
    )
    parser.add_argument("--port", type=int, default=int(os.environ.get("PORT", "8000")))
    options = parser.parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    port = options.port or _free_port()
    base_url = f"http://127.0.0.1:{port}"
    watcher = Watcher(options.content, options.templates, options.work / "dist", options.work / "site.db", base_url)
    api, stop = Api(base_url), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        server = DevServer(port, api.port, options.work / "dist", watcher.builds)
    except OSError as error:
        print(f"Can't listen on 127.0.0.1:{port}: {error.strerror}. Set PORT.", file=sys.stderr)
        return 1
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        print(f"serving {base_url}", flush=True)
        while True:
            if watcher.look():
                api.start()
                print("the API is ready" if api.wait(stop) else "the API did not start", flush=True)
            if stop.wait(LOOK_SECONDS):
                return 0
    finally:
        server.shutdown()
        api.stop()


def _times(top: Path) -> dict[str, tuple[int, int]]:
    """The time of change and the size of each file. One that goes while this looks is gone at the next look."""
    found = {}
    for path in tree.files(str(top)):
        try:
            stat = os.stat(path)
        except OSError:
            continue
        found[path] = (stat.st_mtime_ns, stat.st_size)
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    sys.exit(main())
