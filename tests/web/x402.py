"""A buyer for tests of paying over x402, and a server that he pays at."""

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from api.service.payments import reconcile
from tests.examples import example
from tests.fakes.facilitator import FakeFacilitator
from tests.live import NOON, Answer, FakeClock, Live
from tests.web.ledger import in_store, ledger_server, operator

BUYER = "0xAbCdEf0123456789aBcDeF0123456789AbCdEf01"
_numbers = count(1)

Json = dict[str, Any]


@contextmanager
def paid_server(
    folder: Path,
    facilitator: FakeFacilitator,
    database_url: str | None = None,
    *,
    clock: FakeClock | None = None,
    **more: str,
) -> Iterator[Live]:
    """A server that takes payments through `facilitator`, with an operator. Its jobs run when a test runs them."""
    url = database_url or f"sqlite:///{folder}/screwtape.db"
    with ledger_server(folder, url, clock=clock, **{**facilitator.settings, **more}) as server:
        server.loop.call_soon_threadsafe(server.app.timer.stop)
        yield server


def encoded(value: Any) -> str:
    """An x402 header."""
    return base64.b64encode(json.dumps(value).encode()).decode()


def decoded(header: str) -> Any:
    """The value of an x402 header."""
    return json.loads(base64.b64decode(header, validate=True))


def offer(live: Live, operation: str = "judge") -> Json:
    """What the operation asks for."""
    found: Json = decoded(live.request("POST", f"/v1/{operation}").headers["payment-required"])
    return found


def payment(
    offered: Json,
    *,
    payer: str = BUYER,
    identifier: str | None = None,
    valid_before: int = int(NOON) + 120,
    accepted: Mapping[str, Any] | None = None,
    **changes: str,
) -> Json:
    """A new payment for what was offered. `changes` are to its authorization, `accepted` to what it says to accept."""
    wanted = offered["accepts"][0]
    number = next(_numbers)
    authorization = {
        "from": payer,
        "to": wanted["payTo"],
        "value": wanted["amount"],
        "validAfter": "0",
        "validBefore": str(valid_before),
        "nonce": f"0x{number:064x}",
        **changes,
    }
    extensions = json.loads(json.dumps(offered["extensions"]))
    if identifier is not None:
        extensions["payment-identifier"]["info"]["id"] = identifier
    return {
        "x402Version": 2,
        "payload": {"authorization": authorization, "signature": f"0x{number:0130x}"},
        "resource": offered["resource"],
        "accepted": {**wanted, **(accepted or {})},
        "extensions": extensions,
    }


def pay(
    live: Live,
    sent: Any,
    operation: str = "judge",
    body: Any = None,
    *,
    key: str | None = None,
    **headers: str,
) -> Answer:
    """One call with a payment, the operation's example unless `body` is given."""
    header = sent if isinstance(sent, str) else encoded(sent)
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return live.request(
        "POST",
        f"/v1/{operation}",
        example(operation) if body is None else body,
        key=key,
        headers={"PAYMENT-SIGNATURE": header, **more},
    )


def receipt(answer: Answer) -> Json:
    """Its PAYMENT-RESPONSE."""
    found: Json = decoded(answer.headers["payment-response"])
    return found


def stored(live: Live, **query: str) -> list[Json]:
    """The payments as the operator sees them, newest first."""
    words = "&".join(f"{name}={value}" for name, value in query.items())
    answer = operator(live, "GET", f"/payments?{words}")
    assert answer.status == 200, answer
    rows: list[Json] = answer.json["data"]
    return rows


def states(live: Live) -> list[str]:
    """The states of all payments, newest first."""
    return [row["state"] for row in stored(live)]


def run_job(live: Live) -> str:
    """What the reconciliation did, at the clock's time."""
    services = live.app.services
    return in_store(live, lambda _: reconcile(services, int(live.clock())))
