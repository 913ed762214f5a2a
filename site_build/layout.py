"""Pure. JSON values as text that people like to read: what fits on a line stays on it."""

import json
from collections.abc import Callable
from typing import Any

WIDTH = 72
"""Characters of a line, the fit of the code column."""

_PYTHON_WORDS = {True: "True", False: "False", None: "None"}


def as_json(value: Any, width: int = WIDTH) -> str:
    """JSON with two spaces a level."""
    return _layout(value, "", width, 2, _json_scalar, ",")


def as_python(value: Any, indent: str, width: int = WIDTH) -> str:
    """The same value as a Python literal whose later lines begin with `indent`."""
    return _layout(value, indent, width, 4, _python_scalar, ",", trailing=True)


def as_javascript(value: Any, indent: str, width: int = WIDTH) -> str:
    """The same value as a JavaScript literal. Keys are bare; the contract's names are all identifiers."""
    return _layout(value, indent, width, 2, _json_scalar, ",", trailing=True, key=str)


def _json_scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _python_scalar(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return _PYTHON_WORDS[value]
    return _json_scalar(value)


def _layout(
    value: Any,
    indent: str,
    width: int,
    step: int,
    scalar: Callable[[Any], str],
    comma: str,
    trailing: bool = False,
    key: Callable[[Any], str] = _json_scalar,
    used: int = 0,
) -> str:
    """`used` counts what already stands on the first line beside `indent`."""
    if not isinstance(value, dict | list) or not value:
        return scalar(value)
    flat = _flat(value, scalar, key)
    if len(indent) + used + len(flat) <= width and not _nested(value):
        return flat
    inner = indent + " " * step
    named = [(f"{key(k)}: ", v) for k, v in value.items()] if isinstance(value, dict) else [("", v) for v in value]
    lines = [
        inner + name + _layout(v, inner, width, step, scalar, comma, trailing, key, len(name) + 1) for name, v in named
    ]
    left, right = "{}" if isinstance(value, dict) else "[]"
    return left + "\n" + f"{comma}\n".join(lines) + (comma if trailing else "") + "\n" + indent + right


def _flat(value: Any, scalar: Callable[[Any], str], key: Callable[[Any], str]) -> str:
    if isinstance(value, dict) and value:
        return "{" + ", ".join(f"{key(k)}: {_flat(v, scalar, key)}" for k, v in value.items()) + "}"
    if isinstance(value, list) and value:
        return "[" + ", ".join(_flat(v, scalar, key) for v in value) + "]"
    return scalar(value)


def _nested(value: Any) -> bool:
    """Whether a body reads better broken: it holds a container that is not a short list of scalars."""
    if isinstance(value, dict):
        return any(isinstance(v, dict | list) and v for v in value.values())
    return any(isinstance(v, dict | list) for v in value)
