"""Edits of the corpus with a known effect: does the judge leave harmless ones alone and catch the others?

Every edit is made from one sentence (or two) of a document in `corpus/`; the whole document is the evidence.
The generator is deterministic: all choices come from a seeded generator.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CORPUS: Final = Path(__file__).parent / "corpus"
HARMLESS: Final = ("verbatim", "number_format", "number_word", "merged", "dropped_clause")
HARMFUL: Final = ("negation", "unrelated", "new_entity", "number", "swap", "antonym")

_STRANGERS: Final = (
    "Zurich", "Henderson", "Toyota", "Nairobi", "Alvarez", "Montreal", "Kowalski", "Honda", "Jakarta", "Beatrice",
)  # fmt: skip
#: word -> its opposite. Written apart from the judge's own table, so that the gate can fail.
_OPPOSITES: Final = {
    "quickly": "slowly", "northern": "southern", "southern": "northern", "eastern": "western", "western": "eastern",
    "upper": "lower", "lower": "higher", "outer": "inner", "last": "first", "first": "last", "largest": "smallest",
    "small": "large", "large": "small", "smaller": "larger", "higher": "lower", "slow": "fast", "strong": "weak",
    "weak": "strong", "deep": "shallow", "shallow": "deep", "early": "late", "summer": "winter", "winter": "summer",
    "morning": "evening", "opened": "closed", "closed": "opened", "built": "demolished", "approved": "rejected",
    "supported": "opposed", "opposed": "supported", "female": "male", "women": "men", "wife": "husband",
    "daughter": "son", "brother": "sister", "cheaper": "dearer", "safe": "dangerous", "effective": "ineffective",
    "accurate": "inaccurate", "harmful": "beneficial", "raised": "lowered", "rose": "fell", "fell": "rose",
    "increased": "decreased", "decreases": "increases", "dropped": "climbed", "lost": "won", "won": "lost",
    "sold": "bought", "free": "expensive", "begins": "ends", "ends": "begins", "victory": "defeat", "profit": "loss",
    "oldest": "newest", "youngest": "oldest", "public": "private", "private": "public", "cold": "hot", "hot": "cold",
    "empty": "full", "rich": "poor", "wet": "dry", "dry": "wet", "clean": "dirty", "active": "inactive",
    "north": "south", "heavy": "light", "longer": "shorter", "stable": "unstable", "secret": "public",
    "best": "worst", "more": "less", "arrived": "departed", "joined": "left", "banned": "allowed",
    "refused": "accepted", "agreed": "refused", "thin": "thick",
}  # fmt: skip
_WORDS: Final = {
    2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten", 11: "eleven",
    12: "twelve", 14: "fourteen", 15: "fifteen", 16: "sixteen", 17: "seventeen", 18: "eighteen", 19: "nineteen",
    22: "twenty-two", 26: "twenty-six", 31: "thirty-one", 35: "thirty-five", 48: "forty-eight", 74: "seventy-four",
    86: "eighty-six",
}  # fmt: skip
_DIGITS: Final = {word: value for value, word in _WORDS.items()}
_NUMBER: Final = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w,.-]*\d)")
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
_AUXILIARY: Final = re.compile(r"\b(?:is|was|are|were|has|had|can|will)\b")
_NEGATIVE: Final = re.compile(r"\b(?:not|no|nobody|none|never|unable|refused)\b|n't\b", re.IGNORECASE)
_MONTHS: Final = frozenset(
    ("January February March April May June July August September October November December Saturday Sunday Mondays "
     "Sundays").split()
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Edit:
    """`output` was made from `document` by an edit of this kind."""

    kind: str
    document: str
    output: str

    @property
    def harmless(self) -> bool:
        """Whether the output still says only what the document says."""
        return self.kind in HARMLESS


def documents() -> dict[str, str]:
    """name -> text of the corpus, by name."""
    return {path.stem: path.read_text(encoding="utf-8").strip() for path in sorted(CORPUS.glob("*.txt"))}


def sentences(document: str) -> list[str]:
    """The sentences of a corpus document (each ends with a full stop and a blank)."""
    return [part if part.endswith(".") else part + "." for part in document.split(". ")]


def make_edits(seed: int = 1) -> list[Edit]:
    """All edits of all documents. Another seed makes other choices."""
    rng = random.Random(seed)
    corpus = documents()
    edits: list[Edit] = []
    for name, document in corpus.items():
        others = [sentence for other, text in corpus.items() if other != name for sentence in sentences(text)]
        found = sentences(document)
        for sentence in found:
            edits.extend(Edit(kind, document, output) for kind, output in _harmless(sentence, found, rng))
            edits.extend(Edit(kind, document, output) for kind, output in _harmful(sentence, document, others, rng))
    return edits


def _harmless(sentence: str, found: list[str], rng: random.Random) -> Iterator[tuple[str, str]]:
    yield "verbatim", sentence
    other = rng.choice(found)
    if other != sentence:
        joined = rng.choice(
            (f"{sentence} {other}", f"{sentence[:-1]}; {other}", f"{sentence[:-1]}, and {_lowered(other)}")
        )
        yield "merged", joined
    for match in _NUMBER.finditer(sentence):
        digits = match[0].replace(",", "")
        if "," in match[0]:
            yield "number_format", _put(sentence, match, digits)
        elif digits.isdecimal() and int(digits) in _WORDS and not _in_date(sentence, match):
            yield "number_word", _put(sentence, match, _WORDS[int(digits)])
    for word, value in _DIGITS.items():
        found_word = re.search(rf"\b{word}\b", sentence)
        if found_word:
            yield "number_word", _put(sentence, found_word, str(value))
            break
    head, comma, rest = sentence.partition(", ")
    if comma and len(head) > 25 and rest.startswith(("and ", "but ", "although ", "which ", "after ", "so ", "while ")):
        yield "dropped_clause", head + "."


def _harmful(sentence: str, document: str, others: list[str], rng: random.Random) -> Iterator[tuple[str, str]]:
    yield "unrelated", rng.choice(others)
    match = _AUXILIARY.search(sentence)
    if match and not _NEGATIVE.search(sentence):
        yield "negation", sentence[: match.end()] + " not" + sentence[match.end() :]
    numbers = list(_NUMBER.finditer(sentence))
    if numbers:
        match = rng.choice(numbers)
        yield "number", _put(sentence, match, _another(match[0], rng))
    names = [name for name in _NAME.finditer(sentence) if name[0] not in _MONTHS]
    if names:
        match = rng.choice(names)
        strangers = [name for name in _STRANGERS if name not in document]
        yield "new_entity", _put(sentence, match, rng.choice(strangers))
        known = sorted(
            {name for name in _NAME.findall(document) if name.lower() not in sentence.lower() and name not in _MONTHS}
        )
        if known:
            yield "swap", _put(sentence, match, rng.choice(known))
    words = [word for word in re.finditer(r"\b[a-z]{4,}\b", sentence) if word[0] in _OPPOSITES]
    if words:
        match = rng.choice(words)
        yield "antonym", _put(sentence, match, _OPPOSITES[match[0]])


def _put(sentence: str, match: re.Match[str], text: str) -> str:
    return sentence[: match.start()] + text + sentence[match.end() :]


def _lowered(sentence: str) -> str:
    first = sentence.split(" ", 1)[0]
    return (
        sentence[0].lower() + sentence[1:] if first in ("The", "It", "A", "In", "Its", "She", "No", "One") else sentence
    )


def _in_date(sentence: str, match: re.Match[str]) -> bool:
    after = sentence[match.end() :].split()
    return bool(after) and after[0].strip(".,") in _MONTHS


def _another(number: str, rng: random.Random) -> str:
    """A different number in the same notation."""
    value = float(number.replace(",", ""))
    if "." in number:
        return f"{value + rng.choice((0.3, 1.1, 2.7)):.{len(number.partition('.')[2])}f}"
    if 1000 <= value <= 2100 and "," not in number:
        return str(int(value) + rng.choice((-7, -3, 1, 4)))
    changed = int(value) + rng.choice((1, 2, 3, 7, 10)) if value < 3000 else int(value * rng.choice((1.3, 1.02, 0.9)))
    return f"{changed:,}" if "," in number else str(changed)
