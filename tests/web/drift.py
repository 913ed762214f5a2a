"""Traffic of the past for tests of drift: counted as a charge counts it, at any time, and the check run at any time."""

import asyncio
from typing import Any

from api.core.drift import DAY_S, HOUR_S
from api.service import drift_watch
from api.store import drift
from api.store.drift import Observation
from tests.live import NOON, Live
from tests.web.ledger import id_of, in_store

NOW = int(NOON)


def judged(live: Live, key: str, agent_id: str, ago: int, calls: int, fails: int, version: str = "") -> None:
    """`calls` judge calls in one batch, `ago` seconds before noon; the last `fails` of them fail."""
    good = Observation(agent_id, version, "judge", "pass", 0.9)
    bad = Observation(agent_id, version, "judge", "fail", 0.1)
    count(live, key, ago, [good] * (calls - fails) + [bad] * fails)


def agreed(live: Live, key: str, agent_id: str, ago: int, calls: int, high: int, version: str = "") -> None:
    """`calls` consensus calls in one batch; `high` of them have a high risk, the others a low one."""
    low = Observation(agent_id, version, "consensus", risk="low")
    count(live, key, ago, [Observation(agent_id, version, "consensus", risk="high")] * high + [low] * (calls - high))


def count(live: Live, key: str, ago: int, seen: list[Observation]) -> None:
    key_id = id_of(live, key)
    in_store(live, lambda database: database.write(drift.add_all, [(key_id, one) for one in seen], NOW - ago))


def check(live: Live, later: int = 0) -> str:
    """Runs the alert job `later` seconds after noon; what it says."""
    job = drift_watch.raise_alerts(live.app.services, NOW + later)
    return asyncio.run_coroutine_threadsafe(job, live.loop).result(60)


def alerts(live: Live, key: str, query: str = "") -> list[Any]:
    """The first page of the key's alerts."""
    answer = live.request("GET", f"/v1/alerts{query}", key=key)
    assert answer.status == 200, answer.body
    return list(answer.json["data"])


def read(live: Live, key: str, query: str = "") -> Any:
    """GET /v1/drift."""
    answer = live.request("GET", f"/v1/drift{query}", key=key)
    assert answer.status == 200, answer.body
    return answer.json


HOUR, DAY = HOUR_S, DAY_S
