from fractions import Fraction

import pytest

from api.core.judge.equations import disputed, equations


@pytest.mark.parametrize(
    "text",
    [
        "2 + 2 = 4",
        "20 * 3 = <<20*3=60>>60 cards",
        "16-3-4 = 9",
        "$5 x 3 = $15",
        "12 ÷ 4 = 3",
        "2 × (3 + 4) = 14",
        "10 / 3 = 3.33",
        "10 / 3 = 3",
        "2/3 = 0.67",
        "20% * 50 = 10",
        "10 / 40 = 25%",
        "10 / 40 * 100 = 25%",
        "1,000 + 1 = 1,001",
        "3 + 4 = 7 * 2 = 14",
        "- 5 + 3 = 8",
        "-5 + 3 = -2",
        "0.1 + 0.2 = 0.3",
        "We need 5 + 6 = 11, and 2 * 2 = 4.",
    ],
)
def test_true_equations_hold(text: str) -> None:
    found = equations(text)
    assert found
    assert all(equation.holds for equation in found)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("2 + 2 = 5", Fraction(4)),
        ("16 - 3 = 12", Fraction(13)),
        ("20 * 3 = 600", Fraction(60)),
        ("10 / 4 = 3", Fraction(5, 2)),
        ("10 / 3 = 3.4", Fraction(10, 3)),
        ("10 / 40 = 26%", Fraction(1, 4)),
        ("4 is 1, 5 + 6 = 12.", Fraction(11)),
    ],
)
def test_false_equations_do_not(text: str, result: Fraction) -> None:
    assert [(equation.result, equation.holds) for equation in equations(text)] == [(result, False)]


@pytest.mark.parametrize(
    "text",
    [
        "x = 5",
        "a + b = 7",
        "2 == 3",
        "1 != 2",
        "size := 4",
        "4 = 4",
        "1 / 0 = 5",
        "= 5",
        "5 + = 6",
        "y2 + 2 = 5",
        "",
        "=" * 50,
    ],
)
def test_what_is_no_plain_arithmetic_is_left_alone(text: str) -> None:
    assert all(equation.holds for equation in equations(text))


def test_talk_about_a_false_equation_does_not_state_it() -> None:
    assert disputed("2 + 2 = 5 is false.")
    assert not disputed("2 + 2 = 5.")


def test_deep_nesting_is_not_read() -> None:
    assert equations("(" * 90 + "1+1" + ")" * 90 + " = 2") == []
