"""Pure: multiple choice: the options that a task lists, and the letter that an answer picks."""

from __future__ import annotations

import re
from typing import Final

from api.core.judge.normalise import squeeze, stands_in

#: "A) Paris", "(b) Paris", "C. Paris", "D: Paris" at the start of a line or behind a blank.
_OPTION: Final = re.compile(r"(?:^|(?<=[\s;,]))\(?([A-Ja-j])[).:]\s+", re.MULTILINE)
_LETTER: Final = re.compile(
    r"\W{0,4}(?:(?:option|choice|answer|letter)\W{1,3})?\(?\[?([A-Ja-j])[)\].:]*\W*\Z", re.IGNORECASE
)
_LABELLED: Final = re.compile(r"\W{0,4}(?:(?:option|choice|answer)\W{1,3})?\(?\[?([A-Ja-j])(?:[)\]]|[.:](?=\s))\W*")
_ENDS: Final = " \t.,;:!?*_`\"'()[]"
_LONGEST: Final = 300


def options(task: str) -> dict[str, str]:
    """Letter (upper case) to text (squeezed) of the options in `task`: two or more that run A, B, C ...; else empty."""
    marks = list(_OPTION.finditer(task))
    found: dict[str, str] = {}
    for at, mark in enumerate(marks):
        letter = mark[1].upper()
        if letter != chr(ord("A") + len(found)):
            continue
        end = marks[at + 1].start() if at + 1 < len(marks) else len(task)
        text = task[mark.end() : min(end, mark.end() + _LONGEST)].partition("\n")[0]
        found[letter] = squeeze(text).strip(_ENDS)
    return found if len(found) > 1 else {}


def picked(statement: str, listed: dict[str, str]) -> str:
    """The letter that `statement` picks, in upper case; "" for none.

    "B", "(b)", "Option B" always do ("a" and "i" alone are words, and do only among listed options); "B) Paris" and
    the text of one option ("Paris", "It is Paris.") do when the task lists options.
    """
    match = _LETTER.match(statement)
    if match is not None and (match[1].isupper() or listed or "(" in match[0] or ")" in match[0]):
        letter = match[1].upper()
        return letter if not listed or letter in listed else ""
    if not listed:
        return ""
    match = _LABELLED.match(statement)
    if match is not None and match[1].upper() in listed:
        return match[1].upper()
    text = squeeze(statement[:_LONGEST]).strip(_ENDS)
    whole = [letter for letter, option in listed.items() if option == text]
    found = whole or [letter for letter, option in listed.items() if option and stands_in(option, text)]
    return found[0] if len(found) == 1 else ""
