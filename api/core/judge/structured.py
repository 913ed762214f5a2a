"""Pure: JSON inside an agent's output, read into one statement per member, with offsets."""

from __future__ import annotations

import json
import re
from typing import Final

#: Deeper JSON than this is not read as JSON (the parser recurses).
_DEEPEST: Final = 60
_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def find_json(text: str) -> tuple[int, str] | None:
    """(offset, text) of the JSON object or array that `text` consists of, or None."""
    body = text.strip()
    if len(body) < 2 or body[0] + body[-1] not in ("{}", "[]") or _depth(body) > _DEEPEST:
        return None
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return None
    return text.index(body[0]), body


def is_json(text: str) -> bool:
    """Whether `text`, or the one fenced block in it, is strict JSON of any type."""
    body = text.strip()
    if body.startswith("```") and body.endswith("```") and body.count("```") == 2:
        body = body.partition("\n")[2][:-3].strip()
    if _depth(body) > _DEEPEST:
        return False
    try:
        json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _depth(text: str) -> int:
    """An upper bound of the nesting depth; brackets inside strings count too."""
    depth = deepest = 0
    for char in text:
        if char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    return deepest


def members(text: str) -> list[tuple[int, int, str, str]]:
    """(start, end, statement, key) for each scalar in valid JSON `text`: "crew_size": 4 gives "4" and "crew size"."""
    found: list[tuple[int, int, str, str]] = []
    key: tuple[int, str] | None = None
    pending: tuple[int, int, str] | None = None
    for match in _TOKEN.finditer(text):
        piece = match[0]
        if piece == ":":
            if pending is not None:
                key = (pending[0], pending[2])
                pending = None
        elif piece in "{}[],":
            if pending is not None:
                found.append(_member(text, key, pending))
                pending = None
            if piece != "[":
                key = None
        else:
            pending = (match.start(), match.end(), _scalar(piece))
    if pending is not None:
        found.append(_member(text, key, pending))
    return [member for member in found if member[2].strip() or member[3].strip()]


def _scalar(token: str) -> str:
    if token[0] != '"':
        return "" if token in ("null", "true") else token
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return token[1:-1]


def _member(text: str, key: tuple[int, str] | None, value: tuple[int, int, str]) -> tuple[int, int, str, str]:
    start, end, shown = value
    if key is None:
        return start, end, shown, ""
    words = _CAMEL.sub(" ", key[1]).replace("_", " ")
    return key[0], end, shown, words
