"""The LLM engine over REST: every outcome of primary and fallback, to the letter, and charged once whatever happens."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.logs import JsonFormatter
from tests.examples import example, the_contract
from tests.fakes.model import (
    CLOSES,
    COMPARED,
    CUT,
    FALLBACK,
    GARBAGE,
    HANGS,
    HTML,
    HUGE,
    HUGE_UNSIZED,
    JUDGED,
    KEY,
    LEAK,
    PRIMARY,
    REDIRECT,
    Behaviour,
    FakeModel,
    Said,
    always,
    completion,
    fake_model,
    honest,
    refusing,
    replying,
)
from tests.live import Live, live_server
from tests.web import llm
from tests.web.ledger import OPERATOR, me, places_with, total
from tests.web.llm import FAILED, OPERATIONS, UNUSABLE, ask, graded_server, scored

# The product warns of a model that is of no use; `test_nothing_of_it_is_logged` looks at what it says.
pytestmark = pytest.mark.logs_errors

REPLIES = {"judge": JUDGED, "consensus": COMPARED}
APPENDED = {"judge": llm.JUDGED, "consensus": llm.COMPARED}


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with fake_model() as fake:
        yield fake


@pytest.fixture
def live(tmp_path: Path, model: FakeModel) -> Iterator[Live]:
    with graded_server(tmp_path, model) as server:
        yield server


@pytest.fixture
def deterministic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server without a model."""
    with live_server(tmp_path_factory.mktemp("deterministic")) as server:
        yield server


def result_of(live: Live, operation: str, **more: Any) -> Any:
    """What the operation's example comes to."""
    answer = ask(live, operation, live.keys[0] if live.keys else live.new_key(), {**example(operation), **more})
    assert answer.status == 200, answer
    return scored(answer.json)


@pytest.mark.promise("llm.on_with_key")
@pytest.mark.promise("llm.judge_reply")
@pytest.mark.promise("llm.consensus_reply")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_usable_reply_is_the_result(live: Live, deterministic: Live, model: FakeModel, operation: str) -> None:
    found = result_of(live, operation, explain=True)
    assert (
        the_contract()
        .body_schema(f"{operation.title()}Response")
        .faults({**found, "request_id": "r", "retention": {"retained": False}})
        == []
    )
    plain = result_of(deterministic, operation, explain=True)
    reply = REPLIES[operation]
    assert found == {**plain, **reply, "engine": "llm", "reasons": [*reply["reasons"], APPENDED[operation]]}
    assert list(found) == list(plain), "the order of the members is the documented one"
    assert model.models == [PRIMARY]


@pytest.mark.promise("llm.on_with_key")
def test_health_says_that_it_is_on_and_what_is_sent_is_what_the_api_knows(live: Live, model: FakeModel) -> None:
    assert live.request("GET", "/v1/health").json["engines"] == {"deterministic": True, "llm": True}
    result_of(live, "judge", agent_id="a-tag", version="v-tag")
    (asked,) = model.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert asked.document["temperature"] == 0
    assert set(asked.document) == {"model", "messages", "temperature", "response_format"}
    assert [message["role"] for message in asked.document["messages"]] == ["system", "user"]
    assert asked.data == {name: example("judge")[name] for name in ("task", "agent_output", "evidence", "criteria")}
    assert "a-tag" not in json.dumps(asked.document)
    assert asked.nonce in asked.system


@pytest.mark.promise("llm.one_request")
@pytest.mark.parametrize(("setting", "sent"), [("1", {"type": "json_object"}), ("0", None)])
def test_json_mode_decides_on_response_format(
    tmp_path: Path, model: FakeModel, setting: str, sent: dict[str, str] | None
) -> None:
    with graded_server(tmp_path, model, LLM_JSON_MODE=setting) as live:
        for operation in OPERATIONS:
            result_of(live, operation)
    assert [asked.document.get("response_format") for asked in model.asked] == [sent, sent]


