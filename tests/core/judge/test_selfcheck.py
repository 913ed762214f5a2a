import pytest

from api.core.judge.claims import split_claims
from api.core.judge.parse import parse
from api.core.judge.selfcheck import contradictions


def found(output: str) -> list[str]:
    return contradictions(output, [(claim, parse(claim.text)) for claim in split_claims(output)])


@pytest.mark.promise("judge.fail_itself")
@pytest.mark.parametrize(
    ("output", "what"),
    [
        ("The crew size was 4. The crew size was 5.", "4 is not 5"),
        ("The crew size was 4. It sailed. The crew size was about five.", "4 is not five"),
        ("The door is open. The door is not open.", "one denies what the other states"),
    ],
)
def test_claims_that_cannot_both_hold(output: str, what: str) -> None:
    assert [reason.rpartition(": ")[2] for reason in found(output)] == [what + "."]


@pytest.mark.parametrize(
    "output",
    [
        "The crew size was 4. The crew size was four.",
        "Room 1 was 4 metres wide. Room 2 was 5 metres wide.",
        "She won in 1998. She won in 2002.",
        "The year was 1998. The year was 1999.",
        "Plan A.\n\nThe price is 4.\n\nPlan B.\n\nThe price is 5.",
        "- The price is 4.\n- The price is 5.",
        "The price is 4. The price was 5 before.",
        "He scored 4 goals there. He scored 5 goals there.",
        "The door is open. The door is not open now.",
        '[{"price": 4}, {"price": 5}]',
    ],
)
def test_claims_that_can_both_hold(output: str) -> None:
    assert found(output) == []
