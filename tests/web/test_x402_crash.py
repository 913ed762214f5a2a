"""A server that is killed with -9 while it takes a payment: what the next one makes of it."""

import http.client
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.examples import example
from tests.fakes.facilitator import Behaviour, FakeFacilitator, Said, fake_facilitator, settled, valid
from tests.live import FakeClock, Live
from tests.problem_checks import assert_problem
from tests.test_workers import LIMIT_S, Server, running
from tests.web.ledger import SECRET_KEY
from tests.web.x402 import decoded, encoded, paid_server, pay, payment, receipt, run_job, states, stored

TIMEOUT_S = 5
SETTLING_S, RESERVED_S = TIMEOUT_S + 10, TIMEOUT_S + 60
"""How long a payment belongs to a process that is never heard of again."""


@pytest.fixture
def facilitator() -> Iterator[FakeFacilitator]:
    with fake_facilitator() as fake:
        yield fake


def killing(server: Server, then: Behaviour) -> Behaviour:
    """Does what was asked and kills the server that asks."""

    def behave(fake: FakeFacilitator, document: dict[str, Any]) -> Said:
        answer = then(fake, document)
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait(LIMIT_S)
        return answer

    return behave


def pay_until_killed(server: Server) -> Any:
    """Sends a call with a payment, of which the server dies; the payment."""
    connection = server.connect()
    connection.request("POST", "/v1/judge")
    response = connection.getresponse()
    response.read()
    sent = payment(decoded(response.headers["PAYMENT-REQUIRED"]), valid_before=int(time.time()) + 600)
    headers = {"Content-Type": "application/json", "PAYMENT-SIGNATURE": encoded(sent)}
    connection.request("POST", "/v1/judge", json.dumps(example("judge")), headers)
    with pytest.raises((http.client.HTTPException, OSError)):
        connection.getresponse()
    connection.close()
    return sent


@pytest.fixture
def started(tmp_path: Path, facilitator: FakeFacilitator, database_url: str) -> Iterator[Server]:
    """A real process that takes payments, on SQLite and on PostgreSQL."""
    settings = {**facilitator.settings, "X402_TIMEOUT_S": str(TIMEOUT_S), "SECRET_KEY": SECRET_KEY}
    with running(database_url, workers=1, **settings) as server:
        yield server


@pytest.fixture
def restarted(tmp_path: Path, facilitator: FakeFacilitator, database_url: str, started: Server) -> Iterator[Live]:
    """The next server on the same database, whose clock the test sets."""
    with paid_server(tmp_path, facilitator, database_url, clock=FakeClock(time.time())) as server:
        yield server


@pytest.mark.promise("charging.kill_safe")
@pytest.mark.promise("x402.resend")
def test_killed_between_settle_and_answer_the_call_is_paid_and_can_be_fetched(
    started: Server, restarted: Live, facilitator: FakeFacilitator
) -> None:
    facilitator.next_settle.append(killing(started, settled))
    sent = pay_until_killed(started)
    assert len(facilitator.moved) == 1
    assert_problem(pay(restarted, sent), "payment_in_flight")
    restarted.clock.now += SETTLING_S + 5
    (row,) = stored(restarted, state="unknown")
    answer = pay(restarted, sent)
    assert answer.status == 200
    (transaction,) = facilitator.moved.values()
    assert receipt(answer)["transaction"] == transaction
    assert answer.json["request_id"] == row["request_id"]
    assert facilitator.count("settle") == 2
    assert states(restarted) == ["settled"]


@pytest.mark.promise("x402.outcomes")
def test_killed_between_settle_and_answer_the_job_finds_out(
    started: Server, restarted: Live, facilitator: FakeFacilitator
) -> None:
    facilitator.next_settle.append(killing(started, settled))
    sent = pay_until_killed(started)
    assert run_job(restarted) == ""
    restarted.clock.now += SETTLING_S + 5
    assert run_job(restarted) == "1 asked about, 1 settled, 0 failed"
    asked = len(facilitator.asked)
    assert pay(restarted, sent).status == 200
    assert len(facilitator.asked) == asked


@pytest.mark.promise("x402.order")
def test_killed_before_it_settles_nothing_is_taken_and_the_payment_is_free_again(
    started: Server, restarted: Live, facilitator: FakeFacilitator
) -> None:
    facilitator.next_verify.append(killing(started, valid))
    sent = pay_until_killed(started)
    assert_problem(pay(restarted, sent), "payment_in_flight")
    assert states(restarted) == ["reserved"]
    restarted.clock.now += RESERVED_S + 5
    assert run_job(restarted) == ""
    assert facilitator.moved == {}
    assert pay(restarted, sent).status == 200
    assert facilitator.count("settle") == 1
    assert states(restarted) == ["settled"]