# What each answer of one model makes of a call: "fallback" asks the other model, "llm" is a usable reply.
OUTCOMES: dict[str, tuple[Behaviour, str]] = {
    "a good reply": (honest, "llm"),
    "404": (refusing(404), "fallback"),
    "500": (refusing(500), "fallback"),
    "502": (always(Said(502, b"<html>bad gateway</html>")), "fallback"),
    "503": (refusing(503), "fallback"),
    "400": (refusing(400), FAILED),
    "401": (refusing(401), FAILED),
    "402": (refusing(402), FAILED),
    "403": (refusing(403), FAILED),
    "429": (refusing(429), FAILED),
    "201": (lambda asked: completion("{}", status=201), FAILED),
    "a redirect": (always(REDIRECT), FAILED),
    "closes": (always(CLOSES), FAILED),
    "cut off": (always(CUT), FAILED),
    "50 MB": (always(HUGE), FAILED),
    "html": (always(HTML), UNUSABLE),
    "garbage": (always(GARBAGE), UNUSABLE),
    "nothing": (always(Said()), UNUSABLE),
    "an error as 200": (always(Said(200, b'{"error": {"message": "overloaded"}}')), UNUSABLE),
    "no choices": (always(Said(200, b'{"choices": []}')), UNUSABLE),
    "a refusal": (lambda asked: completion(None, refusal="no"), UNUSABLE),
    "prose": (replying("It is fine, I would say: pass."), UNUSABLE),
    "truncated json": (replying('{"verdict": "pass", "score": 0.9, "reasons": ["a"'), UNUSABLE),
    "a list": (replying("[]"), UNUSABLE),
    "wrong nonce": (replying(nonce="0" * 24), UNUSABLE),
    "no reasons": (replying(reasons=None), UNUSABLE),
    "empty reasons": (replying(reasons=[]), UNUSABLE),
    "reasons of numbers": (replying(reasons=[1]), UNUSABLE),
    "reasons as text": (replying(reasons="fine"), UNUSABLE),
    "a lone surrogate": (lambda asked: completion('{"reasons": ["\\ud800"]}'), UNUSABLE),
}

BY_OPERATION: dict[str, dict[str, Behaviour]] = {
    "judge": {
        "no verdict": replying(verdict=None),
        "no score": replying(score=None),
        "another verdict": replying(verdict="maybe"),
        "a verdict in a list": replying(verdict=["pass"]),
        "score as text": replying(score="0.5"),
        "score true": replying(score=True),
        "score 1.01": replying(score=1.01),
        "score -0.1": replying(score=-0.1),
        "score NaN": replying('{"verdict": "pass", "score": NaN, "reasons": ["a"]}'),
        "score 1e999": replying('{"verdict": "pass", "score": 1e999, "reasons": ["a"]}'),
        "a quote from nowhere": replying(claims=[{"claim": "c", "status": "supported", "quote": "It rained."}]),
        "another status": replying(claims=[{"claim": "c", "status": "true", "quote": ""}]),
        "claims as text": replying(claims="all"),
    },
    "consensus": {
        "no answer": replying(consensus_answer=None),
        "a blank answer": replying(consensus_answer="  "),
        "answer as number": replying(consensus_answer=4),
        "no agreement": replying(agreement_score=None),
        "agreement 1.5": replying(agreement_score=1.5),
        "agreement as text": replying(agreement_score="1"),
        "no risk": replying(false_consensus_risk=None),
        "another risk": replying(false_consensus_risk="none"),
    },
}


def check(live: Live, plain: Any, model: FakeModel, operation: str, wanted: str, models: list[str]) -> None:
    """Fails unless the next call is answered as `wanted`, having asked just these models, and is charged once."""
    key = live.new_key(email=f"n{len(live.keys)}@example.com")
    model.asked.clear()
    answer = ask(live, operation, key)
    assert answer.status == 200, answer
    assert model.models == models
    if wanted == "llm":
        assert answer.json["engine"] == "llm"
        assert answer.json["reasons"] == [*REPLIES[operation]["reasons"], APPENDED[operation]]
    else:
        assert scored(answer.json) == {**plain, "reasons": [*plain["reasons"], wanted]}
    assert LEAK not in answer.body.decode()
    shown = me(live, key)
    assert (shown["free_calls"]["used"], shown["usage"][0][operation]) == (1, 1)
    assert total(live, "reservations", "1") == 0


