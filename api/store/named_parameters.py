"""Pure: `:name` parameters of portable SQL as PostgreSQL's numbered ones."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

_NAME = re.compile(r":([a-z][a-z0-9_]*)")
# Every parameter gets its type from its value: PostgreSQL would guess it from where it stands, and `:now - :window`
# gives it nothing to guess from. A flag is a BIGINT in both databases.
_CASTS: Mapping[type, str] = {
    str: "::text",
    int: "::bigint",
    bool: "::bigint",
    float: "::double precision",
    bytes: "::bytea",
}
_NULL = type(None)


def numbered(sql: str, args: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The SQL with `$1`, `$2`, ... and the values in their order. None becomes NULL in the text.

    Every colon must begin a parameter: no `::` casts, no colons in literals. Raises KeyError for a name without a
    value, and TypeError for a value that is not str, int, bool, float, bytes or None.
    """
    text, names = _numbered(sql, tuple((name, type(value)) for name, value in args.items()))
    return text, [args[name] for name in names]


@lru_cache(maxsize=1_024)
def _numbered(sql: str, kinds: tuple[tuple[str, type], ...]) -> tuple[str, tuple[str, ...]]:
    kind_of, names = dict(kinds), list[str]()

    def place(match: re.Match[str]) -> str:
        name = match[1]
        kind = kind_of[name]
        if kind is _NULL:
            return "NULL"
        if kind not in _CASTS:
            raise TypeError(f"parameter {name} is a {kind.__name__}")
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}{_CASTS[kind]}"

    return _NAME.sub(place, sql), tuple(names)
