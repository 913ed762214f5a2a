"""The server that the clients speak to, with the built site."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from site_build.build import build
from site_build.tree import Sources
from tests.examples import ROOT
from tests.live import Live, live_server


@dataclass(frozen=True)
class Served:
    """A server and a key of it."""

    live: Live
    key: str

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.live.port}"

    @property
    def url(self) -> str:
        return f"{self.base_url}/mcp"


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("mcp-clients")
    dist = folder / "dist"
    build(Sources.read(ROOT / "content", ROOT / "templates"), dist, "https://screwtape.ai", "", None)
    with live_server(folder, dist=dist) as live:
        yield Served(live, live.new_key())
