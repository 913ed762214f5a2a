"""What `make dev` serves: the pages of the newest build with a script that reloads them, the faults of a build that
failed instead of them, and the API of a server behind it."""

import http.client
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from site_build.check import API_PATHS
from site_build.kept import MANIFEST

SCRIPT = Path(__file__).with_name("reload.js")
POLL_SECONDS = 25.0
"""How long a page's question for a newer build stays open before it is answered with the same one."""

_CSP = (
    "default-src 'none'; script-src 'self'{hashes}; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "proxy-connection"})
_FAULTS = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>The build failed</title></head>
<body><h1>The build failed</h1><pre>{faults}</pre>
<p>This page loads itself again when a build is done.</p></body></html>
"""


@dataclass(frozen=True, slots=True)
class State:
    """A build: its number from 1, and what was wrong with it, "" for nothing."""

    build: int = 0
    faults: str = ""


class Builds:
    """The newest build. Threads wait here for the next."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.newest = State()

    def done(self, faults: str) -> State:
        """Notes a build and wakes who waits."""
        with self._changed:
            self.newest = State(self.newest.build + 1, faults)
            self._changed.notify_all()
            return self.newest

    def after(self, seen: str) -> State:
        """The newest build as soon as it is another one than `seen`; after POLL_SECONDS whichever there is."""
        with self._changed:
            self._changed.wait_for(lambda: str(self.newest.build) != seen, POLL_SECONDS)
            return self.newest


class DevServer(ThreadingHTTPServer):
    """Listens on `port` of this machine only; `api_port` is where the API answers."""

    daemon_threads = True

    def __init__(self, port: int, api_port: int, dist: Path, builds: Builds) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.api_port, self.dist, self.builds = api_port, dist, builds


class _Handler(BaseHTTPRequestHandler):
    server: DevServer
    protocol_version = "HTTP/1.1"

    def _any(self) -> None:
        path = urlsplit(self.path).path
        if API_PATHS.match(path) or path == "/metrics":
            self._forward()
        elif self.command not in ("GET", "HEAD"):
            self._send(405, "text/plain; charset=utf-8", b"Pages take GET and HEAD.\n")
        elif path == "/-dev/build":
            seen = parse_qs(urlsplit(self.path).query).get("seen", [""])[0]
            body = json.dumps({"build": self.server.builds.after(seen).build}).encode()
            self._send(200, "application/json", body)
        elif path == "/-dev/reload.js":
            self._send(200, "text/javascript; charset=utf-8", SCRIPT.read_bytes())
        else:
            self._page(path)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _any  # noqa: N815 - names that http.server calls

    def _page(self, path: str) -> None:
        state = self.server.builds.newest
        routes = _routes(self.server.dist)
        row = routes.get(path)
        if state.faults and (row is None or row["type"].startswith("text/html")):
            page = _FAULTS.format(faults=escape(state.faults)).encode()
            self._send(500, "text/html; charset=utf-8", _with_script(page, state.build), _CSP.format(hashes=""))
            return
        status, row = (200, row) if row else (404, routes.get("/404.html"))
        if row is None:
            self._send(404, "text/plain; charset=utf-8", b"There is no such page.\n")
            return
        body, policy = (self.server.dist / row["file"]).read_bytes(), ""
        if row["type"].startswith("text/html"):
            body = _with_script(body, state.build)
            policy = _CSP.format(hashes="".join(f" '{digest}'" for digest in row.get("script_hashes", ())))
        self._send(status, row["type"], body, policy)

    def _send(self, status: int, kind: str, body: bytes, policy: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        if policy:
            self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _forward(self) -> None:
        """Passes a call on to the API, and its answer back."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        connection = http.client.HTTPConnection("127.0.0.1", self.server.api_port, timeout=60)
        try:
            connection.request(self.command, self.path, body or None, _passed(dict(self.headers)))
            answer = connection.getresponse()
            content = answer.read()
        except OSError as error:
            self._send(502, "text/plain; charset=utf-8", f"The API does not answer: {error}\n".encode())
            return
        finally:
            connection.close()
        self.send_response(answer.status)
        for name, value in _passed(dict(answer.getheaders())).items():
            if name.lower() not in ("content-length", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Says nothing: what is built is said by the builder."""


def _passed(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _HOP_BY_HOP}


def _with_script(page: bytes, build: int) -> bytes:
    return page.replace(
        b"</head>", f'<script src="/-dev/reload.js" data-build="{build}" defer></script></head>'.encode(), 1
    )


def _routes(dist: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((dist / MANIFEST).read_text(encoding="utf-8"))["routes"]
    except OSError:
        return {}
    return found
