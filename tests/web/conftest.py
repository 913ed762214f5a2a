"""Servers that tests over real sockets share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live import Live
from tests.web.ledger import ledger_server


@pytest.fixture
def ledger(tmp_path: Path, database_url: str) -> Iterator[Live]:
    """A server with an operator: the test runs once on SQLite and once on PostgreSQL."""
    with ledger_server(tmp_path, database_url) as server:
        yield server
