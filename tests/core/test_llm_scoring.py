"""What a reply makes of a result: ceilings, bands, quotes."""

import json
from typing import Any

import pytest

from api.core.llm import scoring
from api.core.llm.completion import MOST_STARTS, find_object, read_completion
from api.core.llm.scoring import compared, judged, usable

RESULT = {"verdict": "fail", "score": 0.12, "reasons": ["5 is not 4."], "engine": "deterministic"}
AGREED = {
    "consensus_answer": "alpha bravo",
    "agreement_score": 0.67,
    "false_consensus_risk": "medium",
    "reasons": ["A minority."],
    "clusters": [{"size": 2}],
    "engine": "deterministic",
}
FIELDS = {"evidence": ["The crew size was “4”,\n and  it launched.", "Zürich"]}


def reply(**changes: Any) -> dict[str, Any]:
    return {"verdict": "pass", "score": 0.95, "reasons": ["All fine."], **changes}


@pytest.mark.promise("llm.hard_conflict")
def test_a_verdict_never_rises_above_a_hard_conflict() -> None:
    for verdict in ("pass", "retry"):
        found = judged(RESULT, reply(verdict=verdict), hard_conflict=True, directed=False)
        assert (found["verdict"], found["score"]) == ("fail", 0.39)
        assert found["reasons"] == ["5 is not 4.", "All fine.", scoring.HELD_BY_CONFLICT, scoring.JUDGED]


@pytest.mark.promise("llm.hard_conflict")
def test_a_verdict_may_sink_and_without_a_conflict_rise() -> None:
    retry = {**RESULT, "verdict": "retry", "score": 0.5}
    assert judged(retry, reply(verdict="fail", score=0.1), hard_conflict=False, directed=True)["verdict"] == "fail"
    lifted = judged(retry, reply(), hard_conflict=False, directed=False)
    assert (lifted["verdict"], lifted["score"], lifted["reasons"]) == ("pass", 0.95, ["All fine.", scoring.JUDGED])
    assert judged(RESULT, reply(), hard_conflict=False, directed=False)["verdict"] == "pass"


@pytest.mark.promise("llm.injection")
def test_a_verdict_never_rises_above_an_injection() -> None:
    for verdict, score in (("retry", 0.69), ("fail", 0.39)):
        result = {**RESULT, "verdict": verdict}
        found = judged(result, reply(), hard_conflict=False, directed=True)
        assert (found["verdict"], found["score"]) == (verdict, score)
        assert found["reasons"][-2:] == [scoring.HELD_BY_DIRECTION, scoring.JUDGED]


@pytest.mark.promise("llm.injection")
def test_a_directed_consensus_can_only_get_worse() -> None:
    said = {
        "consensus_answer": "evil",
        "agreement_score": 1.0,
        "false_consensus_risk": "low",
        "reasons": ["They all agree."],
    }
    held = compared(AGREED, said, directed=True)
    assert [held[name] for name in scoring.REQUIRED["consensus"][:3]] == ["alpha bravo", 0.67, "medium"]
    assert held["reasons"] == ["They all agree.", scoring.HELD_CONSENSUS, scoring.COMPARED]
    worse = {**said, "consensus_answer": "alpha bravo", "agreement_score": 0.3, "false_consensus_risk": "high"}
    found = compared(AGREED, worse, directed=True)
    assert (found["agreement_score"], found["false_consensus_risk"]) == (0.3, "high")
    assert scoring.HELD_CONSENSUS not in found["reasons"]
    free = compared(AGREED, said, directed=False)
    assert (free["consensus_answer"], free["agreement_score"], free["clusters"]) == ("evil", 1, AGREED["clusters"])
    assert isinstance(free["agreement_score"], int)


@pytest.mark.parametrize(
    ("quote", "stands"),
    [
        ("The crew size was", True),
        ('the crew size was "4", and it launched', True),
        ("“The crew size … it launched.”", True),
        ("ZÜRICH", True),
        ("", True),
        (None, True),
        ("The crew size was 5", False),
        ("it launched. Zürich", False),
        (4, False),
    ],
)
def test_quotes_must_stand_in_the_evidence(quote: Any, stands: bool) -> None:
    text = json.dumps(reply(claims=[{"claim": "c", "status": "supported", "quote": quote}]))
    assert (usable("judge", text, "n", FIELDS) is not None) is stands


def test_the_nonce_is_checked_when_it_is_there() -> None:
    for nonce, good in (("n", True), ("other", False), (None, False), (1, False)):
        assert (usable("judge", json.dumps(reply(nonce=nonce)), "n", FIELDS) is not None) is good
    assert usable("judge", json.dumps(reply()), "n", FIELDS) is not None


GOOD = {"a": 1, "nonce": "n"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1, "nonce": "n"}', GOOD),
        ('prose {"b": 2} and {"a": 1, "nonce": "n"} more', GOOD),
        ('{"a": 1, "nonce": "n",}', GOOD),
        ('{"a": [1,], "nonce": "n, }"}', {"a": [1], "nonce": "n, }"}),
        ('quoted {"a": 9} mine {"a": 1, "nonce": "n"}', GOOD),
        ('{"a": 1, "nonce": "n"} again {"a": 1, "nonce": "n"}', GOOD),
        ('{"a": 1} or {"a": 2}', None),
        ('{"a": 1, "a": 2, "nonce": "n"}', None),
        ('{"a": NaN}', None),
        ('{"a": Infinity}', None),
        ('[{"a": 1}', {"a": 1}),
        ('{"a": 1', None),
        ("", None),
        ("null", None),
        ("{" * 100_000, None),
        ('{"a":' * 100_000, None),
        ('{"a": "\\ud800"}', None),
        ("{} " * MOST_STARTS + '{"a": 1}', None),
    ],
)
def test_an_object_is_found_or_not(text: str, found: Any) -> None:
    assert find_object(text, ("a",), "n") == found


def said(content: object, **usage: object) -> bytes:
    return json.dumps({"choices": [{"message": {"content": content}}], "usage": usage}).encode()


@pytest.mark.parametrize(
    ("body", "text", "tokens"),
    [
        (said("x", prompt_tokens=3, completion_tokens=4), "x", (3, 4)),
        (said([{"type": "text", "text": "x"}, {"text": "y"}, 1]), "xy", (0, 0)),
        (said("x", prompt_tokens=-3, completion_tokens=True), "x", (0, 0)),
        (said("x", prompt_tokens="3", completion_tokens=10**12), "x", (0, 0)),
        (said(None), "", (0, 0)),
        (b'{"choices": [{"message": "x"}]}', "", (0, 0)),
        (b'{"choices": {"0": 1}, "usage": []}', "", (0, 0)),
        (b"[1]", "", (0, 0)),
        (b"\xff", "", (0, 0)),
        (b"[" * 100_000, "", (0, 0)),
    ],
)
def test_a_completion_is_read_or_has_no_text(body: bytes, text: str, tokens: tuple[int, int]) -> None:
    found = read_completion(body)
    assert (found.text, (found.tokens_in, found.tokens_out)) == (text, tokens)
