"""Pure: the part of an answer that states its final answer.

In this order: a JSON member such as "answer"; `\\boxed{...}`; a last line after `####`; what follows "Answer:",
"A:" or "the answer is"; an answer that is short as a whole; the last sentence with a number when the answer shows
its arithmetic. Else the answer is prose: its first sentence leads, or its last one when that concludes ("So ...").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from api.core.judge.normalise import fold
from api.core.judge.sentences import split_sentences
from api.core.signals.phrases import (
    ANSWER_KEYS,
    ANSWER_NOUNS,
    ANSWER_NOUNS_UNSPACED,
    CONCLUSIONS,
    LINKS,
    LINKS_UNSPACED,
)
from api.core.signals.reading import Reading, Sentence, read_sentence


def _either(words: Sequence[str]) -> str:
    """The words as alternatives of a pattern, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


#: A whole answer of this many content stems at most is its own statement.
SHORT: Final = 4
_LONGEST: Final = 300
_TAIL: Final = 2_000
_BOX: Final = "\\boxed{"
_MARKER: Final = re.compile(
    rf"(?:^[ \t*_>#-]{{0,8}}a[ \t]?[*_]{{0,3}}[:：]"
    rf"|(?<!\w)(?:{_either(ANSWER_NOUNS)})[ \t]?[*_]{{0,3}}"
    rf"(?:[ \t]?[:：=]|[ \t]{{1,2}}(?:{_either(LINKS)})(?!\w)[:：]?)"
    rf"|(?:{_either(ANSWER_NOUNS_UNSPACED)})[ \t]?(?:[:：=]|(?:{_either(LINKS_UNSPACED)})[:：、]?))",
    re.MULTILINE,
)
"""Matched against the folded text, so that accents and case do not matter."""
_ARITHMETIC: Final = re.compile(r"[\d)%][ \t]{0,3}[a-z]{0,12}[ \t]{0,3}=[ \t]{0,3}[-$€£(<]{0,4}\d")
_EDGES: Final = " \t\r\n*_`$"


@dataclass(frozen=True, slots=True)
class Statement:
    """`sentences` are looked through for the key, in order. `closed`: nothing else in the answer can hold it.
    `shown`: the statement as written (the lead of a prose answer)."""

    sentences: tuple[Sentence, ...]
    shown: str
    closed: bool


def final_statement(reading: Reading) -> Statement:
    """Where this answer says what it answers. An answer without words gives no sentences."""
    marked = _member(reading) or _boxed(reading.output) or _rule(reading.output) or _announced(reading.output)
    if marked:
        return _closed(marked)
    sentences = reading.sentences
    whole = " ".join(sentence.text for sentence in sentences[:SHORT])
    if sum(len(sentence.parsed.content) for sentence in sentences) <= SHORT and len(whole) <= _LONGEST:
        return _closed(whole)
    if _ARITHMETIC.search(reading.output.lower()):
        last = next((one for one in reversed(sentences) if one.parsed.numbers), None)
        if last is not None:
            return Statement((last,), last.text, closed=True)
    lead = sentences[:1]
    if len(sentences) > 1 and fold(sentences[-1].text[:40]).startswith(CONCLUSIONS):
        lead = sentences[-1:]
    return Statement(lead, lead[0].text if lead else whole, closed=False)


def _closed(text: str) -> Statement:
    text = text.strip(_EDGES)[:_LONGEST]
    return Statement((read_sentence(text),), text, closed=True)


def _member(reading: Reading) -> str:
    """The value of the last JSON member whose key says that it is the answer."""
    for sentence in reversed(reading.sentences):
        if sentence.label and not ANSWER_KEYS.isdisjoint(fold(sentence.label).split()):
            return sentence.text
    return ""


def _boxed(output: str) -> str:
    """What the last LaTeX box holds, braces balanced."""
    at = output.rfind(_BOX)
    if at < 0:
        return ""
    start, depth = at + len(_BOX), 1
    for end in range(start, min(len(output), start + _LONGEST)):
        depth += (output[end] == "{") - (output[end] == "}")
        if depth == 0:
            return output[start:end]
    return ""


def _rule(output: str) -> str:
    """The last line, when it begins with `####` as in GSM8K."""
    line = output.rstrip().rpartition("\n")[2].lstrip()
    return line[4:].strip() if line.startswith("####") and not line.startswith("#####") else ""


def _announced(output: str) -> str:
    """The sentence after the last announcement, on the same line or on the next one with words; "" for none.

    Announcements are looked for in the last _TAIL code points, then in the first _TAIL.
    """
    return _after_marker(output[-_TAIL:]) or (_after_marker(output[:_TAIL]) if len(output) > _TAIL else "")


def _after_marker(output: str) -> str:
    text = fold(output)
    if len(text) != len(output):
        output = text
    for marker in reversed(list(_MARKER.finditer(text))):
        rest = output[marker.end() : marker.end() + 2 * _LONGEST].lstrip(_EDGES)
        found = split_sentences(rest.partition("\n")[0])
        if found:
            stated = rest[found[0][0] : found[0][1]].strip(_EDGES)
            if any(char.isalnum() for char in stated):
                return stated
    return ""
