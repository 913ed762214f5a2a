"""The judge as a caller sees it."""

import json

import pytest

from api.core.judge import Judgement, judge, signals

EVIDENCE = ["The mission launched on 2024-03-01 from Cape Canaveral.", "The crew size was 4."]
CLOSING = "Deterministic checks compare wording, numbers and names. They do not judge truth."
BANDS = {"fail": (0.0, 0.39), "retry": (0.40, 0.69), "pass": (0.70, 1.0)}


def check(
    output: str, evidence: list[str] | None = None, criteria: list[str] | None = None, task: str = ""
) -> Judgement:
    judgement = judge(task, output, EVIDENCE if evidence is None else evidence, criteria or [])
    low, high = BANDS[judgement.verdict]
    assert low <= judgement.score <= high
    assert judgement.score == round(judgement.score, 2)
    assert judgement.reasons[-1] == CLOSING
    assert all(reason.endswith(".") for reason in judgement.reasons)
    assert all(output[claim.start : claim.end] == claim.text for claim in judgement.claims)
    return judgement


def test_the_documented_example() -> None:
    output = "The crew size was 4. The mission launched from Cape Canaveral."
    judgement = check(output, criteria=["crew size", "Cape Canaveral"], task="State the crew size and launch site.")
    assert judgement.verdict == "pass"
    assert not judgement.hard_conflict
    assert judgement.reasons == (
        'Claim "The crew size was 4." is supported by evidence[1] "The crew size was 4.".',
        'Claim "The mission launched from Cape Canaveral." is supported by evidence[0] '
        '"The mission launched on 2024-03-01 from Cape Canaveral.".',
        'Criterion "crew size" is met: the output has "crew size".',
        'Criterion "Cape Canaveral" is met: the output has "Cape Canaveral".',
        CLOSING,
    )


@pytest.mark.promise("judge.fail_conflict")
def test_a_conflict_quotes_both_sides() -> None:
    judgement = check("The crew size was 5.")
    assert (judgement.verdict, judgement.hard_conflict) == ("fail", True)
    assert judgement.reasons == (
        'Claim "The crew size was 5." conflicts with evidence[1] "The crew size was 4.": 5 is not 4.',
        CLOSING,
    )


def test_signals_are_plain_json() -> None:
    judgement = check("The crew size was 5. It has 9 cats.", criteria=["dogs"])
    found = signals(judgement)
    assert json.loads(json.dumps(found)) == found
    assert found["claims"][0] == {
        "text": "The crew size was 5.",
        "start": 0,
        "end": 20,
        "status": "contradicted",
        "evidence_index": 1,
        "evidence_span": [0, 20],
        "missing": [],
        "conflicts": ["5 is not 4"],
    }
    assert found["claims"][1]["status"] == "unsupported"
    assert found["claims"][1]["evidence_span"] is None
    assert found["claims"][1]["missing"] == ["9", "cats"]
    assert found["criteria"] == [{"text": "dogs", "met": False, "why": 'the output lacks "dogs"'}]


@pytest.mark.promise("judge.reasons")
@pytest.mark.parametrize(
    ("output", "verdict", "reason"),
    [
        ("", "retry", "The output is empty."),
        (" \n", "retry", "The output is empty."),
        ("...", "retry", "The output makes no statement that can be checked."),
        ("Yes.", "retry", "The output makes no statement that can be checked."),
        ("What is the crew size?", "retry", "The output makes no statement that can be checked."),
        ("I cannot answer this.", "retry", 'The output declines the task: "I cannot answer this.".'),
        ("The mission launched from the", "retry", 'The output stops in the middle: "The mission launched from the".'),
        ("Bananas are yellow.", "fail",
         'Most of the output is about something that the evidence does not mention: "Bananas are yellow.".'),
        ("The crew size was 4 in Oslo.", "retry",
         'Claim "The crew size was 4 in Oslo." is only partly supported by evidence[1] "The crew size was 4.": '
         '"Oslo" not found.'),
        ("2 + 2 = 5.", "fail", 'Claim "2 + 2 = 5." states a false equation: 2 + 2 = 5; the left side is 4.'),
        ("The crew size was 4. The crew size was 5.", "fail",
         'Claim "The crew size was 5." conflicts with evidence[1] "The crew size was 4.": 5 is not 4.'),
    ],
)  # fmt: skip
def test_first_reason(output: str, verdict: str, reason: str) -> None:
    judgement = check(output)
    assert (judgement.verdict, judgement.reasons[0]) == (verdict, reason)


def test_without_evidence_or_criteria_there_is_nothing_to_check_against() -> None:
    judgement = check("The crew size was 4.", evidence=[])
    assert judgement.verdict == "retry"
    assert judgement.reasons[0] == "There is neither evidence nor a criterion to check the output against."


