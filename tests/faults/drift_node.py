"""One node of a simulated time: `python -m tests.faults.drift_node DATABASE_URL`.

Each line on standard input is an hour: {"now": epoch seconds, "calls": [[agent_id, version, endpoint, grade], ...],
"key": the key's hash, "ticks": whether it is time for the jobs}. The calls are charged as answered ones are; the node
answers with a line when it has done all. Its clock stands at `now`.
"""

import asyncio
import json
import sys
from typing import Any

from api.app import open_services
from api.config import from_env
from api.jobs import JobLoop, named
from api.store import charges
from api.store.charges import AnsweredCall
from api.store.drift import CompleteFirsts, Observation


def observation(agent_id: str, version: str, endpoint: str, grade: str) -> Observation:
    """A call with that verdict or risk."""
    if endpoint == "judge":
        return Observation(agent_id, version, "judge", verdict=grade, score=0.2)  # type: ignore[arg-type]  # from JSON
    return Observation(agent_id, version, "consensus", risk=grade)  # type: ignore[arg-type]  # from JSON


async def main(url: str) -> None:
    """Lives one hour a line, until the input ends."""
    now = 0
    config = from_env({"DATABASE_URL": url, "SECRET_KEY": "a key that every node of the simulation has"})
    services = await open_services(config, clock=lambda: now)
    loop, complete = JobLoop(services, f"node {id(services)} of {url}", (named("drift_alerts"),)), CompleteFirsts()
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        hour: dict[str, Any] = json.loads(line)
        now = hour["now"]
        seen = [observation(*call) for call in hour["calls"]]
        calls = [AnsweredCall(hour["key"], f"req_{now}_{place}", each) for place, each in enumerate(seen)]
        if calls:
            await services.database.write(charges.record, calls, now, 0, complete)
        if hour["ticks"]:
            await loop.tick()
        print("lived", flush=True)
    await services.database.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
