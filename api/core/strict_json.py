"""Pure. Reads JSON that every reader understands alike (RFC 7493, I-JSON), with bounds.

orjson already refuses NaN, infinities, lone surrogates, invalid UTF-8, a byte order mark and trailing bytes. It
keeps the last of duplicate keys and turns integers beyond 64 bits into floats, both in silence; those, NUL and deep
nesting are refused here.
"""

import json
import re
from typing import Any

import orjson

MAX_DEPTH = 64
_LONG_INTEGER = re.compile(rb"(?<![\d.eE+-])-?\d{19,}+(?![.eE])")
_INTEGERS = range(-(2**63), 2**64)


class MalformedJson(ValueError):
    """The text is not strict JSON. The message says what was found, for the caller to read."""


def parse(body: bytes) -> Any:
    """The value in `body`. Raises MalformedJson. Linear in the size of `body`."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        # An integer of many hundred digits is infinity to orjson; what is wrong with it is that it is too long.
        _check_integers(_without_strings(body))
        raise MalformedJson(f"The body is not JSON: {error}.") from None
    bare = _without_strings(body)
    # First of all the checks: the others walk the value, which is safe only when it is not deep.
    _check_depth(bare)
    _check_integers(bare)
    if b"\\u0000" in body and _holds_nul(value):
        raise MalformedJson("The body holds a NUL character (\\u0000).")
    if bare.count(b":") != _count_keys(value):
        raise MalformedJson(f"The key {json.dumps(_duplicate_key(body))} stands twice in one object.")
    return value


def _without_strings(body: bytes) -> bytes:
    """The brackets, commas, colons, numbers and literals of valid JSON. Escapes only stand inside strings, so with the
    escaped backslashes and then the escaped quotes taken out, every second part between quotes is outside."""
    if b"\\" in body:
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(body.split(b'"')[::2])


def _check_depth(bare: bytes) -> None:
    if bare.count(b"{") + bare.count(b"[") <= MAX_DEPTH:
        return
    depth = deepest = 0
    for byte in bare.translate(None, delete=_NOT_BRACKETS):
        depth += 1 if byte in b"{[" else -1
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise MalformedJson(f"The body is nested {deepest} levels deep; {MAX_DEPTH} is the limit.")


_NOT_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))


def _check_integers(bare: bytes) -> None:
    for match in _LONG_INTEGER.finditer(bare):
        # More digits than any 64-bit integer has need no conversion, which is quadratic in the number of digits.
        if len(match[0]) > 20 or int(match[0]) not in _INTEGERS:
            raise MalformedJson("The body holds an integer that does not fit into 64 bits.")


def _count_keys(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_count_keys, value.values()))
    if isinstance(value, list):
        return sum(map(_count_keys, value))
    return 0


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(_holds_nul(key) or _holds_nul(member) for key, member in value.items())
    return isinstance(value, list) and any(map(_holds_nul, value))


def _duplicate_key(body: bytes) -> str:
    """The first key that stands twice in one object; only called when there is one."""
    found: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                found.append(key)
            seen.add(key)

    json.loads(body, object_pairs_hook=note)
    return found[0]
