"""Paying for a tools/call over x402, by header and in `_meta`: the same reservation and settlement as over REST."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.examples import example
from tests.fakes.facilitator import FakeFacilitator, failed, fake_facilitator, invalid
from tests.live import Answer, Live
from tests.web.ledger import me
from tests.web.mcp import assert_rpc_problem, call, modern
from tests.web.x402 import decoded, encoded, paid_server, payment, states

PAYMENT, RECEIPT = "x402/payment", "x402/payment-response"


@pytest.fixture
def facilitator() -> Iterator[FakeFacilitator]:
    with fake_facilitator() as fake:
        yield fake


@pytest.fixture
def live(tmp_path: Path, facilitator: FakeFacilitator) -> Iterator[Live]:
    with paid_server(tmp_path, facilitator) as server:
        yield server


def offered(live: Live, tool: str = "judge") -> Any:
    return call(live, tool, {}).json["result"]["structuredContent"]


def pay_in_meta(live: Live, sent: Any, tool: str = "judge", arguments: Any = None, **more: Any) -> Answer:
    return call(live, tool, arguments, meta={PAYMENT: sent}, **more)


def pay_by_header(live: Live, sent: Any, **more: Any) -> Answer:
    return call(live, PAYMENT_SIGNATURE=encoded(sent), **more)


@pytest.mark.promise("mcp.payment")
@pytest.mark.parametrize("tool", ["judge", "consensus"])
def test_a_payment_in_meta_pays_and_its_receipt_is_in_meta(live: Live, facilitator: FakeFacilitator, tool: str) -> None:
    sent = payment(offered(live, tool))
    answer = pay_in_meta(live, sent, tool)
    result = answer.json["result"]
    assert (answer.status, result["isError"]) == (200, False)
    nonce = sent["payload"]["authorization"]["nonce"]
    assert result["_meta"][RECEIPT]["transaction"] == facilitator.moved[nonce]
    assert result["_meta"][RECEIPT]["success"] is True
    assert decoded(answer.headers["payment-response"]) == result["_meta"][RECEIPT]
    assert states(live) == ["settled"]


@pytest.mark.promise("mcp.payment")
def test_a_payment_by_header_pays_too(live: Live) -> None:
    answer = pay_by_header(live, payment(offered(live)))
    result = answer.json["result"]
    assert (answer.status, result["isError"]) == (200, False)
    assert decoded(answer.headers["payment-response"]) == result["_meta"][RECEIPT]
    assert answer.headers["cache-control"] == "private"


def test_a_modern_client_pays_too(live: Live) -> None:
    params = {"name": "judge", "arguments": example("judge"), "_meta": {PAYMENT: payment(offered(live))}}
    result = modern(live, "tools/call", params).json["result"]
    assert (result["isError"], result["resultType"]) == (False, "complete")
    assert set(result["_meta"]) == {RECEIPT, "io.modelcontextprotocol/serverInfo"}


@pytest.mark.promise("mcp.payment")
def test_a_resend_is_answered_from_the_record(live: Live, facilitator: FakeFacilitator) -> None:
    sent = payment(offered(live))
    first, again = pay_in_meta(live, sent).json["result"], pay_in_meta(live, sent).json["result"]
    assert again["_meta"] == first["_meta"]
    assert again["structuredContent"] == first["structuredContent"]
    assert facilitator.count("settle") == 1


@pytest.mark.promise("mcp.payment")
def test_a_payment_for_a_tool_pays_for_nothing_else(live: Live, facilitator: FakeFacilitator) -> None:
    sent = payment(offered(live))
    pay_in_meta(live, sent)
    for other in (
        pay_in_meta(live, sent, "consensus"),
        pay_in_meta(live, sent, arguments={"task": "t", "agent_output": "o"}),
    ):
        assert (other.status, other.json["result"]["isError"]) == (200, True)
        assert other.json["result"]["content"][0]["text"].startswith("payment_conflict: ")
    by_rest = live.request("POST", "/v1/judge", example("judge"), headers={"PAYMENT-SIGNATURE": encoded(sent)})
    assert (by_rest.status, by_rest.json["code"]) == (409, "payment_conflict")
    assert facilitator.count("settle") == 1


@pytest.mark.promise("mcp.payment")
@pytest.mark.parametrize(("pay", "status"), [(pay_in_meta, 200), (pay_by_header, 402)])
def test_a_refused_payment_is_offered_again(live: Live, facilitator: FakeFacilitator, pay: Any, status: int) -> None:
    facilitator.next_verify.append(invalid("insufficient_funds"))
    answer = pay(live, payment(offered(live)))
    result = answer.json["result"]
    assert (answer.status, result["isError"]) == (status, True)
    assert result["structuredContent"]["error"] == "insufficient_funds"
    assert result["structuredContent"] == decoded(answer.headers["payment-required"])
    assert "_meta" not in result


@pytest.mark.promise("mcp.payment")
@pytest.mark.parametrize(("pay", "status"), [(pay_in_meta, 200), (pay_by_header, 402)])
def test_a_settlement_that_failed_is_told(live: Live, facilitator: FakeFacilitator, pay: Any, status: int) -> None:
    facilitator.next_settle.append(failed("insufficient_funds"))
    answer = pay(live, payment(offered(live)))
    result = answer.json["result"]
    assert (answer.status, result["isError"]) == (status, True)
    assert result["_meta"][RECEIPT]["success"] is False
    assert result["structuredContent"]["accepts"]
    assert states(live) == ["failed"]


@pytest.mark.promise("mcp.payment")
@pytest.mark.parametrize("sent", [{}, [], "x", 0, False, {"x402Version": 1}])
def test_a_malformed_payment_is_a_result_that_says_so(live: Live, facilitator: FakeFacilitator, sent: Any) -> None:
    answer = pay_in_meta(live, sent)
    assert answer.status == 200
    assert answer.json["result"]["isError"] is True
    assert answer.json["result"]["content"][0]["text"].startswith("malformed_payment: ")
    assert facilitator.count("verify") == 0


@pytest.mark.promise("mcp.payment")
def test_wrong_arguments_cost_nothing(live: Live, facilitator: FakeFacilitator) -> None:
    sent = payment(offered(live))
    answer = pay_in_meta(live, sent, arguments={"task": 1})
    assert answer.json["result"]["content"][0]["text"].startswith("invalid_request: ")
    assert facilitator.count("verify") == 0
    assert pay_in_meta(live, sent).json["result"]["isError"] is False


def test_a_key_comes_first_and_the_payment_stays_unused(live: Live, facilitator: FakeFacilitator) -> None:
    key, sent = live.new_key(), payment(offered(live))
    assert pay_in_meta(live, sent, key=key).json["result"]["isError"] is False
    assert (facilitator.count("settle"), me(live, key)["free_calls"]["used"]) == (0, 1)
    assert_rpc_problem(pay_in_meta(live, sent, key="scr_wrong"), "unknown_key", status=200)
