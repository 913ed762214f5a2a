"""Pure: an agent's output cut into claims, each with its place in the output.

A claim is a sentence, a list item, a table row, or one member of a JSON object. Headings, preambles, questions,
lead-ins that end with a colon, code and table rules state nothing and are left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from api.core.judge.lexicon import PREAMBLES, TOOL_KEYS
from api.core.judge.normalise import fold
from api.core.judge.sentences import Span, split_sentences
from api.core.judge.structured import find_json, members

_MARKER: Final = re.compile(r"(?:[-*•·–+‣▪◦>]\s+|\(?\d{1,3}[.)]\s+|\[[ xX]\]\s+)")
_HEADING: Final = re.compile(r"#{1,6}\s+|\*\*[^*\n]{1,80}\*\*:?$")
_CITATION: Final = re.compile(r"\[\^?\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,8}\]|【[^】\n]{0,40}】")
_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*$", re.MULTILINE)
_TABLE_RULE: Final = re.compile(r"[|\s:+-]+$")
_LONGEST_PREAMBLE: Final = 160
#: Signs of a tool call in JSON: its tool's name and ids are no statements.
_TOOL_CALL: Final = ('"arguments"', '"parameters"', '"tool_calls"', '"tool_input"')
#: "Launch site: Cape Canaveral" and "Launch site | Cape Canaveral |": a label of up to four words and its value.
_LABEL: Final = re.compile(
    r"\*{0,2}([^\W\d_][\w'-]{0,30}(?: [\w'()/-]{1,30}){0,3})\*{0,2}(?:\s?:\*{0,2}\s+|\s*\|\s*)(?=[^\s|])"
)


@dataclass(frozen=True, slots=True)
class Claim:
    """`start`, `end`: code points in the output. `text` is what is compared: the slice without citation marks, or
    the value of a JSON member. `key`: the words of the member's key or of the label, which the evidence need not
    have. `member`: it is a JSON member, whose key was chosen by a schema."""

    start: int
    end: int
    text: str
    key: str = ""
    member: bool = False


def split_claims(output: str) -> list[Claim]:
    """The claims of `output`, in order."""
    claims: list[Claim] = []
    for start, end, code in _blocks(output):
        found = find_json(output[start:end])
        if found is not None:
            offset, value_text = found
            offset += start
            skipped = TOOL_KEYS if any(sign in value_text for sign in _TOOL_CALL) else ()
            claims.extend(
                Claim(offset + a, offset + b, text, key, member=True)
                for a, b, text, key in members(value_text)
                if key.replace(" ", "_").lower() not in skipped
            )
        elif not code:
            _prose(output, start, end, claims)
    return claims or _headings(output)


def _headings(output: str) -> list[Claim]:
    """The headings of an output that has nothing else: then they are what it says."""
    found: list[Claim] = []
    for start, end in split_sentences(output):
        match = _HEADING.match(output, start, end)
        if match and match.end() < end:
            found.append(Claim(match.end(), end, clean(output[match.end() : end])))
    return found


def _blocks(output: str) -> list[tuple[int, int, bool]]:
    """(start, end, is code) of the parts between fences."""
    fences = list(_FENCE.finditer(output)) if "```" in output or "~~~" in output else []
    if not fences:
        return [(0, len(output), False)]
    blocks: list[tuple[int, int, bool]] = []
    start, code = 0, False
    for fence in fences:
        blocks.append((start, fence.start(), code))
        start, code = fence.end(), not code
    blocks.append((start, len(output), code))
    return blocks


def _prose(output: str, first: int, last: int, claims: list[Claim]) -> None:
    part = output if first == 0 and last == len(output) else output[first:last]
    spans = split_sentences(part)
    for index, (start, end) in enumerate(spans):
        start = _skip_markers(part, start, end)
        text = part[start:end]
        if not text or _states_nothing(text) or _is_table_header(part, spans, index):
            continue
        label = _LABEL.match(text)
        if label and text.count("|") <= 2:
            claims.append(Claim(first + start, first + end, clean(text[label.end() :]), label[1]))
        else:
            claims.append(Claim(first + start, first + end, clean(text)))


def clean(text: str) -> str:
    """`text` without citation marks."""
    return _CITATION.sub(" ", text) if "[" in text or "【" in text else text


def _skip_markers(text: str, start: int, end: int) -> int:
    """The offset behind bullets, numbers and table bars that open a line."""
    for _ in range(4):
        match = _MARKER.match(text, start, end)
        if match is None:
            break
        start = match.end()
    while start < end and text[start] in "| \t":
        start += 1
    return start


def _states_nothing(text: str) -> bool:
    tail = text[-1]
    if tail in "?？؟" or _HEADING.match(text) or _TABLE_RULE.match(text):
        return True
    if tail == ":" and not any(char.isdecimal() for char in text):
        return True
    head = fold(text[:40]).lstrip("*_ \"'")
    return head.startswith(PREAMBLES) and len(text) <= _LONGEST_PREAMBLE and _is_talk(head, text)


def _is_talk(head: str, text: str) -> bool:
    """Whether a line with a preamble's opening only talks: it does when it has no number and no statement after it."""
    if head.startswith(("sure", "certainly", "of course", "absolutely", "okay", "alright", "thank")):
        return len(text) <= 24 or text.endswith((":", "!"))
    if head.startswith(("summary:", "note:", "answer:", "final answer:", "in summary:", "here is", "here are", "here's",
                        "below", "based on", "according")):  # fmt: skip
        return text.endswith(":")
    return True


def _is_table_header(text: str, spans: list[Span], index: int) -> bool:
    """Whether this row stands right above a table rule."""
    if text[spans[index][0]] != "|" or index + 1 >= len(spans):
        return False
    start, end = spans[index + 1]
    return "-" in text[start:end] and bool(_TABLE_RULE.match(text, start, end))
