"""Many at once with one key, over one process, several and several nodes: the counts are exact, and dead is dead."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from tests.faults.cluster import Shape, grant, spent
from tests.faults.leaks import JUDGE_BODY, refused_without_leak, watched
from tests.faults.test_ledger import shape as shape  # fixtures are found by being here
from tests.faults.test_ledger import url as url
from tests.test_workers import LIMIT_S, Server

AT_ONCE = 100


def judge(server: Server, key: str) -> int:
    status, body = server.request("POST", "/v1/judge", JUDGE_BODY, key)
    refused_without_leak(status, body)
    return status


@pytest.mark.promise("charging.free_exact")
@pytest.mark.promise("charging.credits_exact")
@pytest.mark.parametrize("credits", [0, 7])
def test_500_calls_at_once_with_a_new_key(shape: Shape, url: str, credits: int) -> None:
    with ExitStack() as stack:
        nodes = [stack.enter_context(watched(url, shape.workers)) for _ in range(shape.nodes)]
        key = nodes[0].new_key()
        if credits:
            grant(nodes[0], key, credits)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            statuses = Counter(pool.map(lambda n: judge(nodes[n % len(nodes)], key), range(500)))
        assert statuses == {200: 100 + credits, 429: 400 - credits}
        assert spent(nodes[-1], key) == (100, 0)


@pytest.mark.promise("keys.delete")
def test_deleting_a_key_while_it_is_used(shape: Shape, url: str) -> None:
    with ExitStack() as stack:
        nodes = [stack.enter_context(watched(url, shape.workers)) for _ in range(shape.nodes)]
        key = nodes[0].new_key()
        deleted = threading.Event()

        def call(number: int) -> list[int]:
            """Ends with one call that began after the deletion was answered."""
            found = []
            while not (over := deleted.is_set()):
                found.append(judge(nodes[number % len(nodes)], key))
            assert over
            assert judge(nodes[number % len(nodes)], key) == 401
            return found

        with ThreadPoolExecutor(20) as pool:
            calls = [pool.submit(call, number) for number in range(20)]
            status, _ = nodes[0].request("DELETE", "/v1/keys/me", key=key)
            assert status == 200
            deleted.set()
            statuses = {status for one in calls for status in one.result(LIMIT_S)}
        assert statuses <= {200, 401, 429}
        assert all(node.request("GET", "/v1/keys/me", key=key)[0] == 401 for node in nodes)
