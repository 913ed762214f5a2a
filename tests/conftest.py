"""What every test shares: servers, and the rule that nothing may log an error unseen."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.databases import database as database  # fixtures are found by being here
from tests.databases import database_url as database_url
from tests.databases import postgres_url as postgres_url
from tests.databases import run as run
from tests.live import Live, live_server

# The same examples in every run, and no verdict by the clock: a failure is the code's and not the day's.
settings.register_profile("steady", derandomize=True, database=None, deadline=None)
settings.load_profile("steady")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "promise(id): the test shows the promise of that id in tests/requirements.yaml")
    config.addinivalue_line("markers", "logs_errors: the test makes the product log an error and looks at it")


@pytest.fixture(autouse=True)
def _no_stray_errors(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fails a test during which a warning or an error was logged, unless it says that it looks at them."""
    yield
    if request.node.get_closest_marker("logs_errors") is None:
        stray = [record for record in caplog.get_records("call") if record.levelno >= logging.WARNING]
        assert not stray, [record.getMessage() for record in stray]


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    """A server on SQLite without a site, whose clock stands at noon UTC."""
    with live_server(tmp_path) as server:
        yield server
