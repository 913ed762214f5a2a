"""Judge and consensus over a real socket."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.service.engine_work import consensus_body, judge_body
from tests.examples import ROOT, example
from tests.live import Answer, Live, live_server

CASES: list[dict[str, Any]] = json.loads(
    (ROOT / "tests" / "golden" / "consensus-cases.json").read_text(encoding="utf-8")
)
NOTE = "Deterministic checks compare wording, numbers and names. They do not judge truth."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live_server(tmp_path_factory.mktemp("validation")) as live:
        live.new_key()
        yield live


def judge(server: Live, **body: Any) -> Any:
    answer = server.request("POST", "/v1/judge", body, key=server.keys[0])
    assert answer.status == 200, answer.body
    return answer.json


def consensus(server: Live, body: Any) -> Answer:
    answer = server.request("POST", "/v1/consensus", body, key=server.keys[0])
    assert answer.status == 200, answer.body
    return answer


@pytest.mark.promise("judge.example")
@pytest.mark.promise("judge.answer")
@pytest.mark.promise("product.judge")
@pytest.mark.promise("judge.pass")
def test_the_documented_example_passes(server: Live) -> None:
    body = example("judge")
    assert body == {
        "task": "State the crew size and launch site.",
        "agent_output": "The crew size was 4. The mission launched from Cape Canaveral.",
        "evidence": ["The mission launched on 2024-03-01 from Cape Canaveral.", "The crew size was 4."],
        "criteria": ["crew size", "Cape Canaveral"],
    }
    answer = judge(server, **body)
    assert list(answer) == ["verdict", "score", "reasons", "engine", "request_id", "retention"]
    assert answer["verdict"] == "pass"
    assert 0.7 <= answer["score"] <= 1
    assert answer["engine"] == "deterministic"
    assert answer["reasons"][-1] == NOTE


@pytest.mark.promise("judge.fail_conflict")
@pytest.mark.promise("judge.reasons")
def test_a_contradiction_fails_and_quotes_both(server: Live) -> None:
    body = {**example("judge"), "agent_output": "The crew size was 5."}
    answer = judge(server, **body)
    assert answer["verdict"] == "fail"
    assert answer["score"] < 0.4
    (reason,) = [reason for reason in answer["reasons"] if "conflict" in reason]
    assert '"The crew size was 5."' in reason
    assert '"The crew size was 4."' in reason
    assert "evidence[1]" in reason


@pytest.mark.promise("judge.retry_criterion")
@pytest.mark.promise("judge.reasons")
def test_an_unmet_criterion_is_a_retry_that_names_it(server: Live) -> None:
    body = {**example("judge"), "agent_output": "The crew size was 4."}
    answer = judge(server, **body)
    assert answer["verdict"] == "retry"
    assert any('"Cape Canaveral"' in reason for reason in answer["reasons"])
    assert not any('"crew size"' in reason for reason in answer["reasons"] if "not met" in reason)


RETRIES: dict[str, dict[str, Any]] = {
    "an empty output": {"agent_output": ""},
    "white space": {"agent_output": " \n\t"},
    "a refusal": {"agent_output": "I'm sorry, but I can't help with that."},
    "nothing to check against": {"agent_output": "The crew size was 4.", "evidence": [], "criteria": []},
    "a claim without support": {
        "agent_output": "The crew size was 4. The mission launched from Cape Canaveral. The flag was sewn by hand.",
    },
}


@pytest.mark.promise("judge.retry")
@pytest.mark.parametrize("name", RETRIES)
def test_what_the_agent_can_mend_is_a_retry(server: Live, name: str) -> None:
    answer = judge(server, **{**example("judge"), **RETRIES[name]})
    assert answer["verdict"] == "retry", answer
    assert 0.4 <= answer["score"] < 0.7
    assert len(answer["reasons"]) >= 2


FAILS: dict[str, dict[str, Any]] = {
    "a forbidden text": {"criteria": ["not: Canaveral"]},
    "a missing exact text": {"criteria": ["contains: Kourou"]},
    "too many words": {"criteria": ["max_words: 3"]},
    "no JSON": {"criteria": ["json"]},
}


@pytest.mark.promise("judge.fail_exact")
@pytest.mark.parametrize("name", FAILS)
def test_a_broken_exact_criterion_fails(server: Live, name: str) -> None:
    answer = judge(server, **{**example("judge"), **FAILS[name]})
    assert answer["verdict"] == "fail", answer
    assert answer["score"] < 0.4


BANDS = {"fail": (0, 0.4), "retry": (0.4, 0.7), "pass": (0.7, 1.01)}


@pytest.mark.promise("judge.bands")
@pytest.mark.parametrize(
    "output", ["", "4", "The crew size was 4.", "The crew size was 5.", "Bananas are yellow fruit."]
)
@pytest.mark.parametrize("criteria", [[], ["crew size"], ["not: crew"]])
def test_the_score_lies_in_its_verdicts_band(server: Live, output: str, criteria: list[str]) -> None:
    answer = judge(server, **{**example("judge"), "agent_output": output, "criteria": criteria})
    low, high = BANDS[answer["verdict"]]
    assert low <= answer["score"] < high


@pytest.mark.promise("judge.explain")
def test_explain_adds_signals_and_changes_nothing_else(server: Live) -> None:
    for output in (example("judge")["agent_output"], "The crew size was 5."):
        body = {**example("judge"), "agent_output": output}
        plain, explained, not_explained = (
            judge(server, **body),
            judge(server, **body, explain=True),
            judge(server, **body, explain=False),
        )
        signals = explained.pop("signals")
        for answer in (plain, explained, not_explained):
            del answer["request_id"]
        assert plain == explained == not_explained
        assert list(plain) == list(explained)
        assert [criterion["text"] for criterion in signals["criteria"]] == body["criteria"]
        for claim in signals["claims"]:
            assert output[claim["start"] : claim["end"]] == claim["text"]


@pytest.mark.promise("judge.deterministic")
def test_the_same_request_has_the_same_answer_on_another_server(server: Live, tmp_path: Path) -> None:
    with live_server(tmp_path) as other:
        other.new_key()
        for operation in ("judge", "consensus"):
            answers = [
                live.request("POST", f"/v1/{operation}", example(operation), key=live.keys[0]).json
                for live in (server, server, other)
            ]
            for answer in answers:
                del answer["request_id"]
            assert answers[0] == answers[1] == answers[2]


@pytest.mark.promise("consensus.five_cases")
@pytest.mark.promise("consensus.answer")
@pytest.mark.promise("product.consensus")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_documented_cases_match_to_the_byte(server: Live, case: dict[str, Any]) -> None:
    answer = consensus(server, case["request"])
    written = json.dumps(case["result"], ensure_ascii=False, separators=(",", ":"))
    assert answer.body.decode().startswith(written[:-1] + ',"request_id":"')
    assert list(answer.json)[len(case["result"]) :] == ["request_id", "retention"]


@pytest.mark.promise("contract.examples")
def test_the_examples_are_the_documented_ones() -> None:
    assert example("consensus") == CASES[0]["request"]
    assert example("create_key") == {"email": "dev@example.com", "name": "Local dev"}
    assert len(CASES) == 5


@pytest.mark.promise("retention.not_retained")
@pytest.mark.parametrize("operation", ["judge", "consensus"])
def test_what_is_not_to_be_kept_is_said_not_to_be(server: Live, operation: str) -> None:
    answer = server.request("POST", f"/v1/{operation}", example(operation), key=server.keys[0])
    assert answer.json["retention"] == {"retained": False}


@pytest.mark.promise("retention.nowhere")
def test_what_was_judged_is_in_no_file(tmp_path: Path) -> None:
    with live_server(tmp_path) as live:
        key = live.new_key()
        texts = {"task": "MARKER-1 task", "evidence": ["MARKER-2 evidence"]}
        live.request("POST", "/v1/judge", {**texts, "agent_output": "MARKER-3", "criteria": ["MARKER-4"]}, key=key)
        answers = [{"output": "MARKER-5"}, {"output": "MARKER-6", "agent_id": "MARKER-7"}]
        live.request("POST", "/v1/consensus", {"task": "MARKER-8", "answers": answers}, key=key)
        live.request("POST", "/v1/judge", b'{"task": "MARKER-9', key=key)
        stored = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert len(stored) >= 2
        assert not [path for path in stored if b"MARKER" in path.read_bytes()]
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"MARKER" in path.read_bytes()]


def heavy_judge() -> dict[str, Any]:
    evidence = [f"Station {n} measured {n * 7} millimetres of rain in {1900 + n}." for n in range(50)]
    output = " ".join(f"Station {n} measured {n * 7 + n % 2} millimetres of rain in {1900 + n}." for n in range(300))
    return {"task": "Report the rain.", "agent_output": output, "evidence": evidence, "criteria": ["rain"]}


def heavy_consensus() -> dict[str, Any]:
    outputs = [" ".join(f"word{n * step}" for n in range(1_000)) for step in (1, 1, 2, 3)]
    return {"task": "List words.", "answers": [{"output": output} for output in outputs]}


@pytest.mark.promise("judge.process_pool")
def test_large_inputs_get_the_result_they_would_get_inline(server: Live) -> None:
    for path, body, work in (
        ("/v1/judge", heavy_judge(), judge_body),
        ("/v1/consensus", heavy_consensus(), consensus_body),
    ):
        answer = server.request("POST", path, body, key=server.keys[0])
        assert answer.status == 200, answer.body
        inline = json.loads(json.dumps(work(body)))
        assert {name: answer.json[name] for name in inline} == inline
        assert list(answer.json)[: len(inline)] == list(inline)


SIGNALS = [
    *("similarities", "conflicts", "copies", "answer_keys", "entropy", "effective_agents"),
    *("dissents", "repeated_agents", "claims"),
]


@pytest.mark.promise("consensus.explain")
def test_explain_adds_signals_to_a_consensus_and_changes_nothing_else(server: Live) -> None:
    for case in CASES:
        plain, explained = (consensus(server, {**case["request"], **extra}).json for extra in ({}, {"explain": True}))
        signals = explained.pop("signals")
        assert list(signals) == SIGNALS
        assert signals["claims"] is None
        del plain["request_id"], explained["request_id"]
        assert json.dumps(plain) == json.dumps(explained)


@pytest.mark.promise("consensus.explain_conflicts")
def test_signals_name_the_number_on_which_one_cluster_contradicts_itself(server: Live) -> None:
    outputs = ("The crew size was 4.", "The crew size was 4.", "The crew size was 5.")
    answers = [{"output": output, "agent_id": agent} for output, agent in zip(outputs, "abc", strict=True)]
    answer = consensus(server, {"task": "State the crew size.", "answers": answers, "explain": True}).json
    assert len(answer["clusters"]) == 1
    conflict = {"cluster": 0, "kind": "number", "values": ["4", "4", "5"], "agent_ids": ["a", "b", "c"]}
    assert answer["signals"]["conflicts"] == [conflict]


@pytest.mark.promise("consensus.evidence")
def test_evidence_is_used_by_explain_only(server: Live) -> None:
    request = {**example("consensus"), "evidence": ["The crew size was 5."]}
    plain, with_evidence = consensus(server, example("consensus")).json, consensus(server, request).json
    del plain["request_id"], with_evidence["request_id"]
    assert plain == with_evidence
    (checked,) = consensus(server, {**request, "explain": True}).json["signals"]["claims"]
    assert (checked["cluster"], checked["verdict"]) == (0, "fail")
