"""tools/call is REST by another way in: the same answers, charges, limits, tags and retention."""

import base64
import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from api.contract import tools
from tests.examples import example, the_contract
from tests.live import Answer, Live, live_server
from tests.web.ledger import me, use_up
from tests.web.mcp import assert_rpc_problem, call, modern, rpc
from tests.web.test_failures import broken

TOOLS = ("judge", "consensus")
FRESH = ("request_id", "retention", "receipt")
"""Members of an answer that are made for each call."""


@pytest.fixture
def key(live: Live) -> str:
    return live.new_key()


def used(live: Live, key: str) -> int:
    return int(me(live, key)["free_calls"]["used"])


def structured(answer: Answer) -> Any:
    """The structured content of a result that is no error, once it holds all that it must."""
    result = answer.json["result"]
    assert (answer.status, result["isError"]) == (200, False), answer
    assert [part["type"] for part in result["content"]] == ["text"]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    return result["structuredContent"]


def error_text(answer: Answer) -> str:
    result = answer.json["result"]
    assert result["isError"] is True
    assert "structuredContent" not in result
    return str(result["content"][0]["text"])


@pytest.mark.promise("mcp.tools")
@pytest.mark.promise("charging.answered_mcp")
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("send", [call, lambda live, tool, **more: modern(live, "tools/call", sent(tool), **more)])
def test_a_tool_answers_what_rest_answers_and_costs_the_same(live: Live, key: str, tool: str, send: Any) -> None:
    by_mcp = send(live, tool, key=key)
    body = structured(by_mcp)
    by_rest = live.request("POST", f"/v1/{tool}", example(tool), key=key)
    assert {k: v for k, v in body.items() if k not in FRESH} == {
        k: v for k, v in by_rest.json.items() if k not in FRESH
    }
    assert list(body) == list(by_rest.json)
    assert the_contract().body_schema(f"{tool.title()}Response").faults(body) == []
    assert body["request_id"] == by_mcp.headers["x-request-id"]
    assert by_mcp.headers["ratelimit"] == '"free";r=99;t=43200'
    assert (me(live, key)["usage"][0][tool], used(live, key)) == (2, 2)


def sent(tool: str) -> dict[str, Any]:
    return {"name": tool, "arguments": example(tool)}


WRONG: list[tuple[Any, list[str]]] = [
    ({}, ["/task is required", "/agent_output is required"]),
    ({"task": 1, "agent_output": "x"}, ["/task must be a string"]),
    ({"task": "t", "agent_output": "o", "evidnce": []}, ["/evidnce", "evidence"]),
    ({"task": "t", "agent_output": "x" * 64_001}, ["/agent_output", "64,000"]),
    ({"task": "t", "agent_output": "o", "evidence": ["x" * 16_000] * 17}, ["256,000"]),
]


@pytest.mark.promise("charging.answered_mcp")
@pytest.mark.parametrize(("arguments", "words"), WRONG)
def test_wrong_arguments_are_a_result_that_names_them_and_is_free(
    live: Live, key: str, arguments: Any, words: list[str]
) -> None:
    answer = call(live, "judge", arguments, key=key)
    assert answer.status == 200
    text = error_text(answer)
    assert text.startswith("invalid_request: ")
    for word in words:
        assert word in text
    assert used(live, key) == 0


@pytest.mark.promise("mcp.tools")
def test_tags_and_retention_are_those_of_rest(live: Live, key: str) -> None:
    body = structured(
        call(live, "judge", {**example("judge"), "agent_id": "a:1", "version": "v", "retain": True}, key=key)
    )
    assert (body["agent_id"], body["version"]) == ("a:1", "v")
    [row] = live.request("GET", "/v1/retention", key=key).json["data"]
    assert body["retention"]["id"] == row["id"]
    assert row["response"]["request_id"] == body["request_id"]
    assert row["request"]["agent_id"] == "a:1"


@pytest.mark.promise("mcp.tools")
def test_an_idempotency_key_charges_once(live: Live, key: str) -> None:
    first = structured(call(live, key=key, Idempotency_Key="one"))
    again = call(live, key=key, Idempotency_Key="one")
    assert structured(again)["request_id"] == first["request_id"] == again.headers["x-request-id"]
    assert again.headers["idempotency-replayed"] == "true"
    by_rest = live.request("POST", "/v1/judge", example("judge"), key=key, headers={"Idempotency-Key": "one"})
    assert by_rest.json["request_id"] == first["request_id"]
    other = call(live, "judge", {"task": "t", "agent_output": "o"}, key=key, Idempotency_Key="one")
    assert error_text(other).startswith("idempotency_conflict: ")
    assert used(live, key) == 1


