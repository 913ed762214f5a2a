"""Pure. The one byte form of a JSON value (RFC 8785, JCS), and its SHA-256.

orjson writes the form of ordinary values, five times as fast: it differs from RFC 8785 in the spelling of numbers
that are very large or small, in 1.0 for 1, and in the order of keys that are not ASCII. Those go to rfc8785, which is
the measure of both.
"""

import hashlib
from typing import Any

import orjson
import rfc8785

_EXACT = 2**53
"""From here on RFC 8785 has no integers of its own: a JSON number is an IEEE double."""
_PLAIN_FLOATS = (1e-4, 1e15)
"""Between these every writer of shortest decimals writes the same, without an exponent."""


class _Unusual(Exception):
    """The value holds something that orjson spells in another way."""


def canonical(value: Any) -> bytes:
    """The canonical form of a value that strict_json.parse gave, or of one made of the same types.

    An integer beyond 2**53 - 1 is written as the double that is nearest to it, which is what ECMAScript reads and
    RFC 8785 is defined on: 9223372036854775807 becomes 9223372036854776000. 1.0 and 1 are the same number: 1.
    """
    try:
        return orjson.dumps(_ordinary(value), option=orjson.OPT_SORT_KEYS)
    except _Unusual:
        return rfc8785.dumps(_with_doubles(value))


def digest(value: Any) -> str:
    """`sha-256:` and 64 hex digits, of the canonical form."""
    return _named(canonical(value))


def text_digest(text: str) -> str:
    """`sha-256:` and 64 hex digits, of the text itself in UTF-8."""
    return _named(text.encode())


def _named(data: bytes) -> str:
    return "sha-256:" + hashlib.sha256(data).hexdigest()


def _ordinary(value: Any) -> Any:
    """The same value with its whole floats as integers. Raises _Unusual."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is dict:
        if not all(map(str.isascii, value)):
            raise _Unusual
        return {key: _ordinary(member) for key, member in value.items()}
    if kind is list:
        return [_ordinary(item) for item in value]
    if kind is int and -_EXACT < value < _EXACT:
        return value
    if kind is float and value.is_integer() and -_EXACT < value < _EXACT:
        return int(value)
    if kind is float and _PLAIN_FLOATS[0] <= abs(value) < _PLAIN_FLOATS[1]:
        return value
    raise _Unusual


def _with_doubles(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_doubles(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_with_doubles(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _EXACT:
        return float(value)
    return value
