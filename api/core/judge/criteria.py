"""Pure: criteria of the caller, checked on the output.

A criterion is a phrase, or one of the exact forms (case does not matter):
    contains: TEXT          the output has TEXT, letter by letter (case, accents and white space folded)
    not: TEXT               the output does not have TEXT
    json                    the output is strict JSON, alone or in one fence
    max_words: 50           the output has at most 50 words
    number: 4 +/- 0.5       the output has a number within the tolerance (none: exactly that number)
Alternatives in one criterion are parted by " | ": `Cherry Hill | New Jersey` is met by either. A phrase that forbids
("must not mention prices", "no prices") is a negative criterion.
"""

from __future__ import annotations

import re
from typing import Final

from api.core.judge.facts import Number
from api.core.judge.lexicon import CRITERION_VERBS, PROHIBITIONS
from api.core.judge.model import CriterionFinding
from api.core.judge.normalise import fold, squeeze
from api.core.judge.numerals import read_numeral
from api.core.judge.parse import parse
from api.core.judge.phrases import MET_FROM, Output, contradicted, lacking, recall, without_verbs
from api.core.judge.reasons import quote
from api.core.judge.structured import is_json

_EXACT: Final = re.compile(r"(contains|not|max_words|number)\s*:\s*(.*)$", re.IGNORECASE | re.DOTALL)
_NUMBER: Final = re.compile(r"([-−]?[^\s]+)(?:\s*(?:\+/-|\+-|±)\s*([^\s]+))?$")


_SUBJECTS: Final = ("the output ", "the answer ", "the response ", "output ", "answer ", "it ")
_LEADS: Final = _SUBJECTS + PROHIBITIONS
#: Words between a prohibition and what it forbids.
_FILLERS: Final = CRITERION_VERBS | {"any", "the", "a", "an", "of", "use", "uses", "reveal", "reveals", "that"}


def check_criterion(criterion: str, output: Output) -> CriterionFinding:
    """Whether `output` meets `criterion`. A criterion without words is met: it asks for nothing."""
    text = criterion.strip()
    if text.lower() in ("json", "valid json"):
        met = is_json(output.text)
        return _finding(criterion, met, "the output is JSON" if met else "the output is not JSON", broken=not met)
    exact = _EXACT.match(text)
    if exact:
        return _exact(criterion, exact[1].lower(), exact[2].strip(), output)
    forbidden = _forbidden(text)
    if forbidden is not None:
        present = _has(forbidden, output)
        why = f"the output has {quote(forbidden)}" if present else f"the output does not have {quote(forbidden)}"
        return _finding(criterion, not present, why, broken=present)
    alternatives = _alternatives(text)
    scores = [recall(alternative, output) for alternative in alternatives]
    score = max(scores)
    best = alternatives[scores.index(score)]
    if score >= MET_FROM:
        return CriterionFinding(criterion, True, f"the output has {quote(without_verbs(best))}", round(score, 4))
    why = (
        f"the output contradicts {quote(best)}"
        if contradicted(best, output)
        else f"the output lacks {lacking(best, output)}"
    )
    return CriterionFinding(criterion, False, why, round(score, 4))


def _finding(criterion: str, met: bool, why: str, *, broken: bool) -> CriterionFinding:
    return CriterionFinding(criterion, met, why, 1.0 if met else 0.0, broken)


def _alternatives(text: str) -> list[str]:
    return [part.strip() for part in text.split("|") if part.strip()] or [text]


def _exact(criterion: str, form: str, value: str, output: Output) -> CriterionFinding:
    if form in ("contains", "not"):
        present = [part for part in _alternatives(value) if squeeze(part) in output.squeezed]
        wanted = form == "contains"
        met = bool(present) == wanted
        shown = quote(present[0] if present else value)
        return _finding(criterion, met, f"the output {'has' if present else 'does not have'} {shown}", broken=not met)
    if form == "max_words":
        limit, count = _integer(value), _count_words(output.text)
        if limit is None:
            return _finding(criterion, False, f"{quote(value)} is not a number of words", broken=False)
        return _finding(
            criterion,
            count <= limit,
            f"the output has {count} {'word' if count == 1 else 'words'}",
            broken=count > limit,
        )
    return _number(criterion, value, output)


def _integer(text: str) -> int | None:
    digits = text.replace(",", "")
    return int(digits) if digits.isdecimal() and len(digits) < 10 else None


def _count_words(text: str) -> int:
    """Words as a reader counts them: parts between blanks that have a letter or a digit."""
    return sum(any(char.isalnum() for char in part) for part in text.split())


def _number(criterion: str, value: str, output: Output) -> CriterionFinding:
    match = _NUMBER.match(value)
    target = _read(match[1]) if match else None
    tolerance = _read(match[2]) if match and match[2] else 0.0
    if target is None or tolerance is None:
        return _finding(criterion, False, f"{quote(value)} is not a number", broken=False)
    margin = abs(tolerance) + 1e-9 * max(1.0, abs(target))
    near = [n for n in output.parsed.numbers if any(abs(reading - target) <= margin for reading in n.readings)]
    if near:
        return _finding(criterion, True, f"the output has {near[0].shown}", broken=False)
    found = ", ".join(_shown(output.parsed.numbers)) or "no number"
    return _finding(criterion, False, f"the output has {found}", broken=True)


def _read(text: str) -> float | None:
    sign = -1.0 if text[:1] in "-−" else 1.0
    body = text.lstrip("-−+$€£").rstrip("%")
    if not body or not body[0].isdecimal() or any(char.isalpha() for char in body):
        return None
    try:
        readings = read_numeral(body).readings
    except ValueError:
        return None
    return sign * readings[0] if readings else None


def _shown(numbers: list[Number]) -> list[str]:
    return list(dict.fromkeys(number.shown for number in numbers))[:5]


def _forbidden(text: str) -> str | None:
    """What a negative criterion forbids, or None for a positive one."""
    folded = fold(text)
    if len(folded) != len(text) or not folded.startswith(_LEADS):
        return None
    lead = next((subject for subject in _SUBJECTS if folded.startswith(subject)), "")
    rest = folded[len(lead) :]
    if not rest.startswith(PROHIBITIONS):
        return None
    for opening in PROHIBITIONS:
        if rest.startswith(opening + " "):
            words = text[len(lead) + len(opening) :].split()
            while len(words) > 1 and fold(words[0]) in _FILLERS:
                words.pop(0)
            return " ".join(words).rstrip(".") or None
    return None


def _has(phrase: str, output: Output) -> bool:
    """Whether the output has a forbidden phrase: literally, or all its stems."""
    if any(squeeze(part) in output.squeezed for part in _alternatives(phrase)):
        return True
    return any(
        bool(content) and all(stem in output.stems for stem in content)
        for content in (parse(part).content for part in _alternatives(phrase))
    )