@pytest.mark.promise("mcp.unpaid")
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("arguments", [{}, {"nonsense": 1}, None])
@pytest.mark.parametrize("path", ["/mcp", "/mcp?payment=http", "/mcp?payment=mcp"])
def test_without_key_and_payment_the_offer_is_the_result(live: Live, tool: str, arguments: Any, path: str) -> None:
    answer = call(live, tool, arguments, path=path)
    assert answer.status == (200 if path.endswith("=mcp") else 402)
    result = answer.json["result"]
    offer = json.loads(base64.b64decode(answer.headers["payment-required"], validate=True))
    assert result["structuredContent"] == offer == json.loads(result["content"][0]["text"])
    assert result["isError"] is True
    assert offer["x402Version"] == 2
    assert offer["resource"]["url"] == f"mcp://tool/{tool}"
    assert offer["accepts"][0]["amount"] == "5000"


@pytest.mark.promise("mcp.payment_mode")
def test_the_way_to_ask_for_200_is_read_exactly(live: Live) -> None:
    for query, status in {"payment=mcp": 200, "a=1&payment=mcp": 200, "payment=MCP": 402, "payment": 402}.items():
        assert call(live, path=f"/mcp?{query}").status == status, query
    assert call(live, path="/mcp?payment=mcp", key="scr_wrong").status == 401
    unpaid = modern(live, "tools/call", sent("judge"), path="/mcp?payment=mcp").json["result"]
    assert (unpaid["isError"], unpaid["resultType"]) == (True, "complete")


def test_a_query_beyond_reason_is_refused_before_any_work(live: Live, key: str) -> None:
    answer = live.request(
        "POST",
        f"/mcp?{'a=1&' * 40}",
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": sent("judge")},
        key=key,
    )
    assert (answer.status, answer.json["error"]["data"]["code"]) == (400, "invalid_request")
    assert used(live, key) == 0


@pytest.mark.promise("mcp.auth_errors")
@pytest.mark.parametrize("tool", TOOLS)
def test_an_unknown_key_is_a_401(live: Live, tool: str) -> None:
    answer = call(live, tool, {}, key="scr_" + "0" * 42)
    assert_rpc_problem(answer, "unknown_key")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert rpc(live, "tools/list", key="scr_wrong").status == 200


@pytest.mark.promise("mcp.auth_errors")
def test_a_key_with_nothing_left_is_a_429(live: Live, key: str) -> None:
    use_up(live, key)
    answer = call(live, key=key)
    assert_rpc_problem(answer, "quota_exceeded")
    assert answer.headers["retry-after"] == "43200"
    offer = json.loads(base64.b64decode(answer.headers["payment-required"]))
    assert offer["resource"]["url"] == "mcp://tool/judge"
    assert error_text(call(live, "judge", {}, key=key)).startswith("invalid_request")
    assert used(live, key) == 100


def test_too_many_requests_are_a_429(tmp_path: Path) -> None:
    with live_server(tmp_path, KEY_REQUESTS_PER_SECOND="1") as live:
        key = live.new_key()
        answers = [call(live, key=key) for _ in range(5)]
        assert [answer.status for answer in answers] == [200] * 4 + [429]
        assert_rpc_problem(answers[-1], "rate_limited")


def test_a_payment_where_none_is_taken_is_a_503(live: Live) -> None:
    header = base64.b64encode(b"{}").decode()
    assert_rpc_problem(call(live, PAYMENT_SIGNATURE=header), "payment_unavailable")
    assert_rpc_problem(call(live, meta={"x402/payment": {}}), "payment_unavailable", status=200)


def test_a_key_is_not_charged_for_what_it_did_not_get(live: Live, key: str) -> None:
    for method in ("initialize", "ping", "tools/list", "resources/list"):
        rpc(live, method, key=key)
    call(live, "nothing", {}, key=key)
    assert used(live, key) == 0


@pytest.mark.parametrize("tool", TOOLS)
def test_the_example_fits_the_schema_that_the_tool_shows(live: Live, key: str, tool: str) -> None:
    schemas = tools(the_contract())[tool]
    body = structured(call(live, tool, key=key))
    assert list(jsonschema_rs.Draft202012Validator(schemas["inputSchema"]).iter_errors(example(tool))) == []
    assert list(jsonschema_rs.Draft202012Validator(schemas["outputSchema"]).iter_errors(body)) == []


@pytest.mark.logs_errors
def test_a_mistake_of_the_server_is_told_as_one(live: Live, key: str, tmp_path: Path) -> None:
    trigger = "CREATE TRIGGER refuse BEFORE INSERT ON daily_use BEGIN SELECT RAISE(FAIL, 'refused'); END"
    with broken(tmp_path, trigger):
        assert_rpc_problem(call(live, key=key, id="z"), "internal")
        assert_rpc_problem(call(live, key=key, meta={"x402/payment": {}}), "internal", status=200)
    assert used(live, key) == 0
