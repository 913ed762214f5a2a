"""The ledger says what was answered: under mixed load, and when everything is killed at any moment."""

import os
import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

import pytest

from tests.examples import example
from tests.faults.cluster import SHAPES, Load, Shape, cluster, grant, kill, spent
from tests.test_process import Client, run_api
from tests.test_workers import LIMIT_S, Server

ROUNDS = int(os.environ.get("ROUNDS", "20"))
CALLS, KEYS, CLIENTS = 2_000, 5, 48
FREE, CREDITS = 100, 150
AGAIN_S = 2.0 * 5
"""FAULTS.md allows two seconds until a killed server answers again; tests allow five times that."""


@pytest.fixture(params=SHAPES, ids=str)
def shape(request: pytest.FixtureRequest) -> Shape:
    found: Shape = request.param
    return found


@pytest.fixture
def url(shape: Shape, request: pytest.FixtureRequest) -> Iterator[str]:
    if shape.database == "postgres":
        yield request.getfixturevalue("postgres_url")
    else:
        yield f"sqlite:///{request.getfixturevalue('tmp_path')}/screwtape.db"


@pytest.mark.promise("charging.credits_exact")
def test_two_thousand_mixed_calls_are_charged_exactly(shape: Shape, url: str) -> None:
    chance = random.Random(7)
    with cluster(url, shape) as nodes:
        keys = [_key(nodes[0], number) for number in range(KEYS)]
        for key in keys[:2]:
            grant(nodes[0], key, CREDITS)
        plan = [
            (chance.choice(nodes), chance.choice(keys), chance.choice(("judge", "consensus"))) for _ in range(CALLS)
        ]
        with ThreadPoolExecutor(CLIENTS) as pool:
            statuses = list(pool.map(lambda p: p[0].request("POST", f"/v1/{p[2]}", example(p[2]), p[1])[0], plan))
        answers = Counter(key for (_, key, _), status in zip(plan, statuses, strict=True) if status == 200)
        assert set(statuses) <= {200, 429}
        for number, key in enumerate(keys):
            free, credits = spent(nodes[-1], key)
            given = CREDITS if number < 2 else 0
            assert answers[key] == free + given - credits
            # Every key was asked for more calls than it has, so all of them are used, and none twice.
            assert (free, credits) == (FREE, 0)


@pytest.mark.promise("charging.kill_safe")
def test_kill_9_at_any_moment_loses_no_charge_and_makes_none(
    shape: Shape, url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    chance = random.Random(11)
    answered: Counter[str] = Counter()
    keys: list[str] = []
    credits = 1_000_000
    for round_ in range(ROUNDS + 1):
        began = monotonic()
        with cluster(url, shape) as nodes:
            if keys:
                spent(nodes[-1], keys[0])
                assert monotonic() - began < AGAIN_S, f"round {round_}"
            else:
                keys = [_key(nodes[0], number) for number in range(6)]
                for key in keys:
                    grant(nodes[0], key, credits)
            for key in keys:
                free, left = spent(nodes[-1], key)
                used = free + credits - left
                # Each round left one call of each key in flight at most: charged, and its answer cut off.
                assert answered[key] <= used <= answered[key] + round_, f"round {round_}"
            if round_ == ROUNDS:
                break
            load = Load(
                [Client(nodes[number % len(nodes)].port, key) for number, key in enumerate(keys)],
                target=chance.randrange(1, 400),
            )
            with load.under_way():
                assert load.enough.wait(LIMIT_S)
                kill(nodes)
            for client in load.clients:
                answered[client.key] += client.answered
    checked = run_api("check", folder=tmp_path_factory.mktemp("check"), DATABASE_URL=url, SECRET_KEY="only for tests")
    assert checked.returncode == 0, checked.stderr


def _key(server: Server, number: int) -> str:
    status, made = server.request("POST", "/v1/keys", {"email": f"dev{number}@example.com", "name": "Load"})
    assert status == 201, made
    return str(made["key"])
