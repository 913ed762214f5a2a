import pytest

from api.core.judge.criteria import check_criterion
from api.core.judge.model import CriterionFinding
from api.core.judge.phrases import Output, one_edit, recall, same_root


def check(criterion: str, output: str, task: str = "") -> CriterionFinding:
    return check_criterion(criterion, Output(output, task))


@pytest.mark.parametrize(
    ("criterion", "output"),
    [
        ("crew size", "The crew size was 4."),
        ("mentions the launch site", "Its launch site is unknown."),
        ("Cape Canaveral", "launched from cape canaveral"),
        ("Cherry Hill | New Jersey", "It is in New Jersey."),
        ("Neil Armstrong", "It was Armstrong."),
        ("Robert Neuwirth", "By Rob Neuwirth and others."),
        ("$2.18 billion", "It made approximately $2.2 billion."),
        ("1,000", "one thousand"),
        ("environment", "environmental concerns"),
        ("Shakespeare", "by Shakespear"),
        ("乗組員", "乗組員は四人"),
        ("contains: 4.", "The crew size was 4."),
        ("contains: oslo | BERGEN", "from Bergen"),
        ("not: guarantee", "No promises."),
        ("json", '{"a": 1}'),
        ("json", '```json\n[1, 2]\n```'),
        ("max_words: 3", "one two three"),
        ("number: 4 +/- 0.5", "about 4.4 km"),
        ("number: 4", "four"),
        ("number: 1,000 ± 10", "It was 1005."),
        ("number: -7", "It was -7 degrees."),
        ("must not mention prices", "The crew was 4."),
        ("no profanity", "The crew was 4."),
        ("", "anything"),
    ],
)  # fmt: skip
def test_met(criterion: str, output: str) -> None:
    finding = check(criterion, output)
    assert finding.met
    assert not finding.violated


@pytest.mark.parametrize(
    ("criterion", "output", "why"),
    [
        ("launch pad 39A", "The crew was 4.", 'the output lacks "launch", "pad", "39"'),
        ("crew size 4", "The crew size was 5.", 'the output lacks "4"'),
        ("September 15, 1996", "Released on October 15, 1996.", 'the output contradicts "September 15, 1996"'),
        ("launch succeeded", "The launch did not succeed.", 'the output contradicts "launch succeeded"'),
        ("Brian Wilson", "Ricky Wilson and others", 'the output lacks "Brian"'),
        ("max_words: many", "x", '"many" is not a number of words'),
        ("number: abc", "x", '"abc" is not a number'),
    ],
)
def test_unmet(criterion: str, output: str, why: str) -> None:
    finding = check(criterion, output)
    assert (finding.met, finding.violated, finding.why) == (False, False, why)


@pytest.mark.parametrize(
    ("criterion", "output", "why"),
    [
        ("contains: Oslo", "from Bergen", 'the output does not have "Oslo"'),
        ("not: guarantee", "We guarantee it.", 'the output has "guarantee"'),
        ("NOT: a | b", "only b here", 'the output has "b"'),
        ("json", "{'a': 1}", "the output is not JSON"),
        ("json", "NaN", "the output is not JSON"),
        ("max_words: 2", "one two three", "the output has 3 words"),
        ("number: 4 +/- 0.5", "It was 5 or 6.", "the output has 5, 6"),
        ("number: 4", "none", "the output has no number"),
        ("must not mention prices", "The price is low. Prices rise.", 'the output has "prices"'),
        ("The answer should not include any names", "The names are here.", 'the output has "names"'),
    ],
)
def test_violated(criterion: str, output: str, why: str) -> None:
    finding = check(criterion, output)
    assert (finding.met, finding.violated, finding.why) == (False, True, why)


def test_recall_by_hand() -> None:
    """Names and numbers weigh 2, other words 1, words of the task half."""
    assert recall("old house", Output("an old tent")) == 0.5
    assert recall("the Oslo house", Output("in Oslo")) == pytest.approx(2 / 3)
    assert recall("house 12", Output("a house")) == pytest.approx(1 / 3)
    assert recall("Lagos State", Output("Lagos")) == 0.5
    assert recall("Lagos State", Output("Lagos", task="Which state is it?")) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [("banana", "bananna", True), ("banana", "bamana", True), ("banana", "banan", True), ("banana", "bandana", True),
     ("banana", "cabana", False), ("banana", "ban", False)],
)  # fmt: skip
def test_one_edit(one: str, other: str, near: bool) -> None:
    assert one_edit(one, other) is near


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("environment", "environmental", True), ("cephalopod", "cephalopoda", True), ("norway", "norwegian", False)],
)
def test_same_root(one: str, other: str, same: bool) -> None:
    assert same_root(one, other) is same