@pytest.mark.promise("llm.no_fallback")
@pytest.mark.promise("llm.failed_text")
@pytest.mark.promise("llm.unusable_text")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_outcome_of_the_primary(live: Live, deterministic: Live, model: FakeModel, operation: str) -> None:
    plain = result_of(deterministic, operation)
    table = {**OUTCOMES, **{name: (one, UNUSABLE) for name, one in BY_OPERATION[operation].items()}}
    for name, (behaviour, outcome) in table.items():
        model.next_of[PRIMARY].append(behaviour)
        wanted, models = ("llm", [PRIMARY, FALLBACK]) if outcome == "fallback" else (outcome, [PRIMARY])
        try:
            check(live, plain, model, operation, wanted, models)
        except AssertionError as error:
            raise AssertionError(f"{operation}, the primary: {name}") from error


@pytest.mark.promise("llm.fallback")
@pytest.mark.promise("llm.one_request")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("status", [404, 500])
def test_every_outcome_of_the_fallback(
    live: Live, deterministic: Live, model: FakeModel, operation: str, status: int
) -> None:
    plain = result_of(deterministic, operation)
    for name, (behaviour, outcome) in OUTCOMES.items():
        model.next_of[PRIMARY].append(refusing(status))
        model.next_of[FALLBACK].append(behaviour)
        try:
            check(live, plain, model, operation, FAILED if outcome == "fallback" else outcome, [PRIMARY, FALLBACK])
        except AssertionError as error:
            raise AssertionError(f"{operation}, the fallback: {name}") from error


@pytest.mark.promise("llm.fallback")
def test_a_fallback_of_the_same_name_is_none(tmp_path: Path, model: FakeModel) -> None:
    with graded_server(tmp_path, model, LLM_FALLBACK_MODEL=PRIMARY) as live:
        model.next_of[PRIMARY].append(refusing(404))
        assert result_of(live, "judge")["reasons"][-1] == FAILED
    assert model.models == [PRIMARY]


@pytest.mark.promise("llm.no_fallback")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_time_out_is_a_failure_and_asks_nobody_else(tmp_path: Path, model: FakeModel, operation: str) -> None:
    model.next_of[PRIMARY].append(always(HANGS))
    with graded_server(tmp_path, model, LLM_TIMEOUT_S="0.3") as live:
        assert result_of(live, operation)["reasons"][-1] == FAILED
    assert model.models == [PRIMARY]


@pytest.mark.promise("llm.bounded")
def test_an_endless_answer_is_cut_off_whether_it_says_its_length_or_not(live: Live, model: FakeModel) -> None:
    for huge in (HUGE, HUGE_UNSIZED):
        model.sent = 0
        model.next_of[PRIMARY].append(always(huge))
        assert result_of(live, "judge")["reasons"][-1] == FAILED
        assert model.sent < 25, "it was not read to its end"


GOOD = '{"nonce": "NONCE", "verdict": "fail", "score": 0.2, "reasons": ["r"]}'


