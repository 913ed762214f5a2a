"""Pure: whole names in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from api.core.judge.facts import Parsed

#: What may stand between two words of one name: blanks, a hyphen, the point of an initial.
_JOINTS: Final = " .-\u00a0&'’"
_WIDEST: Final = 3


@dataclass(frozen=True, slots=True)
class WholeName:
    """Capitalised words side by side. `at`: the place of the first among the sentence's content stems. `opening`: a
    single word that opens the sentence, whose capital proves nothing."""

    shown: str
    stems: tuple[str, ...]
    at: int
    opening: bool


def whole_names(text: str, parsed: Parsed) -> tuple[WholeName, ...]:
    """The names of a sentence in order: "Ben Findon" and "Mike Myers" in "Ben Findon, Mike Myers"."""
    found: list[WholeName] = []
    cursor = first = last = 0
    stems: list[str] = []
    at, opening = 0, False
    for name in parsed.names:
        start = text.find(name.shown, cursor)
        if start < 0:
            continue
        gap = text[last:start]
        cursor = start + len(name.shown)
        if stems and (len(gap) > _WIDEST or gap.strip(_JOINTS) or name.at != at + len(stems)):
            found.append(WholeName(text[first:last], tuple(stems), at, opening and len(stems) == 1))
            stems = []
        if not stems:
            first, at, opening = start, name.at, name.opening
        stems.append(name.stem)
        last = cursor
    if stems:
        found.append(WholeName(text[first:last], tuple(stems), at, opening and len(stems) == 1))
    return tuple(found)
