"""Pure: claims of one output that cannot both hold.

Only plain cases count, because a false alarm fails a good output: two sentences of one paragraph with the same words,
of which one states another number after "is" or "was", or one is negated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from api.core.judge.claims import Claim
from api.core.judge.facts import Number, Parsed
from api.core.judge.lexicon import CONTRAST, COPULAS
from api.core.judge.numerals import is_year
from api.core.judge.polarity import odd, same_denial
from api.core.judge.reasons import self_contradiction
from api.core.judge.words import look_up, tokenise

_FEWEST_STEMS: Final = 2
#: How far in front of its number the verb may stand ("was about 4").
_REACH: Final = 3


def contradictions(output: str, claims: Sequence[tuple[Claim, Parsed]]) -> list[str]:
    """A reason for each pair that cannot both hold, in the order of the output."""
    found: list[str] = []
    by_number: dict[tuple[int, tuple[str, ...]], tuple[Claim, Number]] = {}
    by_content: dict[tuple[int, tuple[str, ...]], tuple[Claim, Parsed]] = {}
    paragraph, last = 0, 0
    for claim, parsed in claims:
        paragraph += _parts(output, last, claim.start)
        last = claim.end
        if claim.key or len(parsed.content) < _FEWEST_STEMS:
            continue
        for number in parsed.numbers:
            if number.loose or number.dated or number.ordinal or (not number.unit and is_year(number.value)):
                continue
            at = number.at
            key = (paragraph, (*parsed.content[:at], "", *parsed.content[at + 1 :]))
            one, other = by_number.setdefault(key, (claim, number))
            differ = other.value != number.value and number.unit == other.unit
            if differ and _stated(other, one.text) and _stated(number, claim.text) and not _contrasted(claim.text):
                found.append(_reason(output, one, claim, f"{other.shown} is not {number.shown}"))
        one_claim, one_parsed = by_content.setdefault((paragraph, tuple(parsed.content)), (claim, parsed))
        if _opposed(one_claim.text, one_parsed, claim.text, parsed) and not _contrasted(claim.text):
            found.append(_reason(output, one_claim, claim, "one denies what the other states"))
    return found


def _parts(output: str, start: int, end: int) -> int:
    """1 when a blank line, a list item or a heading lies between two claims."""
    between = output[start:end]
    return int("\n" in between and (between.count("\n") > 1 or not between.isspace()))


def _stated(number: Number, text: str) -> bool:
    """Whether the number is what the sentence says its subject is."""
    words = [look_up(token).folded for token in tokenise(text)]
    first = look_up(tokenise(number.shown)[0]).folded
    if first not in words:
        return False
    at = words.index(first)
    return any(word in COPULAS for word in words[max(0, at - _REACH) : at])


def _contrasted(text: str) -> bool:
    return not CONTRAST.isdisjoint(look_up(token).folded for token in tokenise(text))


def _opposed(text: str, one: Parsed, other_text: str, other: Parsed) -> bool:
    if odd(one.content, one.negated) == odd(other.content, other.negated):
        return False
    return not same_denial(one.content, one.negated, text, other, other_text)


def _reason(output: str, one: Claim, other: Claim, what: str) -> str:
    return self_contradiction(output[one.start : one.end], output[other.start : other.end], what)
