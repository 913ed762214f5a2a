"""Pure: equations that a text states, checked with exact fractions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from api.core.judge.lexicon import DISPUTED
from api.core.judge.normalise import fold

_SIDE: Final = frozenset("0123456789.,+-−–*/×÷·x()$€£% \u00a0")
_LONGEST_SIDE: Final = 200
#: How many equations of one text are read when the caller does not say.
MOST: Final = 400
_FEWEST_TRIES: Final = 20
_ANNOTATION: Final = re.compile(r"<<[^<>\n]{0,200}>>")
#: A comma or full stop before a blank ends an expression.
_PAUSE: Final = re.compile(r"[.,]\s")
_TOKEN: Final = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|\.\d+|[-+*/()%]")
_OPERATORS: Final = str.maketrans(
    {"×": "*", "·": "*", "x": "*", "÷": "/", "−": "-", "–": "-", "$": " ", "€": " ", "£": " ", "\u00a0": " "}
)


@dataclass(frozen=True, slots=True)
class Equation:
    """A stated equation: its two sides as written, what the left side is, and whether the right side says so."""

    left: str
    right: str
    result: Fraction
    holds: bool
    start: int
    end: int


def equations(text: str, most: int = MOST) -> list[Equation]:
    """The first `most` equations in `text` whose left side is plain arithmetic, in order; twice as many equal signs
    and a few are looked at."""
    if "=" not in text or most <= 0:
        return []
    found: list[Equation] = []
    tries = 2 * most + _FEWEST_TRIES
    plain = _ANNOTATION.sub(lambda match: " " * len(match[0]), text)
    for at, char in enumerate(plain):
        if (
            char == "="
            and plain[at - 1 : at] not in ("=", "!", "<", ">", ":", "≠")
            and plain[at + 1 : at + 2] not in ("=", ">")
        ):
            equation = _read(plain, at)
            tries -= 1
            if equation is not None:
                found.append(equation)
            if len(found) == most or not tries:
                break
    return found


def disputed(text: str) -> bool:
    """Whether a sentence talks about an equation instead of stating it."""
    return not DISPUTED.isdisjoint(re.findall(r"[a-z']+", fold(text)))


def _read(text: str, at: int) -> Equation | None:
    start = at
    while start > 0 and at - start < _LONGEST_SIDE and text[start - 1] in _SIDE:
        start -= 1
    end = at + 1
    while end < len(text) and end - at < _LONGEST_SIDE and text[end] in _SIDE:
        end += 1
    if (
        start > 0
        and (text[start - 1].isalnum() or text[start - 1] == "_")
        and not text[start:at].startswith((" ", "\u00a0"))
    ):
        return None
    left, right = _PAUSE.split(text[start:at])[-1].strip(), _PAUSE.split(text[at + 1 : end])[0].strip()
    if text[end : end + 1].isalpha() and right.endswith("x"):
        right = right[:-1].strip()
    right = right.rstrip(".,-–−*/+ (")
    result, stated = _value(left), _value(right)
    if result is None or stated is None or not _has_operator(left):
        return None
    holds = _agrees(result, stated, right)
    if not holds and left.lstrip()[:1] in "-–−":
        bullet = _value(left.lstrip()[1:])
        holds = bullet is not None and _agrees(bullet, stated, right)
    if not holds:
        first = _TOKEN.search(right.translate(_OPERATORS).lstrip())
        running = _value(first[0]) if first and first[0][0].isdecimal() else None
        holds = running is not None and _agrees(result, running, first[0] if first else right)
    return Equation(left, right, result, holds, start, end)


def _has_operator(side: str) -> bool:
    return any(sign in side.translate(_OPERATORS)[1:] for sign in "+-*/")


def _agrees(result: Fraction, stated: Fraction, written: str) -> bool:
    """Whether the stated value is the result, or the result rounded or cut to the digits that are stated."""
    if result == stated:
        return True
    if "%" in written and _agrees(result, stated * 100, written.replace("%", "")):
        return True
    decimals = len(written.strip("% ").rpartition(".")[2]) if "." in written else 0
    step = Fraction(1, 10**decimals) * (Fraction(1, 100) if "%" in written else 1)
    if result.denominator == 1 or (not decimals and "%" not in written and abs(result) < 10 and result.denominator < 3):
        return False
    cut = abs(result) - abs(stated)
    return abs(result - stated) <= step / 2 or (0 <= cut < step and result * stated >= 0)


def _value(side: str) -> Fraction | None:
    """The value of plain arithmetic, or None."""
    plain = side.translate(_OPERATORS)
    tokens = _TOKEN.findall(plain)
    if not tokens or len("".join(tokens)) != len(plain.replace(" ", "")) or len(tokens) > 100:
        return None
    try:
        value, at = _sum(tokens, 0, 0)
    except (IndexError, ZeroDivisionError, ValueError):
        return None
    return value if at == len(tokens) else None


def _sum(tokens: list[str], at: int, depth: int) -> tuple[Fraction, int]:
    value, at = _product(tokens, at, depth)
    while at < len(tokens) and tokens[at] in "+-":
        other, after = _product(tokens, at + 1, depth)
        value = value + other if tokens[at] == "+" else value - other
        at = after
    return value, at


def _product(tokens: list[str], at: int, depth: int) -> tuple[Fraction, int]:
    value, at = _factor(tokens, at, depth)
    while at < len(tokens) and tokens[at] in "*/":
        other, after = _factor(tokens, at + 1, depth)
        value = value * other if tokens[at] == "*" else value / other
        at = after
    return value, at


def _factor(tokens: list[str], at: int, depth: int) -> tuple[Fraction, int]:
    sign = tokens[at]
    if depth > 20:
        raise ValueError(sign)
    if sign == "-":
        value, at = _factor(tokens, at + 1, depth + 1)
        return -value, at
    if sign == "(":
        value, at = _sum(tokens, at + 1, depth + 1)
        if tokens[at] != ")":
            raise ValueError(sign)
        at += 1
    else:
        if len(sign) > 30:
            raise ValueError(sign)
        value, at = Fraction(sign.replace(",", "")), at + 1
    if at < len(tokens) and tokens[at] == "%":
        return value / 100, at + 1
    return value, at
