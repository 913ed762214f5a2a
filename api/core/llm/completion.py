"""Pure. A chat completion as it came over the wire, and the JSON object in the text of it."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import orjson

Json = dict[str, Any]

MOST_TOKENS = 100_000_000
"""A count above this is no count."""
MOST_STARTS = 64
"""At so many braces an object is looked for. Text that only opens braces must not take long."""
_FENCE = re.compile(r"```[a-zA-Z]*\s*\n?(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model said, "" when there is nothing, and how many tokens it took; 0 where it does not say."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0


def read_completion(body: bytes) -> Completion:
    """The completion in the body of a 200. What is none has no text."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return Completion("")
    if not isinstance(found, dict):
        return Completion("")
    usage = found.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return Completion(_text(found), _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens")))


def _text(found: Json) -> str:
    choices = found.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else 0


def find_object(text: str, required: Sequence[str], nonce: str) -> Json | None:
    """The JSON object in a reply that has all `required` members: the whole text, or in a fence, or amid prose, with
    commas too many taken out if need be.

    Of several the one that echoes `nonce` counts, since a model that thinks aloud may quote what it was shown. None
    when there is none, or no saying which.
    """
    for source in (text, _without_spare_commas(text)):
        found = [one for one in _objects(source) if all(name in one for name in required)]
        if len(found) > 1:
            found = [one for one in found if one.get("nonce") == nonce]
        if found:
            return found[-1] if all(one == found[-1] for one in found) else None
    return None


def _objects(text: str) -> Iterator[Json]:
    """The objects in a text, outermost ones, first those of fences."""
    whole = _decoded(text.strip(), 0)
    if whole is not None and whole[1] == len(text.strip()):
        yield whole[0]
        return
    fenced = [_decoded(fence[1].strip(), 0) for fence in _FENCE.finditer(text)]
    if any(fenced):
        yield from (one[0] for one in fenced if one)
        return
    at = text.find("{")
    for _ in range(MOST_STARTS):
        if at < 0:
            return
        one = _decoded(text, at)
        if one is not None:
            yield one[0]
        at = text.find("{", at + 1 if one is None else one[1])


def _decoded(text: str, at: int) -> tuple[Json, int] | None:
    try:
        value, end = _decoder.raw_decode(text, at)
        # A lone surrogate could not be sent on.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError, IndexError):
        return None
    return (value, end) if isinstance(value, dict) else None


def _once(pairs: list[tuple[str, Any]]) -> Json:
    """An object. A member that stands twice would let the reader choose. Raises ValueError."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a member stands twice")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


# Not strict: models write line breaks into strings.
_decoder = json.JSONDecoder(strict=False, object_pairs_hook=_once, parse_constant=_no_number)

_STRING_OR_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)


def _without_spare_commas(text: str) -> str:
    """The text without commas before a closing bracket, those in strings left alone."""
    return _STRING_OR_COMMA.sub(lambda found: "" if found[0] == "," else found[0], text)
