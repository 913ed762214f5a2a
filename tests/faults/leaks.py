"""Servers whose every fault is followed by the same question: does anything that they wrote hold what it must not?"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.test_workers import LIMIT_S, Server, running

ADMIN = "operator-token-of-the-fault-tests"
MARK = "marzipan lighthouse"
"""Stands in every text that these tests have judged."""
JUDGE_BODY = {"task": f"Describe the {MARK}.", "agent_output": f"The {MARK} is tall.", "evidence": [f"A tall {MARK}."]}

_SECRETS = (
    re.compile(r"scr_[0-9A-Za-z]{9}"),  # a key beyond its prefix
    re.compile(r"(?i)\bbearer [^\"'` ]*[0-9]"),
    re.compile(r"whsec_[0-9A-Za-z+/]"),
    re.compile(r"sk_(test|live)_[0-9A-Za-z]"),
    re.compile(re.escape(ADMIN)),
    re.compile(re.escape(MARK)),
    re.compile(re.escape("only for tests")),  # SECRET_KEY of these servers
)


def leaks(text: str) -> list[str]:
    """What of `text` is a secret or was judged."""
    return [found.group() for secret in _SECRETS for found in secret.finditer(text)]


def assert_no_leak(texts: Iterable[str]) -> None:
    """Fails when one of `texts` (log lines, metrics, error documents) holds a secret or what was judged."""
    for text in texts:
        assert not leaks(text), text


@contextmanager
def watched(database_url: str, workers: int = 1, **settings: str) -> Iterator[Server]:
    """A running server; afterwards its metrics and all that it has logged are looked through."""
    with running(database_url, workers, ADMIN_TOKEN=ADMIN, **settings) as server:
        yield server
        if server.process.poll() is None:
            connection = server.connect()
            connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {ADMIN}"})
            response = connection.getresponse()
            assert response.status == 200
            assert_no_leak([response.read().decode()])
            connection.close()
            server.process.terminate()
            assert server.process.wait(LIMIT_S) == 0
    assert server.log
    assert_no_leak(server.log)


def refused_without_leak(status: int, body: Any) -> None:
    """Fails when the document of an error quotes what it must not."""
    if status >= 400:
        assert_no_leak([str(body)])
