"""A page of the site, served by us and by nginx from the same folder."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.load import Run, finish, median, start
from tests.bench.servers import OURS, ROOT, Servers, free_port, wait_for

CONNECTIONS = 32
PAGE = "/docs"
_NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 512; }}
http {{
  access_log off; include /etc/nginx/mime.types; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  sendfile on; open_file_cache max=100;
  server {{ listen 127.0.0.1:{port}; root {root}; location / {{ try_files $uri $uri.html =404; }} }}
}}
"""


def table(servers: Servers, folder: Path, seconds: int, rounds: int) -> str:
    """The Markdown table: the reference page, uncompressed, over kept connections."""
    with _nginx(folder) as port:
        ports = {OURS: servers.ports[OURS], "nginx, one worker": port}
        runs: dict[str, list[Run]] = {name: [] for name in ports}
        for _ in range(rounds):
            for name, its in ports.items():
                runs[name].append(finish(start(its, CONNECTIONS, seconds, path=PAGE)))
    lines = ["| server | pages/s | p50 ms | p99 ms |", "|---|---|---|---|"]
    for name, found in runs.items():
        run = median(found)
        lines.append(f"| {name} | {run.per_second:,.0f} | {run.p50:.2f} | {run.p99:.2f} |")
    return "\n".join(lines)


@contextmanager
def _nginx(folder: Path) -> Iterator[int]:
    port, configuration = free_port(), folder / "nginx.conf"
    configuration.write_text(_NGINX.format(folder=folder, port=port, root=ROOT / "dist"))
    # Debian keeps it where only root's PATH looks.
    process = subprocess.Popen(["/usr/sbin/nginx", "-c", str(configuration), "-e", str(folder / "nginx.log")])
    try:
        wait_for(process, port)
        yield port
    finally:
        process.terminate()
        process.wait()
