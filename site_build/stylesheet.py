"""Pure. The stylesheet as it is served: without the white space and the comments that only its writers need."""

import re

_PART = re.compile(r'("[^"]*")|/\*.*?\*/|\s+', re.DOTALL)
_LOOSE = re.compile(r'("[^"]*")| ?([{};,>]|!important) ?|(:) ')


def squeeze(css: bytes) -> bytes:
    """The same rules in fewer bytes. Strings stay as they are, and so does a space that a selector or calc() needs."""
    joined = _PART.sub(lambda match: match[1] or " ", css.decode())
    tight = _LOOSE.sub(lambda match: match[1] or match[2] or match[3], joined)
    return tight.replace(";}", "}").strip().encode()
