"""One or more nodes on one database, as real processes, and clients that load them until something happens."""

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from tests.faults.leaks import ADMIN, assert_no_leak
from tests.test_process import Client
from tests.test_workers import LIMIT_S, Server, running


@dataclass
class Shape:
    """How the product runs: how many nodes, and how many processes each has. `database` is a fixture's parameter."""

    database: str
    nodes: int
    workers: int

    def __str__(self) -> str:
        return f"{self.database}, {self.nodes} node{'s' * (self.nodes > 1)} of {self.workers}"


SHAPES = (Shape("sqlite", 1, 1), Shape("sqlite", 1, 4), Shape("postgres", 2, 1))


@contextmanager
def cluster(database_url: str, shape: Shape) -> Iterator[list[Server]]:
    """The running nodes."""
    with ExitStack() as stack:
        start = [running(database_url, shape.workers, ADMIN_TOKEN=ADMIN) for _ in range(shape.nodes)]
        nodes = [stack.enter_context(one) for one in start]
        yield nodes
    for node in nodes:
        assert_no_leak(node.log)


def grant(server: Server, key: str, calls: int) -> None:
    """Gives the key that many credits."""
    status, shown = server.request("GET", "/v1/keys/me", key=key)
    assert status == 200
    body = {"calls": calls, "note": "for the test"}
    status, _ = server.request("POST", f"/v1/admin/keys/{shown['id']}/credits", body, ADMIN)
    assert status == 200


def spent(server: Server, key: str) -> tuple[int, int]:
    """The key's free calls of today and its credits left."""
    status, shown = server.request("GET", "/v1/keys/me", key=key)
    assert status == 200, shown
    return int(shown["free_calls"]["used"]), int(shown["credits"])


def kill(servers: Sequence[Server]) -> None:
    """Ends every process of every node at once, as a power cut would."""
    for server in servers:
        os.killpg(server.process.pid, signal.SIGKILL)


@dataclass
class Load:
    """Clients that call without a pause. `enough` is set when they have `target` answers together."""

    clients: list[Client]
    target: int
    enough: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Runs them through the block, which ends what they call; then waits for them to notice."""
        with ThreadPoolExecutor(len(self.clients)) as pool:
            running_clients = [pool.submit(client.call_until, self._look) for client in self.clients]
            yield
            for one in running_clients:
                one.result(LIMIT_S)

    def _look(self, client: Client) -> bool:
        if sum(each.answered for each in self.clients) >= self.target:
            self.enough.set()
        return False
