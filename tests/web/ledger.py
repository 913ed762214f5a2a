"""A server for tests of the ledger, on either database, and what an operator does with it."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from api.clients.names import Resolve
from api.core.secrets import secret_hash
from api.store import charges
from api.store.charges import AnsweredCall
from api.store.database import Database, Tx
from api.store.drift import Observation
from tests import stored
from tests.live import Answer, FakeClock, Live, live_server, no_names
from tests.stored import files_with

T = TypeVar("T")

SECRET_KEY = "the secret key of these tests"
OPERATOR = "the-token-of-the-operator"
SMALL = {"task": "t", "agent_output": "o"}


@contextmanager
def ledger_server(
    folder: Path,
    database_url: str,
    resolve: Resolve = no_names,
    /,
    *,
    clock: FakeClock | None = None,
    **settings: str,
) -> Iterator[Live]:
    """A server on that database, with an operator."""
    settings = {"DATABASE_URL": database_url, "SECRET_KEY": SECRET_KEY, "ADMIN_TOKEN": OPERATOR, **settings}
    with live_server(folder, resolve, dist=None, clock=clock, **settings) as server:
        yield server


def operator(live: Live, method: str, path: str, body: Any = None) -> Answer:
    """A request below /v1/admin with the operator's token."""
    return live.request(method, f"/v1/admin{path}", body, key=OPERATOR)


def grant(live: Live, key_id: str, calls: int, **fields: str) -> Answer:
    """Adds an entry to the key's ledger."""
    return operator(live, "POST", f"/keys/{key_id}/credits", {"calls": calls, "note": "a note", **fields})


def id_of(live: Live, key: str) -> str:
    """The id of the key with that secret."""
    return str(me(live, key)["id"])


def me(live: Live, key: str) -> Any:
    """GET /v1/keys/me."""
    answer = live.request("GET", "/v1/keys/me", key=key)
    assert answer.status == 200, answer
    return answer.json


def judge(live: Live, key: str, body: Any = None, **headers: str) -> Answer:
    """One judge call. Underscores in the names of `headers` stand for hyphens."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return live.request("POST", "/v1/judge", SMALL if body is None else body, key=key, headers=sent)


def use_up(live: Live, key: str) -> None:
    """Charges what is left of the key's free calls of the day, all in one batch: far quicker than by calls."""
    call = AnsweredCall(secret_hash(key), "req_used_up", Observation("", "", "judge", verdict="pass", score=0.9))
    limit = live.app.services.limits.free_calls_per_day
    calls = [call] * (limit - me(live, key)["free_calls"]["used"])
    now = int(live.clock())
    charged = in_store(live, lambda database: database.write(charges.record, calls, now, limit))
    assert {charge.grant for charge in charged} <= {"free"}


def many(count: int, call: Callable[[int], Answer]) -> list[Answer]:
    """`count` calls at once, each from a thread of its own, with its number."""
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(call, range(count)))


def served(call: Callable[[], Answer]) -> Answer:
    """The answer of a server that may have too much to do: what it sheds with a 503 is not charged, and sent again."""
    for _ in range(20):
        answer = call()
        if answer.status != 503:
            break
    return answer


def in_store(live: Live, work: Callable[[Database], Coroutine[Any, Any, T]]) -> T:
    """The result of `work` on the server's own database."""
    return asyncio.run_coroutine_threadsafe(work(live.app.services.database), live.loop).result(30)


def places_with(live: Live, folder: Path, text: str) -> list[str]:
    """The tables and files of the server that hold `text`."""
    return in_store(live, lambda database: stored.tables_with(database, text)) + files_with(folder, text)


def total(live: Live, table: str, column: str) -> int:
    """The sum of a column."""

    async def read(tx: Tx) -> int:
        row = await tx.one(f"SELECT coalesce(sum({column}), 0) AS total FROM {table}")
        return int(row["total"]) if row else 0

    return in_store(live, lambda database: database.read(read))


def statuses(answers: Sequence[Answer]) -> list[int]:
    """Their statuses, sorted."""
    return sorted(answer.status for answer in answers)
