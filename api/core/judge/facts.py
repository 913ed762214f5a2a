"""Pure: what the parser finds in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from api.core.judge.numerals import Numeral

#: How a number is meant.
EXACT: Final = "exact"
NEAR: Final = "about"
AT_LEAST: Final = "at least"
AT_MOST: Final = "at most"


class Number(NamedTuple):
    """A number in a sentence. `at` is its place among the content stems.

    `loose`: the word "one", which is often no count: it is not among the stems, and `at` is the place behind it.

    `unit` is a key of lexicon.UNITS ("" for none). `shown` is how the text wrote it. `ordinal`: third, 4th.
    `dated`: a part of a date, which is compared as a date. `scaled`: written with a scale word (3.2 million).
    """

    readings: tuple[float, ...]
    at: int
    shown: str
    unit: str = ""
    decimals: int = 0
    bound: str = EXACT
    ordinal: bool = False
    dated: bool = False
    scaled: bool = False
    loose: bool = False

    @property
    def value(self) -> float:
        """The likelier reading."""
        return self.readings[0]


class Name(NamedTuple):
    """A capitalised word (or a URL): its stem, how it was written, and its place among the content stems.

    `nth`: its place among all tokens. `opening`: it opens the sentence, so that its capital proves nothing.
    """

    stem: str
    shown: str
    at: int
    nth: int
    opening: bool = False


@dataclass(frozen=True, slots=True)
class Dated:
    """A date in a sentence, and how the text wrote it."""

    date: Numeral
    shown: str

    def as_number(self) -> Number:
        """The year as a bare number."""
        return Number((float(self.date.year or 0),), 0, self.shown)


#: A sentence keeps no more numbers, dates, names and negations than this: a bound on the work, far above real text.
MOST_KEPT: Final = 40


@dataclass(slots=True)
class Parsed:
    """`content`: stems in order, numbers as "#4", months as "@3", clock times as "#t750" (minutes).

    `negated`: for each negation the place in `content` of what follows it (len(content) when nothing does).
    `polar`: function words that have opposites. `words`: how many tokens there were, function words included.
    """

    content: list[str]
    numbers: list[Number]
    dates: list[Dated]
    names: list[Name]
    negated: list[int]
    polar: list[str]
    words: int


def number_key(value: float) -> str:
    """The content stem of a number."""
    return f"#{value:.12g}"