def test_criteria_alone_can_pass() -> None:
    assert check("The crew size was 4.", evidence=[], criteria=["crew size"]).verdict == "pass"
    unmet = check("The crew size was 4.", criteria=["launch pad"])
    assert (unmet.verdict, unmet.hard_conflict) == ("retry", False)
    assert unmet.reasons[0] == 'Criterion "launch pad" is not met: the output lacks "launch", "pad".'


def test_a_broken_exact_criterion_fails() -> None:
    judgement = check("The crew size was 4.", criteria=["not: crew"])
    assert (judgement.verdict, judgement.hard_conflict) == ("fail", False)
    assert judgement.reasons[0] == 'Criterion "not: crew" is violated: the output has "crew".'


@pytest.mark.promise("judge.fail_itself")
def test_an_output_that_contradicts_itself_fails_without_evidence() -> None:
    judgement = check("The door is open. The door is not open.", evidence=[], criteria=["door"])
    assert (judgement.verdict, judgement.hard_conflict) == ("fail", True)


@pytest.mark.parametrize(
    ("output", "evidence"),
    [
        ('```json\n{"crew_size": 4, "launch": {"site": "Cape Canaveral", "date": "March 1, 2024"}}\n```', EVIDENCE),
        ("| Field | Value |\n|---|---|\n| Crew size | four |\n| Launch | Cape Canaveral |", EVIDENCE),
        ("Sure! Here it is:\n\n- The crew size was **four** [1].\n- It launched on 1 March 2024 [2].", EVIDENCE),
        ("It has 1000 rooms and costs $3.2 million.", ["It has 1,000 rooms and costs $3,214,000."]),
        ("The wall is about 1 km long.", ["The wall is 980 metres long."]),
        ("Der Umsatz betrug 3,5 Millionen Euro.", ["Der Umsatz betrug 3.5 Millionen Euro."]),
        ("حجم الطاقم كان 4.", ["حجم الطاقم كان ٤."]),
        ("乗組員は４人でした。", ["乗組員は4人でした。"]),
        ("Экипаж: четыре человека.", ["Экипаж: четыре человека."]),
        ("The meeting starts at 3:30 pm.", ["The meeting starts at 15:30."]),
        ("Sales rose by 20%.", ["Sales rose by 20 per cent."]),
    ],
)  # fmt: skip
def test_the_same_said_otherwise_passes(output: str, evidence: list[str]) -> None:
    assert check(output, evidence).verdict == "pass"


@pytest.mark.parametrize(
    ("output", "evidence", "conflict"),
    [
        ('{"crew_size": 5}', EVIDENCE, "5 is not 4"),
        ("| Crew size | 5 |", EVIDENCE, "5 is not 4"),
        ("حجم الطاقم كان ٥.", ["حجم الطاقم كان ٤."], "٥ is not ٤"),
        ("乗組員は5人でした。", ["乗組員は4人でした。"], "5 is not 4"),
        ("Sales fell by 20%.", ["Sales rose by 20%."], "fell is the opposite of rose"),
        ("The wall is 5 miles long.", ["The wall is 5 km long."], "5 miles is not 5 km"),
    ],
)
def test_another_fact_fails_in_any_notation(output: str, evidence: list[str], conflict: str) -> None:
    judgement = check(output, evidence)
    assert judgement.verdict == "fail"
    assert conflict in judgement.claims[0].conflicts


def test_right_to_left_text_is_quoted_as_it_is() -> None:
    output = "حجم الطاقم كان ٥."
    assert f'Claim "{output}"' in check(output, ["حجم الطاقم كان ٤."]).reasons[0]


def test_long_lists_of_reasons_are_cut_and_counted() -> None:
    output = " ".join(f"Cat number {n} sleeps." for n in range(1000, 1020))
    reasons = check(output, ["The crew sailed to Oslo in a red ship with many masts and sails."]).reasons
    assert len(reasons) < 15
    assert any("12 more: claims without full support." in reason for reason in reasons)


def test_long_quotes_are_cut_at_a_blank() -> None:
    reason = check("bananas " * 200).reasons[0]
    assert len(reason) < 500
    assert 'bananas…"' in reason


def test_quoting_the_evidence_is_never_a_fault() -> None:
    evidence = ["I cannot answer this, because 2 + 2 = 5. The door is open. The door is not open. So we stop at the"]
    assert check(evidence[0], evidence).verdict == "pass"


def test_a_disclaimer_before_an_answer_is_no_refusal() -> None:
    disclaimer = (
        "I do not have access to live data, so what follows is only what the sources that were given to me say. "
    )
    output = disclaimer + "They say that the launch, which had been put off more than once, was from Cape Canaveral."
    assert check(output, evidence=[], criteria=["Cape Canaveral"]).verdict == "pass"
    assert check(disclaimer, evidence=[], criteria=["Cape Canaveral"]).verdict == "retry"
    assert (
        check("I cannot say whether it was Cape Canaveral.", evidence=[], criteria=["Cape Canaveral"]).verdict
        == "retry"
    )


