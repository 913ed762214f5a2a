"""Pure. Text that somebody else wrote, made ready to be shown to a model: nothing in it can hide or end its element."""

import re
from typing import Any

_RANGES = (
    (0x00, 0x08),  # controls but tab, line feed and carriage return
    (0x0B, 0x0C),
    (0x0E, 0x1F),
    (0x7F, 0x9F),
    (0xAD, 0xAD),  # soft hyphen
    (0x34F, 0x34F),
    (0x61C, 0x61C),  # bidi mark
    (0x180E, 0x180E),
    (0x200B, 0x200F),  # zero width, bidi marks
    (0x202A, 0x202E),  # bidi embeddings and overrides
    (0x2060, 0x206F),  # word joiner, invisible operators, bidi isolates
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0xE0000, 0xE0FFF),  # tag characters and the variation selectors that can carry bytes
)
_INVISIBLE = {code: None for first, last in _RANGES for code in range(first, last + 1)}
_TAG = re.compile(r"<\s{0,8}/?\s{0,8}untrusted\b[^<>]{0,80}>?", re.IGNORECASE)
REMOVED = "[removed]"
"""Stands in the place of a tag, so that what is left and right of it can't grow together to another one."""

#: Tag characters mirror ASCII: they show nothing, and models read them.
_MIRRORED = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}


def clean(value: Any) -> Any:
    """A JSON value whose strings show all that they hold: without zero-width, bidi, tag and control characters and
    without the tag of the element that they are put into."""
    if isinstance(value, str):
        shown = value if value.isascii() and value.isprintable() else value.translate(_INVISIBLE)
        return _TAG.sub(REMOVED, shown)
    if isinstance(value, dict):
        return {name: clean(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [clean(one) for one in value]
    return value


def revealed(text: str) -> str:
    """The text with what its tag characters spell written out, and nothing invisible."""
    return text if text.isascii() else text.translate(_MIRRORED).translate(_INVISIBLE)
