"""Paying with real money of a chain of our own: the official clients sign, the official facilitator settles."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from api import facts
from api.core.x402.payment import read
from api.service import offers
from tests.clients.x402.chain import GAS_PAYER_KEY, Chain, running_chain
from tests.clients.x402.environment import HERE, clean_environment, python, run_node, run_python
from tests.examples import CONTENT, example, the_contract
from tests.live import Answer, FakeClock, Live, live_server
from tests.problem_checks import assert_problem
from tests.web.x402 import decoded, encoded, payment

TERMS = facts.load(CONTENT).x402
BUYER_KEY = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a"
BUYER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
"""The third account of every anvil, known to all the world."""
POOR_KEY = "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6"
"""The fourth one, which has no tokens."""
PRICE = int(TERMS.amount)
OPERATOR = "operator-of-these-tests"

BUYERS: dict[str, Callable[..., str]] = {
    "Python": lambda *arguments: run_python("buyer.py", *arguments),
    "Node": lambda *arguments: run_node("buyer.mjs", *arguments),
}


class WallClock(FakeClock):
    """The real time: the chain and the clients have no other."""

    def __call__(self) -> float:
        return time.time()


@pytest.fixture(scope="module")
def chain() -> Iterator[Chain]:
    with running_chain(TERMS.asset) as running:
        running.mint(BUYER, 1_000_000)
        yield running


@contextmanager
def official_facilitator(chain: Chain) -> Iterator[str]:
    """The address of the SDK's own facilitator, in a process of its own."""
    words = [str(python()), str(HERE / "facilitator.py"), chain.url, GAS_PAYER_KEY]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=clean_environment()) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def live(chain: Chain, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder: Path = tmp_path_factory.mktemp("server")
    with (
        official_facilitator(chain) as url,
        live_server(folder, dist=None, clock=WallClock(), X402_FACILITATOR_URL=url, ADMIN_TOKEN=OPERATOR) as server,
    ):
        yield server


def buy(client: str, live: Live, operation: str) -> Any:
    """One call, paid by one of BUYERS: what its program prints."""
    url = f"http://127.0.0.1:{live.port}/v1/{operation}"
    return json.loads(BUYERS[client](BUYER_KEY, url, json.dumps(example(operation))))


def send(live: Live, operation: str, header: str) -> Answer:
    """One call with a payment that was made already."""
    return live.request("POST", f"/v1/{operation}", example(operation), headers={"PAYMENT-SIGNATURE": header})


@pytest.mark.promise("x402.real_settlement")
@pytest.mark.parametrize("operation", ["judge", "consensus"])
@pytest.mark.parametrize("client", BUYERS)
def test_an_official_client_pays_for_a_call_once(chain: Chain, live: Live, client: str, operation: str) -> None:
    buyer, seller = chain.balance(BUYER), chain.balance(TERMS.pay_to)
    bought = buy(client, live, operation)
    assert bought["status"] == 200, bought
    assert bought["body"]["request_id"].startswith("req_")
    settlement = bought["settlement"]
    assert settlement["success"] is True
    assert settlement["network"] == TERMS.network
    assert settlement["payer"].lower() == BUYER.lower()
    assert chain.transfers(settlement["transaction"]) == [(BUYER.lower(), TERMS.pay_to.lower(), PRICE)]
    assert bought["again"] == {"status": 200, "body": bought["body"]}
    assert chain.balance(BUYER) == buyer - PRICE
    assert chain.balance(TERMS.pay_to) == seller + PRICE


@pytest.mark.promise("x402.extensions")
@pytest.mark.parametrize("operation", ["judge", "consensus"])
@pytest.mark.parametrize("tool", [False, True])
def test_the_official_package_finds_our_offers_and_nothing_wrong_with_them(operation: str, tool: bool) -> None:
    composed = offers.compose(the_contract(), facts.load(CONTENT), "https://screwtape.ai")
    offer = (composed.tools if tool else composed.http)[operation]
    document = read(payment(offer.payment_required(""))).document(offer)
    found = json.loads(run_python("discovery.py", json.dumps(document)))
    assert found["url"] == offer.resource["url"]
    assert found["method"] == (operation if tool else "POST")
    assert found["faults"] == found["identifier_faults"] == []
    assert found["identifier"].startswith("pay_")


@pytest.mark.promise("x402.real_settlement")
def test_a_payment_for_judge_does_not_pay_for_consensus(chain: Chain, live: Live) -> None:
    paid_with = buy("Python", live, "judge")["paid_with"]
    before = chain.balance(BUYER)
    assert_problem(send(live, "consensus", paid_with), "payment_conflict")
    assert chain.balance(BUYER) == before


@pytest.mark.promise("x402.real_settlement")
def test_a_changed_payment_is_refused_by_its_signature(chain: Chain, live: Live) -> None:
    forged = decoded(buy("Python", live, "judge")["paid_with"])
    forged["payload"]["authorization"]["nonce"] = "0x" + "12" * 32
    before = chain.balance(BUYER)
    refused = send(live, "judge", encoded(forged))
    assert_problem(refused, "payment_refused")
    assert refused.json["reason"] == "invalid_exact_evm_payload_signature"
    assert chain.balance(BUYER) == before


@pytest.mark.promise("x402.real_settlement")
def test_what_was_paid_elsewhere_is_refused(chain: Chain, live: Live, tmp_path: Path) -> None:
    """A server without the record of a payment learns from the chain that it is used up."""
    paid_with = buy("Node", live, "judge")["paid_with"]
    before = chain.balance(BUYER)
    with (
        official_facilitator(chain) as url,
        live_server(tmp_path, dist=None, clock=WallClock(), X402_FACILITATOR_URL=url) as other,
    ):
        refused = send(other, "judge", paid_with)
    assert_problem(refused, "payment_refused")
    assert refused.json["reason"] == "invalid_exact_evm_nonce_already_used"
    assert chain.balance(BUYER) == before


@pytest.mark.promise("x402.real_settlement")
def test_a_wallet_without_money_is_told(chain: Chain, live: Live) -> None:
    url = f"http://127.0.0.1:{live.port}/v1/judge"
    refused = json.loads(run_python("buyer.py", POOR_KEY, url, json.dumps(example("judge"))))
    assert (refused["status"], refused["settlement"]) == (402, None)
    assert refused["body"]["reason"] == "invalid_exact_evm_insufficient_balance"
    rows = live.request("GET", "/v1/admin/payments", key=OPERATOR).json["data"]
    assert {row["state"] for row in rows} <= {"settled"}
