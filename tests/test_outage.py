"""PostgreSQL goes away and comes back under load, seen by clients of a real server."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tests.databases import PostgresServer, postgres_server
from tests.examples import example
from tests.test_workers import LIMIT_S, Server, exchange, running


class Load:
    """Clients that call until they are told to stop. `counts` is by status; any other end of a call fails the test."""

    def __init__(self, server: Server, key: str) -> None:
        self.server, self.key = server, key
        self.counts: Counter[int] = Counter()
        self.changed = threading.Condition()
        self.stopping = False

    def call(self) -> None:
        connection = self.server.connect()
        while not self.stopping:
            status, _ = exchange(connection, "POST", "/v1/consensus", example("consensus"), self.key)
            with self.changed:
                self.counts[status] += 1
                self.changed.notify_all()
        connection.close()

    def wait_for_more(self, status: int) -> None:
        """Until more calls have ended with that status."""
        with self.changed:
            before = self.counts[status]
            assert self.changed.wait_for(lambda: self.counts[status] > before + 10, LIMIT_S), self.counts


def scenario(postgres: PostgresServer) -> None:
    with running(postgres.dsn, workers=2) as server:
        keys = [server.new_key() for _ in range(2)]
        load = Load(server, keys[0])
        with ThreadPoolExecutor(4) as clients:
            calls = [clients.submit(load.call) for _ in range(4)]
            try:
                load.wait_for_more(200)
                postgres.stop(crash=True)
                load.wait_for_more(503)
                status, problem = server.request("GET", "/v1/keys/me", key=keys[0])
                assert (status, problem["code"]) == (503, "storage_unavailable")
                assert server.request("GET", "/v1/health")[0] == 200
                postgres.start()
                load.wait_for_more(429)
            finally:
                load.stopping = True
            for call in calls:
                call.result()
        assert set(load.counts) == {200, 503, 429}
        assert server.used(keys[0]) == 100
        # A commit whose answer was lost with its connection was charged and not answered: no more than one a worker.
        assert 98 <= load.counts[200] <= 100, load.counts
        assert server.used(keys[1]) == 0


def test_postgres_crashes_and_comes_back_under_load() -> None:
    with postgres_server() as postgres:
        scenario(postgres)