@pytest.mark.promise("llm.judge_reply")
@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{GOOD}\n```",
        f"Here is my verdict:\n\n{GOOD}\n\nI hope that helps.",
        f'<think>the output has {{"verdict": 1}} in it</think>\n{GOOD}',
        GOOD.replace('["r"]', '["r",],'),
        f"Thinking: {GOOD.replace('NONCE', 'none').replace('fail', 'pass')}\nFinal: {GOOD}",
        "\ufeff\n" + GOOD.replace('"score"', '"note": "line\nbreak", "score"'),
    ],
)
def test_a_reply_is_read_tolerantly(live: Live, model: FakeModel, text: str) -> None:
    model.next_of[PRIMARY].append(replying(text))
    found = result_of(live, "judge")
    assert (found["verdict"], found["score"], found["reasons"]) == ("fail", 0.2, ["r", llm.JUDGED])


@pytest.mark.promise("llm.band")
@pytest.mark.parametrize(
    ("verdict", "said", "shown"),
    [
        ("pass", 0.1, 0.7),
        ("pass", 0.69999, 0.7),
        ("pass", 1, 1.0),
        ("retry", 0.9, 0.69),
        ("retry", 0.695, 0.69),
        ("retry", 0, 0.4),
        ("fail", 0.8, 0.39),
        ("fail", 0.395, 0.39),
        ("fail", 0, 0.0),
        ("retry", 0.512, 0.51),
    ],
)
def test_a_score_moves_to_the_edge_of_its_band(
    live: Live, model: FakeModel, verdict: str, said: float, shown: float
) -> None:
    model.next_of[PRIMARY].append(replying(verdict=verdict, score=said))
    found = result_of(live, "judge")
    assert (found["verdict"], found["score"], found["engine"]) == (verdict, shown, "llm")


def test_a_whole_agreement_is_written_as_the_rules_write_it(live: Live, model: FakeModel) -> None:
    model.next_of[PRIMARY].append(replying(agreement_score=1.0))
    answer = ask(live, "consensus", live.new_key())
    assert b'"agreement_score":1,' in answer.body


@pytest.mark.promise("ops.logs")
def test_nothing_of_it_is_logged_or_counted_but_names_and_numbers(
    live: Live, model: FakeModel, caplog: pytest.LogCaptureFixture
) -> None:
    for behaviour in (refusing(401), refusing(429), always(HTML), always(CLOSES), honest, replying(score=7)):
        model.next_of[PRIMARY].append(behaviour)
        result_of(live, "judge")
    model.next_of[PRIMARY].append(refusing(500))
    result_of(live, "consensus")
    lines = [JsonFormatter().format(record) for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(lines) == 6
    assert all("a model was of no use" in line for line in lines)
    metrics = live.request("GET", "/metrics", key=OPERATOR).body.decode()
    for text in (LEAK, KEY, "Canaveral", live.keys[0]):
        assert text not in metrics + "".join(lines)
    for line in (
        'screwtape_model_calls_total{model="primary",outcome="unauthorized"} 1.0',
        'screwtape_model_calls_total{model="primary",outcome="rate_limited"} 1.0',
        'screwtape_model_calls_total{model="primary",outcome="unanswered"} 1.0',
        'screwtape_model_calls_total{model="primary",outcome="unusable"} 2.0',
        'screwtape_model_calls_total{model="primary",outcome="answered"} 1.0',
        'screwtape_model_calls_total{model="primary",outcome="server_error"} 1.0',
        'screwtape_model_calls_total{model="fallback",outcome="answered"} 1.0',
        'screwtape_model_tokens_total{direction="in"} 2100.0',
        'screwtape_model_tokens_total{direction="out"} 270.0',
        'screwtape_model_seconds_count{model="primary"} 7.0',
    ):
        assert line in metrics


def test_what_is_retained_and_counted_is_what_was_answered(live: Live, tmp_path: Path) -> None:
    key = live.new_key()
    first = ask(live, "judge", key, {**example("judge"), "retain": True, "agent_id": "a"})
    (row,) = live.request("GET", "/v1/retention", key=key).json["data"]
    assert row["response"] == first.json
    assert first.json["engine"] == "llm"
    assert (total(live, "drift_hours", "retries"), total(live, "drift_hours", "passes")) == (1, 0)


def test_what_a_model_says_is_kept_nowhere_unless_it_is_retained(live: Live, tmp_path: Path) -> None:
    key = live.new_key()
    ask(live, "judge", key)
    assert places_with(live, tmp_path, JUDGED["reasons"][0]) == []
    ask(live, "judge", key, {**example("judge"), "retain": True})
    assert places_with(live, tmp_path, JUDGED["reasons"][0]) != []
