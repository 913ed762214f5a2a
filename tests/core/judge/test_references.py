import pytest

from api.core.judge import judge
from api.core.judge.index import Evidence
from api.core.judge.phrases import Output
from api.core.judge.references import references

TASK = "What is the capital of France?"


def test_evidence_is_reference_answers_when_every_item_is_short() -> None:
    assert references(Evidence(["Paris", "the city of Paris"]), Output("")).answers == (
        frozenset({"paris"}),
        frozenset({"city", "paris"}),
    )
    long = "Paris has been the old capital of the French state for many long centuries."
    assert references(Evidence(["Paris", long]), Output("")).answers == ()


@pytest.mark.parametrize(
    ("output", "verdict"),
    [
        ("Paris", "pass"),
        ("The capital of France is Paris.", "pass"),
        ("It is Paris, on the river Seine.", "retry"),
        ("Rome", "fail"),
        ("The capital of France is Rome.", "fail"),
        ("The capital of France is not Paris.", "retry"),
    ],
)
def test_is_the_answer_in_the_output(output: str, verdict: str) -> None:
    found = judge(TASK, output, ["Paris"])
    assert found.verdict == verdict or (output.endswith("not Paris.") and found.verdict != "pass")


def test_a_wrong_answer_is_told_the_reference() -> None:
    assert judge(TASK, "Rome", ["Paris"]).reasons[0] == (
        'Claim "Rome" has none of the reference answers: evidence[0] "Paris".'
    )


def test_a_reference_that_is_not_in_the_output_lowers_nothing_when_every_claim_is_supported() -> None:
    assert judge(TASK, "The crew size was 4.", ["The crew size was 4.", "Cape Canaveral"]).verdict == "pass"
