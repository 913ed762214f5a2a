"""The whole `signals` object: its shape, its properties, and that it is the same in every process."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.core.consensus import Answer, consensus
from api.core.judge import judge
from api.core.signals import consensus_signals

FIELDS = [
    "similarities",
    "conflicts",
    "copies",
    "answer_keys",
    "entropy",
    "effective_agents",
    "dissents",
    "repeated_agents",
    "claims",
]
PHRASES = (
    "The crew size was 4.", "The crew size was 5.", "A: 42", "#### 42", "42", "The answer is 42.", "Yes.", "No, never.",
    "(B)", "It launched from Cape Canaveral on 1 March 2024.", "in March 2024", "The drug is not safe.", "safe",
    "I cannot answer that.", "乗組員は四人です。", "Ответ: 42", "\\boxed{7}", '{"answer": 7}', "3 + 4 = 7", "", "???",
    "Paris",
)  # fmt: skip
texts = st.one_of(
    st.lists(st.sampled_from(PHRASES), min_size=1, max_size=3).map(" ".join),
    st.text(max_size=60),
    st.text(alphabet="a1 .,-/:=#*{}[]()\\\"'?!%$\n是答", max_size=60),
)
answers = st.builds(Answer, texts, st.one_of(st.none(), st.sampled_from(["a", "b", "answer-2"])))


def signals(given_answers: list[Answer], task: str = "", evidence: tuple[str, ...] = ()) -> dict[str, Any]:
    return consensus_signals(consensus(given_answers), task, evidence)


@given(st.lists(answers, min_size=2, max_size=6), texts, st.lists(texts, max_size=2))
@settings(max_examples=120, deadline=None)
def test_never_raises_and_changes_nothing(many: list[Answer], task: str, evidence: list[str]) -> None:
    result = consensus(many)
    before = json.dumps(result.as_dict())
    found = consensus_signals(result, task, evidence)
    assert json.dumps(result.as_dict()) == before
    assert list(found) == FIELDS
    json.dumps(found, allow_nan=False)
    keyed = sorted(index for key in found["answer_keys"] for index in key["answers"])
    assert keyed == list(range(len(many)))
    assert 0 <= found["entropy"] <= 4
    assert 1 <= found["effective_agents"] <= len(many)
    assert all(len(set(one["values"])) > 1 for one in found["conflicts"])
    assert len(found["dissents"]) == len(many) - len(result.winner.members)


@given(st.lists(texts, min_size=2, max_size=6), st.randoms(use_true_random=False), texts)
@settings(max_examples=120, deadline=None)
def test_permuting_the_answers_permutes_what_does_not_depend_on_clusters(
    outputs: list[str], random: Any, task: str
) -> None:
    order = list(range(len(outputs)))
    random.shuffle(order)
    one = signals([Answer(output) for output in outputs], task)
    other = signals([Answer(outputs[index]) for index in order], task)
    assert other["similarities"] == [[one["similarities"][a][b] for b in order] for a in order]
    assert {frozenset(order[i] for i in key["answers"]): key["key"] for key in other["answer_keys"]} == {
        frozenset(key["answers"]): key["key"] for key in one["answer_keys"]
    }
    assert {frozenset(order[i] for i in pair["answers"]): pair["containment"] for pair in other["copies"]} == {
        frozenset(pair["answers"]): pair["containment"] for pair in one["copies"]
    }
    assert (other["entropy"], other["effective_agents"]) == (one["entropy"], one["effective_agents"])


def test_claims_are_the_judges_for_each_representative() -> None:
    many = [
        Answer("The crew size was 5.", "a"),
        Answer("The crew size was 5.", "b"),
        Answer("It launched in March.", "c"),
    ]
    evidence = ("The crew size was 4.",)
    assert signals(many)["claims"] is None
    claims = signals(many, "State the crew size.", evidence)["claims"]
    assert [claim["cluster"] for claim in claims] == [0, 1]
    for claim, output in zip(claims, ("The crew size was 5.", "It launched in March."), strict=True):
        expected = judge("State the crew size.", output, evidence)
        assert (claim["verdict"], claim["score"]) == (expected.verdict, expected.score)
        assert [one["text"] for one in claim["claims"]] == [one.text for one in expected.claims]
    assert claims[0]["verdict"] == "fail"


def test_ids_are_those_that_the_result_shows() -> None:
    found = signals([Answer("42"), Answer("42", "b"), Answer("41", "b")])
    assert [key["agent_ids"] for key in found["answer_keys"]] == [["answer-1", "b"], ["b"]]
    assert [key["share"] for key in found["answer_keys"]] == [0.67, 0.33]
    assert found["repeated_agents"] == [{"agent_id": "b", "answers": [1, 2]}]


@pytest.mark.parametrize("task", ["", "How many were there?"])
def test_the_largest_answers_have_bounded_results(task: str) -> None:
    many = [Answer((f"The size of w{n} was {n + shift}. " * 1)[:16_000]) for n, shift in ((1, 0), (1, 1))]
    many += [Answer("".join(f"The size of w{n} was {n + shift}. " for n in range(700))[:16_000]) for shift in range(6)]
    found = signals(many, task)
    assert len(found["conflicts"]) <= 100
    assert all(len(one["values"]) <= 10 for dissent in found["dissents"] for one in dissent["differs"])


SCRIPT = """
import json, sys
from api.core.consensus import Answer, consensus
from api.core.signals import consensus_signals
outputs = json.loads(sys.stdin.read())
result = consensus([Answer(output) for output in outputs])
print(json.dumps(consensus_signals(result, "Who won, and when?", ["Ann won."])))
"""


def test_every_process_gives_the_same_bytes() -> None:
    outputs = [" ".join(PHRASES[start : start + 6]) for start in range(0, 16, 2)] + list(PHRASES[:8])
    printed = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            input=json.dumps(outputs),
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[2],
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(printed) == 1
    assert json.loads(printed.pop()) == consensus_signals(
        consensus([Answer(output) for output in outputs]), "Who won, and when?", ["Ann won."]
    )