def test_an_output_that_has_the_reference_answer_is_not_about_something_else() -> None:
    output = "It is Paris. Many tourists enjoy museums, bridges, gardens and food there every single summer."
    assert check(output, evidence=["Paris"], task="What is the capital of France?").verdict == "retry"


@pytest.mark.parametrize(
    "output",
    [
        "Es tut mir leid, dabei kann ich nicht helfen.",
        "Ich kann diese Frage nicht beantworten.",
        "Je suis désolé, mais je ne peux pas répondre à cette question.",
        "Lo siento, pero no puedo ayudar con eso.",
        "Mi dispiace, ma non posso aiutarti con questa richiesta.",
        "Desculpe, mas não posso ajudar com isso.",
        "Het spijt me, maar daar kan ik niet bij helpen.",
    ],
)
def test_a_refusal_in_another_language_is_a_refusal(output: str) -> None:
    judgement = check(output)
    assert judgement.verdict == "retry"
    assert judgement.reasons[0] == f'The output declines the task: "{output}".'


def test_a_denial_said_in_two_ways_is_no_contradiction() -> None:
    evidence = ["The product contains no nuts."]
    assert check("The product does not contain nuts.", evidence).verdict == "pass"
    assert check("The product does not contain nuts. The product contains no nuts.", evidence).verdict == "pass"
    assert check("The product does contain nuts.", evidence).verdict == "fail"


INVOICE = ["Invoice INV-2031 for EUR 1,249.50 is due on 15 December 2026."]


@pytest.mark.parametrize(
    ("output", "evidence", "verdict"),
    [
        ("**Crew size:** 6\n**Launch site:** Cape Canaveral", EVIDENCE, "fail"),
        ("**Crew size**: 6\n**Launch site**: Cape Canaveral", EVIDENCE, "fail"),
        ("**Crew size:** 4\n**Launch site:** Cape Canaveral", EVIDENCE, "pass"),
        ("**Crew size**: 4\n**Launch site**: Cape Canaveral", EVIDENCE, "pass"),
        ('{"invoice_id": "INV-2031", "total": 1249.50, "currency": "EUR", "due": "2026-12-15"}', INVOICE, "pass"),
        ('{"invoice_id": "INV-2031", "total": 1294.50, "currency": "EUR", "due": "2026-12-15"}', INVOICE, "fail"),
        ('{"invoice_id": "INV-2031", "total": 1249.50, "currency": "USD"}', INVOICE, "retry"),
        ("The meeting is at 3 pm.", ["The meeting is at 3 am."], "fail"),
        ("The meeting is at 3 p.m. sharp.", ["The meeting is at 3 a.m. sharp."], "fail"),
        ("The meeting is at 15:00.", ["The meeting is at 3 pm."], "pass"),
        ("The meeting is at 3:00 pm.", ["The meeting is at 15:00."], "pass"),
        ("The meeting is at 12 am.", ["The meeting is at 0:00."], "pass"),
        ("The temperature was 5 °C.", ["The temperature was -5 °C."], "fail"),
        ("The temperature was -5 °C.", ["The temperature was −5 °C."], "pass"),
        ("Half of the users churned.", ["50% of the users churned."], "pass"),
        ("Half the users churned.", ["60% of the users churned."], "fail"),
        ("It took half an hour.", ["It took half an hour."], "pass"),
        ("1st place went to Kenya.", ["First place went to Kenya."], "pass"),
        ("The second place went to Kenya.", ["2nd place went to Kenya."], "pass"),
        ("La tour Eiffel n'est pas en acier.", ["La tour Eiffel est en acier."], "fail"),
        ("La tour Eiffel n’est pas en acier.", ["La tour Eiffel n'est pas en acier."], "pass"),
    ],
)
def test_the_same_said_in_another_form_and_what_only_looks_like_it(
    output: str, evidence: list[str], verdict: str
) -> None:
    judgement = check(output, evidence)
    assert judgement.verdict == verdict, judgement.reasons


def test_lines_with_bold_labels_are_claims_of_their_own() -> None:
    judgement = check("**Crew size:** 6\n**Launch site:** Cape Canaveral")
    assert [claim.text for claim in judgement.claims] == ["**Crew size:** 6", "**Launch site:** Cape Canaveral"]
    assert judgement.claims[0].conflicts == ("6 is not 4",)


def test_a_number_with_two_digits_exchanged_is_named() -> None:
    judgement = check('{"total": 1294.50}', INVOICE)
    assert judgement.claims[0].conflicts == ("1294.50 is not 1,249.50",)
