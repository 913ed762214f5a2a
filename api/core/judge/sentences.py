"""Pure: sentence boundaries with offsets, in code points.

A single line break is white space: it ends a sentence only before or after a structural line (list item, heading,
table row, quote, fence, "label: value"), so that wrapped text reads like unwrapped text.
"""

from __future__ import annotations

import re
from typing import Final

from api.core.judge.lexicon import ABBREVIATIONS

_TERMINATORS: Final = ".!?…؟۔।"
#: A place where a sentence can end: terminators with closing signs, or line breaks. A run of terminators is tried once,
#: from its start, and given back to nobody: otherwise a long run before a letter would take quadratic time.
_BOUNDARY: Final = re.compile(
    rf"(?<![{_TERMINATORS}])[{_TERMINATORS}]++[\"'”’»)\]*_]{{0,4}}+(?=\s|$)|[。！？｡]+[」』”）]{{0,3}}|\n\s*"
)
_STRUCTURE: Final = re.compile(
    r"(?:[-*•·–+‣▪◦]\s|\(?\d{1,3}[.)]\s|[A-Za-z][.)]\s|#{1,6}\s|\||>|```|~~~|\[\^?\d{1,3}\]"
    r"|(?:\*\*|__)?[^\W\d_][\w'-]{0,30}(?: [\w'-]{1,30}){0,3}(?:\*\*|__)?:(?:\*\*|__)?\s)"
)
_LINE_OF_ITS_OWN: Final = re.compile(r"(?:#{1,6}\s|\||```|~~~|[-=*_]{3,}\s*$)")
#: A numbered item. Text wrapped before a number that ends its sentence looks the same; see `_line_ends`.
_NUMBERED: Final = re.compile(r"\(?(\d{1,3})[.)]\s")
_STOPS: Final = frozenset(".!?:;。")
_LAST_WORD: Final = re.compile(r"[^\s(\[\"'“‘]{1,12}$")

#: A longer sentence is cut at a blank: text without full stops must not become one huge claim.
LONGEST: Final = 2000

Span = tuple[int, int]


def split_sentences(text: str) -> list[Span]:
    """(start, end) of each sentence of `text`, in order, without white space at the ends; empty for blank text."""
    spans: list[Span] = []
    start = 0
    for match in _BOUNDARY.finditer(text):
        at, end = match.start(), match.end()
        char = text[at]
        ends = _line_ends(text, start, at, end) if char == "\n" else _sentence_ends(text, start, at, end)
        if ends:
            _add(text, start, end, spans)
            start = end
    _add(text, start, len(text), spans)
    return spans


def _add(text: str, start: int, end: int, spans: list[Span]) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST:
        cut = text.rfind(" ", start + LONGEST // 2, start + LONGEST)
        cut = cut if cut > 0 else start + LONGEST
        spans.append((start, cut))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        spans.append((start, end))


def _line_ends(text: str, start: int, at: int, end: int) -> bool:
    """Whether the line break at `at` parts two sentences."""
    if text.count("\n", at, end) > 1 or end >= len(text):
        return True
    while at > start and text[at - 1] in " \t\r":
        at -= 1
    line = text.rfind("\n", start, at) + 1 or start
    while line < at and text[line] in " \t\r\n":
        line += 1
    structure = _STRUCTURE.match(text, end)
    if structure:
        number = _NUMBERED.match(text, end)
        return number is None or number[1] == "1" or bool(_NUMBERED.match(text, line)) or text[at - 1] in _STOPS
    return bool(_LINE_OF_ITS_OWN.match(text, line, at)) or text[at - 1 : at] == ":"


def _sentence_ends(text: str, start: int, at: int, end: int) -> bool:
    """Whether the terminator at `at` ends the sentence that began at `start`."""
    if text[at] in "。！？｡":
        return True
    follow = end
    size = len(text)
    while follow < size and text[follow].isspace():
        follow += 1
    if follow >= size:
        return True
    if text[follow].islower():
        return False
    if text[at] != "." or end - at > 1:
        return True
    word = _LAST_WORD.search(text, max(start, at - 14), at)
    if word is None:
        return True
    last = word[0]
    if len(last) == 1 and last.isalpha() and last.isupper():
        return False
    if last.isdecimal() and len(last) <= 3 and not text[start : word.start()].strip():
        return False
    return last.lower() not in ABBREVIATIONS
