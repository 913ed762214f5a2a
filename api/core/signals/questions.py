"""Pure: what kind of answer a task asks for."""

from __future__ import annotations

import re
from typing import Final

from api.core.judge.normalise import squeeze
from api.core.signals.phrases import QUESTIONS

#: Which kinds of key answer which question.
FITTING: Final[dict[str, frozenset[str]]] = {
    "time": frozenset(("date", "number")),
    "count": frozenset(("number",)),
    "name": frozenset(("text",)),
    "": frozenset(),
}
#: Longer tasks are instructions with material, in which question words ask for nothing.
_LONGEST: Final = 2_000
_WORD: Final = re.compile(
    "|".join(
        rf"(?<!\w){re.escape(words)}(?!\w)" if words < "\u0e00" else re.escape(words)
        for words in sorted(QUESTIONS, key=len, reverse=True)
    )
)


def wanted(task: str) -> frozenset[str]:
    """The kinds of key that the first question word of the task asks for; empty when it says nothing about that."""
    match = _WORD.search(squeeze(task[:_LONGEST]))
    return FITTING[QUESTIONS[match[0]] if match else ""]
