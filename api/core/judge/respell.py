"""Pure: a claim's stems in the spelling of the evidence, so that the same thing said otherwise overlaps."""

from __future__ import annotations

from api.core.judge.facts import Dated, Parsed, number_key
from api.core.judge.index import Evidence
from api.core.judge.words import look_up


def respelled(parsed: Parsed, evidence: Evidence) -> list[str]:
    """`parsed.content`, same length and order. A stem that the evidence lacks becomes the one that stands for it there:
    a word with another ending, a number in another unit or rounded, a date with day and month the other way round."""
    known = evidence.postings
    if all(stem in known for stem in parsed.content):
        return parsed.content
    content = [stem if stem in known else evidence.alike(stem) or stem for stem in parsed.content]
    for number in parsed.numbers:
        if number.loose or number.dated or content[number.at] in known:
            continue
        match = evidence.figures.match(number)
        if match is None:
            continue
        content[number.at] = number_key(match.value)
        if match.unit != number.unit and number.at + 1 < len(content) and content[number.at + 1] not in known:
            content[number.at + 1] = _unit_stem(match.unit, evidence) or content[number.at + 1]
    for dated in parsed.dates:
        if dated.date.swapped:
            _turn_round(dated, content, evidence)
    return content


def _unit_stem(unit: str, evidence: Evidence) -> str:
    """The content stem of a unit as the evidence has it, "" when it has none."""
    stem = look_up(unit).stem if unit else ""
    return stem if stem in evidence.postings else ""


def _turn_round(dated: Dated, content: list[str], evidence: Evidence) -> None:
    date = dated.date
    match = evidence.dates.match(date)
    if match is None or match.month != date.day or date.month is None or date.day is None:
        return
    month, day = f"@{date.month}", number_key(date.day)
    for at in range(len(content) - 1):
        if content[at : at + 2] == [month, day]:
            content[at : at + 2] = [f"@{date.day}", number_key(date.month)]
            return
